"""``schedctl snapshot``: what is written, where, and that it answers as the state it was made of."""

from __future__ import annotations

import gzip
import io
import json
import stat
from pathlib import Path

import jsonschema
import pytest

from schedctl.session.schemas import SCHEMAS
from schedctl.session.states import StateSource

SHOP = "fixtures/clusters/shop"
SNAPSHOTS = Path("fixtures/snapshots")
STRICT = Path("tests/cli/snapshots/strict.json.gz")


def written(path) -> dict:
    """A snapshot as JSON."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize("name", ["s.json", "s.json.gz"])
def test_a_snapshot_of_files_is_the_owners_alone(schedctl, tmp_path, name):
    path = tmp_path / name
    ended = schedctl("snapshot", "create", str(path), "--from", SHOP)
    assert ended.code == 0, ended.err
    assert ended.out == ""
    assert f"wrote {path}: 216 objects" in ended.err
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert written(path)["metadata"]["counts"]["Pod"] == 117


def test_from_is_f_by_another_name(schedctl, tmp_path):
    for flag in ("-f", "--from"):
        schedctl("snapshot", "create", str(tmp_path / f"{flag}.json"), flag, SHOP)
    one, other = sorted(tmp_path.iterdir())
    assert one.read_bytes() == other.read_bytes()


def test_explanations_of_a_snapshot_are_those_of_the_files(schedctl, tmp_path):
    path = str(tmp_path / "s.json.gz")
    schedctl("snapshot", "create", path, "--from", SHOP)
    question = ("explain", "--all-pending", "--exit-code", "-o", "wide", "-f")
    assert schedctl(*question, path) == schedctl(*question, SHOP)


def test_a_snapshot_of_a_snapshot_is_the_same(schedctl, tmp_path):
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    schedctl("snapshot", "create", str(first), "--from", str(SNAPSHOTS / "monday.json.gz"))
    schedctl("snapshot", "create", str(second), "--from", str(first))
    assert first.read_text().partition('"objects"')[2] == second.read_text().partition('"objects"')[2]
    assert written(second)["metadata"]["taken"] == "2026-11-19T08:00:00Z"


def test_standard_output_takes_a_snapshot(schedctl):
    ended = schedctl("snapshot", "create", "-", "--from", SHOP, "-q")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["kind"] == "Snapshot"
    assert ended.err == ""


def test_what_is_there_is_replaced_by_force_only(schedctl, tmp_path):
    path = tmp_path / "s.json"
    path.write_text("mine")
    assert schedctl("snapshot", "create", str(path), "--from", SHOP).code == 2
    assert path.read_text() == "mine"
    assert schedctl("snapshot", "create", str(path), "--from", SHOP, "--force").code == 0
    assert written(path)["kind"] == "Snapshot"


def test_the_configuration_goes_with_it(schedctl, tmp_path):
    path = tmp_path / "s.json"
    schedctl("snapshot", "create", str(path), "--from", SHOP, "--scheduler-config", "profiles/bin-packing.yaml")
    assert written(path)["metadata"]["schedulerConfiguration"] == Path("profiles/bin-packing.yaml").read_text()
    strict = tmp_path / "strict.json"
    ended = schedctl("snapshot", "redact", str(path), str(strict))
    assert "the scheduler configuration is left out" in ended.err
    assert written(strict)["metadata"]["schedulerConfiguration"] == ""


def test_a_key_makes_the_same_tokens_again(schedctl, tmp_path):
    key = tmp_path / "key"
    for name in ("1.json", "2.json"):
        ended = schedctl(
            "snapshot", "create", str(tmp_path / name), "--from", SHOP, "--redact", "strict", "--key-file", str(key)
        )
        assert ended.code == 0, ended.err
    assert "made the key" not in ended.err
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    assert key.read_text().strip() not in (tmp_path / "1.json").read_text()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_redacting_goes_one_way(schedctl, tmp_path):
    strict, out = str(STRICT), str(tmp_path / "out.json")
    assert "is already strictly redacted" in schedctl("snapshot", "redact", strict, out).err
    plain = str(SNAPSHOTS / "monday.json.gz")
    assert "redacts nothing more" in schedctl("snapshot", "redact", plain, out, "--redact", "default").err
    assert "cannot be the source of another" in schedctl("snapshot", "create", out, "--from", strict).err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("create", "x.json", "--from", SHOP, "--redact", "some"), 'unknown redaction level "some"'),
        (("create", "x.json", "--from", SHOP, "--key-file", "k"), "--key-file needs --redact strict"),
        (("create", "x.json", "--from", SHOP, "--context", "c"), "--from reads files"),
        (("create", "x.json", "--redact", "none"), "asks before it writes environment variables"),
        (("create", "none/x.json", "--from", SHOP), "no folder none"),
        (("redact", str(SNAPSHOTS / "monday.json.gz"), "fixtures"), "fixtures is a folder"),
    ],
)
def test_contradicting_options_are_refused_before_any_work(schedctl, arguments, says):
    ended = schedctl("snapshot", *arguments, stdin="")
    assert ended.code == 2
    assert says in ended.err
    assert not Path("x.json").exists()


def test_an_input_that_is_no_snapshot_ends_with_3(schedctl):
    ended = schedctl("snapshot", "inspect", f"{SHOP}/nodes.yaml")
    assert (ended.code, ended.out) == (3, "")
    assert "is not a snapshot" in ended.err


def test_inspect_shows_people_the_age_of_a_snapshot_and_scripts_the_same_bytes_at_any_hour(schedctl, monkeypatch):
    taken = 1_795_075_200 * 10**9

    def inspect(hours, *arguments):
        monkeypatch.setattr("time.time_ns", lambda: taken + hours * 3600 * 10**9)
        return schedctl("snapshot", "inspect", str(SNAPSHOTS / "monday.json.gz"), *arguments).out

    assert "2026-11-19T08:00:00Z, 5 h ago" in inspect(5)
    assert "2026-11-19T08:00:00Z, 2 d ago" in inspect(48)
    assert json.loads(inspect(5, "-o", "json"))["snapshot"]["taken"] == "2026-11-19T08:00:00Z"
    assert inspect(5, "-o", "json") == inspect(48, "-o", "json")


def test_a_cluster_out_of_a_snapshot_lives_at_its_time(schedctl):
    state = StateSource((str(SNAPSHOTS / "monday.json.gz"),)).load()
    assert state.assembled.cluster.now() == 1_795_075_200 * 10**9


def test_what_could_not_be_listed_is_missing_in_the_cluster(schedctl):
    state = StateSource((str(SNAPSHOTS / "tuesday.json.gz"),)).load()
    assert [kind.__name__ for kind in state.assembled.cluster.missing] == ["Service"]


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("SnapshotReport", ("inspect", str(SNAPSHOTS / "tuesday.json.gz"))),
        ("SnapshotReport", ("inspect", str(STRICT))),
        ("SnapshotDiff", ("diff", str(SNAPSHOTS / "monday.json.gz"), str(SNAPSHOTS / "tuesday.json.gz"))),
    ],
)
def test_reports_keep_to_their_schema(schedctl, kind, arguments):
    ended = schedctl("snapshot", *arguments, "-o", "json")
    jsonschema.Draft202012Validator(SCHEMAS[kind]()).validate(json.loads(ended.out))


def test_snapshots_keep_to_their_schema(schedctl):
    schema = SCHEMAS["Snapshot"]()
    for path in (SNAPSHOTS / "monday.json.gz", STRICT):
        jsonschema.Draft202012Validator(schema).validate(written(path))


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_whoever_declines_writes_nothing(schedctl, tmp_path, monkeypatch, answer):
    stdin = io.StringIO(answer)
    stdin.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", stdin)
    ended = schedctl("snapshot", "create", str(tmp_path / "s.json"), "--redact", "none")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith("write it? [y/N] nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_others_can_read_is_warned_of(schedctl, tmp_path):
    key = tmp_path / "key"
    key.write_text("0" * 64)
    key.chmod(0o644)
    ended = schedctl(
        "snapshot", "create", str(tmp_path / "s.json"), "--from", SHOP, "--redact", "strict", "--key-file", str(key)
    )
    assert ended.code == 0
    assert f"warning: other users can read the key {key}" in ended.err


def test_a_diff_notes_that_the_second_snapshot_is_older(schedctl):
    days = [str(SNAPSHOTS / f"{day}.json.gz") for day in ("monday", "tuesday")]
    assert "is older than the first" not in schedctl("snapshot", "diff", *days).out
    assert "is older than the first" in schedctl("snapshot", "diff", *reversed(days)).out
