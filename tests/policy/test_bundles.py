"""Policies in archives and under digests: what is read of them, and what is refused."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from schedctl.errors import ConfigError
from schedctl.policy import bundles, reading

POLICY = """\
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicy
metadata: {name: mine}
spec: {checks: [{name: fits, builtin: schedulable}]}
"""
FOLDERS = {"./": None, "./zone/": None, "./zone/policy.yaml": POLICY.replace("mine", "zone"), "./README.md": "words"}


def entry(name: str, text: str | None = "", **more: object) -> tuple[tarfile.TarInfo, bytes]:
    """A file of an archive, or a folder if it has no text."""
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE if text is None else tarfile.REGTYPE
    for field, value in more.items():
        setattr(info, field, value)
    data = (text or "").encode()
    info.size = len(data)
    return info, data


def pack(path: Path, *entries: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> str:
    """Write an archive and return its digest."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for info, data in entries:
            archive.addfile(info, io.BytesIO(data))
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems(*names: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        reading.load(names)
    return [each.message for each in caught.value.problems]


@pytest.mark.parametrize(("name", "mode"), [("p.tar.gz", "w:gz"), ("p.tgz", "w:gz"), ("p.tar", "w")])
def test_an_archive_of_a_folder_is_read_as_the_folder_is(folder: Path, name: str, mode: str) -> None:
    digest = pack(folder / name, *(entry(path, text) for path, text in FOLDERS.items()), mode=mode)
    read = reading.load([f"{name}@{digest}"])
    assert [(policy.name, policy.source) for policy in read.policies] == [("zone", f"{name}/zone/policy.yaml")]
    assert read.digests == {name: digest}
    assert read.warnings == []


def test_an_archive_without_a_digest_is_read_and_the_digest_to_write_is_told(folder: Path) -> None:
    digest = pack(folder / "p.tar.gz", entry("policy.yaml", POLICY))
    read = reading.load(["p.tar.gz"])
    assert [(each.message, each.hint) for each in read.warnings] == [
        ("is not pinned by its digest", f"name it p.tar.gz@{digest}")
    ]


def test_another_digest_is_refused_and_both_are_told(folder: Path) -> None:
    digest, other = pack(folder / "p.tar.gz", entry("policy.yaml", POLICY)), f"sha256:{'0' * 64}"
    assert problems(f"p.tar.gz@{other}") == [f"has the digest {digest}, expected {other}"]


def test_a_single_file_can_be_pinned_as_well(folder: Path) -> None:
    (folder / "p.yaml").write_text(POLICY)
    digest = f"sha256:{hashlib.sha256(POLICY.encode()).hexdigest()}"
    assert [policy.name for policy in reading.load([f"p.yaml@{digest}"]).policies] == ["mine"]
    (folder / "p.yaml").write_text(POLICY.replace("schedulable", "no-regression"))
    assert problems(f"p.yaml@{digest}")[0].endswith(f"expected {digest}")


PINS = {
    "too short a digest": ("p.yaml@sha256:abc", '"sha256:abc" is not a digest of a file'),
    "standard input": (f"-@sha256:{'0' * 64}", f'"sha256:{"0" * 64}" is not a digest of a file'),
    "a folder": (f".@sha256:{'0' * 64}", "no such file to have a digest"),
    "a pattern": (f"*.yaml@sha256:{'0' * 64}", "no such file to have a digest"),
}


@pytest.mark.parametrize(("name", "message"), PINS.values(), ids=PINS)
def test_only_a_file_has_a_digest(folder: Path, name: str, message: str) -> None:
    (folder / "p.yaml").write_text(POLICY)
    assert message in problems(name)


HOSTILE: dict[str, tuple[Callable[[], tuple[tarfile.TarInfo, bytes]], str]] = {
    "a path that leads out": (lambda: entry("../policy.yaml", POLICY), "leads out of the archive"),
    "a path that leads out of a folder in it": (lambda: entry("a/../../p.yaml", POLICY), "leads out of the archive"),
    "an absolute path": (lambda: entry("/etc/policy.yaml", POLICY), "leads out of the archive"),
    "a path of another system": (lambda: entry("C:\\policy.yaml", POLICY), "leads out of the archive"),
    "a symbolic link": (lambda: entry("p.yaml", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "is a link"),
    "a hard link": (lambda: entry("p.yaml", type=tarfile.LNKTYPE, linkname="policy.yaml"), "is a link"),
    "a pipe": (lambda: entry("p.yaml", type=tarfile.FIFOTYPE), "is neither a file nor a folder"),
    "a device": (lambda: entry("p.yaml", type=tarfile.CHRTYPE), "is neither a file nor a folder"),
    "a file that is too large": (
        lambda: entry("p.yaml", "#" * (bundles.LARGEST_FILE + 1)),
        f"is larger than {bundles.LARGEST_FILE >> 20} MiB",
    ),
    "a name that is there twice": (lambda: entry("policy.yaml", POLICY), 'holds "policy.yaml" twice'),
}


@pytest.mark.parametrize(("hostile", "message"), HOSTILE.values(), ids=HOSTILE)
def test_an_archive_that_holds_what_a_folder_of_policies_does_not_is_refused_as_a_whole(
    folder: Path, hostile: Callable[[], tuple[tarfile.TarInfo, bytes]], message: str
) -> None:
    digest = pack(folder / "p.tar.gz", entry("policy.yaml", POLICY), hostile())
    (found,) = problems(f"p.tar.gz@{digest}")
    assert message in found


def test_too_many_files_are_refused(folder: Path) -> None:
    digest = pack(folder / "p.tar.gz", *(entry(f"{number}.md") for number in range(bundles.MOST_FILES + 1)))
    assert problems(f"p.tar.gz@{digest}") == ["holds more than 1,000 files and folders"]


def test_an_archive_that_unpacks_to_too_much_is_refused(folder: Path) -> None:
    size = bundles.LARGEST_FILE
    files = [entry(f"{number}.md", "#" * size) for number in range(bundles.MOST_UNPACKED // size + 1)]
    digest = pack(folder / "p.tar.gz", *files)
    assert problems(f"p.tar.gz@{digest}") == ["unpacks to more than 64 MiB"]


def test_a_damaged_archive_is_refused(folder: Path) -> None:
    pack(folder / "p.tar.gz", entry("policy.yaml", POLICY))
    (folder / "p.tar.gz").write_bytes((folder / "p.tar.gz").read_bytes()[:-20])
    assert problems("p.tar.gz")[0].startswith("is damaged: ")


def test_an_archive_in_a_folder_is_not_read_and_that_is_told(folder: Path) -> None:
    (folder / "policies").mkdir()
    (folder / "policies/policy.yaml").write_text(POLICY)
    digest = pack(folder / "policies/more.tar.gz", entry("policy.yaml", POLICY.replace("mine", "more")))
    alone = reading.load(["policies"])
    assert [policy.name for policy in alone.policies] == ["mine"]
    assert [str(each) for each in alone.warnings] == ["policies/more.tar.gz: is not read: an archive in a folder"]
    both = reading.load(["policies", f"policies/more.tar.gz@{digest}"])
    assert ([policy.name for policy in both.policies], both.warnings) == (["mine", "more"], [])
