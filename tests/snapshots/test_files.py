"""Files of mode 0600, written in one go, and never over another."""

from __future__ import annotations

import stat

import pytest

from schedctl.errors import UsageError
from schedctl.snapshots import files


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_its_owners_alone(tmp_path):
    path = tmp_path / "s.json"
    files.write(path, b"x", replace=False)
    assert path.read_bytes() == b"x"
    assert mode(path) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["s.json"]


def test_what_is_there_is_not_replaced_unasked(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("old")
    with pytest.raises(UsageError, match="exists already"):
        files.write(path, b"new", replace=False)
    assert path.read_text() == "old"


def test_what_is_replaced_is_its_owners_alone_from_then_on(tmp_path):
    path = tmp_path / "s.json"
    path.write_text("old")
    path.chmod(0o644)
    files.write(path, b"new", replace=True)
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    files.write(link, b"new", replace=True)
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_dangling_link_counts_as_existing(tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="exists already"):
        files.write(link, b"new", replace=False)


@pytest.mark.parametrize(("path", "message"), [("folder", "is a folder"), ("none/s.json", "no folder")])
def test_where_nothing_can_be_written_is_said_first(tmp_path, path, message):
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=message):
        files.check_writable(tmp_path / path, replace=True)


def test_what_cannot_be_finished_leaves_nothing_behind(tmp_path, monkeypatch):
    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        files.write(tmp_path / "s.json", b"x", replace=False)
    assert list(tmp_path.iterdir()) == []


def test_a_key_is_made_once(tmp_path):
    path = tmp_path / "key"
    first, made = files.load_key(path)
    again, anew = files.load_key(path)
    assert (made, anew) == (True, False)
    assert first == again
    assert mode(path) == 0o600


@pytest.mark.parametrize("text", ["short\n", "kind: Pod\n" * 10, "0" * 63, "0" * 65])
def test_what_is_not_what_a_key_looks_like_is_none(tmp_path, text):
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(UsageError, match="is not a key"):
        files.load_key(path)


def test_unreadable_key_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        files.load_key(tmp_path)


def test_key_readable_by_others_is_detected(tmp_path):
    path = tmp_path / "key"
    files.load_key(path)
    assert not files.is_readable_by_others(path)
    path.chmod(0o640)
    assert files.is_readable_by_others(path)
