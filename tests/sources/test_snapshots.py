"""``-f`` on a snapshot: told by what it says it is, taken as it is, and refused where it is damaged."""

from __future__ import annotations

import pytest

from schedctl import sources
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.errors import InputError
from schedctl.reports.snapshots import Header
from schedctl.snapshots import documents
from schedctl.sources import Terms, snapshots

POD = Pod(metadata=ObjectMeta(name="web", namespace="shop", uid="1"))
NODES = [Node(metadata=ObjectMeta(name=name, uid=name)) for name in ("a", "b")]
SNAPSHOT = documents.encode(Header(source="context prod"), {"Pod": [POD], "Node": NODES})


def load(tmp_path, *texts: bytes, names=("one.txt", "two.txt")):
    """What is in files of these contents, whatever they are called."""
    paths = []
    for name, text in zip(names, texts, strict=False):
        (tmp_path / name).write_bytes(text)
        paths.append(str(tmp_path / name))
    return sources.load(paths)


@pytest.mark.parametrize("text", [SNAPSHOT, documents.pack(SNAPSHOT)], ids=["plain", "packed"])
def test_a_snapshot_is_read_whatever_its_file_is_called(tmp_path, text):
    found = load(tmp_path, text)
    assert [one.object for one in found.objects] == [POD, *NODES]
    assert [header.source for header in found.snapshots] == ["context prod"]
    assert found.warnings == []


def test_objects_have_the_line_they_stand_on(tmp_path):
    found = load(tmp_path, SNAPSHOT)
    lines = SNAPSHOT.decode().splitlines()
    for one in found.objects:
        assert f'"{one.object.metadata.name}"' in lines[one.line - 1]


def test_snapshot_changed_since_is_a_warning(tmp_path):
    found = load(tmp_path, SNAPSHOT.replace(b'["a","a"', b'["a","c"'))
    (warning,) = found.warnings
    assert "was changed after it was written" in warning.message
    assert {one.line for one in found.objects} == {1}


def test_files_are_laid_over_a_snapshot(tmp_path):
    patch = b"apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {new: 'yes'}}\n"
    found = load(tmp_path, SNAPSHOT, patch)
    nodes = {one.object.metadata.name: one.object for one in found.objects if one.kind.name == "Node"}
    assert nodes["a"].metadata.labels == {"new": "yes"}
    assert list(nodes) == ["a", "b"], "a patch changes no order"
    assert "replaces the one at" in found.warnings[0].message


def test_two_snapshots_are_read_together(tmp_path):
    other = documents.encode(Header(source="context prod"), {"Node": [Node(metadata=ObjectMeta(name="c"))]})
    found = load(tmp_path, SNAPSHOT, other)
    assert [header.source for header in found.snapshots] == ["context prod", "context prod"]
    assert len(found.objects) == 4


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        pytest.param(
            SNAPSHOT.replace(b'["a",', b"[[],"),
            "objects.Node.nodes[0][0]",
            "expected `str`, got `array`",
            id="a wrong type",
        ),
        pytest.param(
            SNAPSHOT.replace(b'["a",', b'["a/b",'),
            "objects.Node[0].metadata.name",
            '"a/b" is not a name',
            id="a name that is none",
        ),
        pytest.param(
            SNAPSHOT.replace(b'"namespace":"shop"', b'"namespace":""'),
            "objects.Pod[0].metadata.namespace",
            '"" is not a namespace',
            id="a pod in no namespace",
        ),
        pytest.param(
            documents.encode(Header(), {"Node": [Node(metadata=ObjectMeta(name="a", namespace="b"))]}),
            "objects.Node[0].metadata.namespace",
            "Node objects have no namespace",
            id="a node in a namespace",
        ),
        pytest.param(
            b'{"apiVersion":"schedctl.dev/v9","kind":"Snapshot"}',
            "apiVersion",
            "this snapshot is schedctl.dev/v9",
            id="a newer version",
        ),
        pytest.param(
            b'{"apiVersion":"schedctl.dev/v1alpha1","kind":"Snapshot","metadata":{}}',
            "objects",
            "the field is required",
            id="no objects",
        ),
    ],
)
def test_what_is_damaged_is_refused_by_field(tmp_path, text, path, message):
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    (problem,) = caught.value.problems
    assert problem.path == path
    assert problem.message.startswith(message)
    (tmp_path / "one").write_bytes(text)
    with pytest.raises(InputError) as alone:
        snapshots.load(str(tmp_path / "one"))
    assert [(each.path, each.message) for each in alone.value.problems] == [(path, problem.message)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SNAPSHOT[:200], id="cut short"),
        pytest.param(documents.pack(SNAPSHOT)[:100], id="packed and cut short"),
        pytest.param(documents.pack(SNAPSHOT)[:50] + b"garbage" * 9, id="packed and damaged"),
        pytest.param(SNAPSHOT.replace(b'["a",', b'["\xff",'), id="not UTF-8"),
        pytest.param(SNAPSHOT.replace(b'["a",', b'["\\ud800",'), id="half a character"),
        pytest.param(b"", id="empty"),
        pytest.param(b'{"kind":"List","apiVersion":"v1","items":[]}', id="something else"),
        pytest.param(SNAPSHOT + SNAPSHOT, id="two in one file"),
    ],
)
def test_what_is_no_snapshot_is_an_input_error(tmp_path, text):
    (tmp_path / "one").write_bytes(text)
    with pytest.raises(InputError):
        snapshots.load(str(tmp_path / "one"))


def test_a_file_that_is_not_there_is_an_input_error():
    with pytest.raises(InputError, match="no such file"):
        snapshots.load("/nowhere/at/all")


def test_a_snapshot_is_not_read_as_yaml():
    with pytest.raises(InputError, match="must be one JSON document"):
        sources.load_text(b"apiVersion: schedctl.dev/v1alpha1\nkind: Snapshot\nobjects: {}\n")


def test_a_snapshot_cannot_be_created():
    with pytest.raises(InputError, match="a snapshot is a cluster"):
        sources.load_text(SNAPSHOT, terms=Terms(creating=True))


def beside(header: Header) -> bytes:
    return documents.encode(header, {"Pod": [POD], "Node": NODES})


def test_two_snapshots_of_one_cluster_are_put_together_with_a_warning(tmp_path):
    headers = (Header(source="context prod", taken=f"2026-11-{day}T08:00:00Z") for day in (19, 20))
    (warning,) = (each for each in load(tmp_path, *map(beside, headers)).warnings if "combined with" in each.message)
    assert "taken 2026-11-19T08:00:00Z and 2026-11-20T08:00:00Z" in warning.message
    assert warning.source.endswith("two.txt")


@pytest.mark.parametrize(
    ("other", "complaint"),
    [
        (Header(source="context test"), "of different clusters: context prod, context test"),
        (Header(source="context prod", redaction="none"), "different redaction levels: default and none"),
        (Header(redaction="strict", key="ab"), "names are hashed in one of the snapshots"),
    ],
)
def test_two_snapshots_that_make_no_cluster_are_refused(tmp_path, other, complaint):
    with pytest.raises(InputError) as raised:
        load(tmp_path, SNAPSHOT, beside(other))
    (problem,) = raised.value.problems
    assert complaint in problem.message
