"""Files below the roots may be named, and no others, however they are written."""

from __future__ import annotations

import pytest

from schedctl.errors import UsageError
from schedctl.mcp.clusters import CalledOff, Watch
from schedctl.mcp.roots import Roots
from schedctl.session.notifiers import Progress


@pytest.fixture
def roots(tmp_path):
    """Return roots: a folder with a file, a link to a file outside, and a folder within."""
    inside = tmp_path / "inside"
    (inside / "below").mkdir(parents=True)
    (inside / "web.yaml").write_text("kind: Pod")
    (tmp_path / "secret.yaml").write_text("kind: Secret")
    (inside / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    return Roots.of([str(inside)])


@pytest.mark.parametrize("name", ["web.yaml", "below", "./web.yaml", "below/../web.yaml"])
def test_what_is_below_a_root_is_found(roots, name):
    (found,) = roots.files([name])
    assert found.startswith(str(roots.folders[0]))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("../secret.yaml", id="a file above"),
        pytest.param("/etc/hostname", id="an absolute path"),
        pytest.param("link.yaml", id="a link that leads out"),
        pytest.param("nothing.yaml", id="what is not there"),
        pytest.param("web.yaml\0", id="a name that no file can have"),
        pytest.param("a" * 5000, id="a name that is too long"),
    ],
)
def test_what_is_not_below_a_root_is_refused(roots, name):
    with pytest.raises(UsageError, match="below the roots"):
        roots.files([name])


def test_without_a_root_no_file_may_be_named():
    with pytest.raises(UsageError, match="started without --root"):
        Roots().files(["web.yaml"])


def test_a_root_that_is_not_there_is_told_at_the_start():
    with pytest.raises(UsageError, match="no folder nowhere"):
        Roots.of(["nowhere"])


def test_the_work_ends_at_its_next_step_once_it_is_called_off():
    watch = Watch(60)
    step: Progress = watch.progress("placing")
    step.advance(1, 2)
    watch.call_off()
    with pytest.raises(CalledOff, match="called off"):
        step.advance(2, 2)


def test_the_work_ends_once_it_takes_too_long():
    with pytest.raises(CalledOff, match="no answer within 0 s"):
        Watch(0).progress("placing").advance(1, 2)
