"""Hostile input: refused with a place and a reason, in bounded time and memory, and never with a traceback."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc

import pytest

from schedctl.errors import InputError
from schedctl.sources import files, load, load_text
from tests.effort import SOON, Effort

POD = b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
JSON_POD = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"x":'
LAUGHS = b"a: &a [x,x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 10)) for i in range(12)
)
MERGES = b"m0: &m0 {a0: 1}\n" + b"".join(
    b"m%d: &m%d {<<: [*m%d, *m%d]}\n" % (i, i, i - 1, i - 1) for i in range(1, 300)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(POD + LAUGHS, "aliases expand to too many values", id="a billion laughs"),
        pytest.param(POD + MERGES, "aliases expand to too many values", id="a billion merges"),
        pytest.param(POD + b"x: &x [*x]\n", 'the anchor "x" contains itself', id="an anchor inside itself"),
        pytest.param(POD + b"x: *y\n", 'the anchor "y" is not defined before this alias', id="an alias of nothing"),
        pytest.param(POD + b"x: " + b"[" * 100_000, "nested more than 1000 levels deep", id="deep YAML lists"),
        pytest.param(POD + b"x: " + b"{a: " * 100_000, "nested more than 1000 levels deep", id="deep YAML mappings"),
        pytest.param(POD + b"x:\n  " + b"- " * 100_000 + b"a\n", "nested more than 1000 levels deep", id="deep blocks"),
        pytest.param(JSON_POD + b"[" * 100_000, "nested too deeply", id="deep JSON lists"),
        pytest.param(JSON_POD + b'{"a":' * 100_000, "nested too deeply", id="deep JSON objects"),
        pytest.param(JSON_POD + b"9" * 100_000 + b"}", "cannot be read: Integer value out of", id="an endless number"),
        pytest.param(POD + b"x: a\0b", "the control character U+0000 is not allowed", id="a NUL"),
        pytest.param(POD + b"x: '\x1b[2J'", "the control character U+001B is not allowed", id="an escape sequence"),
        pytest.param(POD + b"# \x7f\n", "the control character U+007F is not allowed", id="a delete in a comment"),
        pytest.param(POD + b"x: .inf\n", ".inf has no counterpart in JSON", id="an infinity"),
        pytest.param(POD + b"x: \xff\n", "this is not UTF-8 text", id="a stray byte in YAML"),
        pytest.param(JSON_POD + b'"\xff"}', "this is not UTF-8 text", id="a stray byte in JSON"),
        pytest.param(JSON_POD + b'"\\ud800"}', "this is not JSON: an escape is half", id="half a character"),
        pytest.param(POD + b"x: {{ .Values.x }}", "a key must be text, a number or a boolean", id="a template"),
    ],
)
def test_hostile_text_is_refused_in_place(text, message):
    with Effort() as effort, pytest.raises(InputError) as caught:
        load_text(text, "hostile")
    assert effort.turns < SOON
    assert caught.value.problems[0].message.startswith(message)
    assert all(problem.source == "hostile" and problem.line > 0 for problem in caught.value.problems)


def test_the_place_of_a_control_character_is_its_line_and_column():
    with pytest.raises(InputError) as caught:
        load_text(POD + "---\na: 1\nb: äö\0\n".encode(), "m")
    assert str(caught.value.problems[-1]) == "m:6:6: the control character U+0000 is not allowed"


def test_ten_thousand_bad_objects_are_all_reported_and_in_good_time():
    item = b"- {apiVersion: v1, kind: Service, metadata: {name: 5}}\n"
    with Effort() as effort, pytest.raises(InputError) as caught:
        load_text(b"apiVersion: v1\nkind: List\nitems:\n" + item * 10_000, "m")
    assert effort.turns < 2 * SOON
    assert [problem.line for problem in caught.value.problems] == list(range(4, 10_004))


def test_a_gzip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MIN_UNPACKED", 1 << 20)
    bomb = tmp_path / "bomb.yaml.gz"
    bomb.write_bytes(gzip.compress(b" " * (4 << 20)))
    with pytest.raises(InputError) as caught:
        load([str(bomb)])
    assert "unpacks to more than 1 MiB" in str(caught.value)


def test_a_gzip_bomb_is_given_up_long_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MIN_UNPACKED", 1 << 20)
    bomb = tmp_path / "bomb.yaml.gz"
    bomb.write_bytes(gzip.compress(b" " * (256 << 20), 9))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="unpacks to more than"):
            load([str(bomb)])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def test_an_archive_that_is_a_bomb_is_given_up_long_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MIN_UNPACKED", 1 << 20)
    bomb = tmp_path / "bomb.tar.gz"
    with tarfile.open(bomb, "w:gz") as archive:
        entry = tarfile.TarInfo("nodes.json")
        entry.size = 256 << 20
        archive.addfile(entry, io.BytesIO(b" " * entry.size))
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="unpacks to more than"):
            load([str(bomb)])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 << 20


def test_oversized_text_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    (tmp_path / "long.yaml").write_bytes(POD)
    with pytest.raises(InputError, match="is larger than"):
        load([str(tmp_path / "long.yaml")])


def test_text_from_a_file_never_reaches_a_message_unescaped(read):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "\x1b]0;pwned\x07", "labels": {"\x1b[31m": 1}}}
    import json

    for problem in read.problems(json.dumps(pod).encode()):
        assert str(problem).isprintable()
        assert problem.hint.isprintable()
