"""What looks like a manifest in a folder and is not read: it is listed, so that a check can count it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from schedctl.sources import Terms, load

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: c}]}\n"
CREATING = Terms(creating=True)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with one manifest that is read, beside it another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "deploy/web.yaml").write_text(POD)
    (tmp_path / "elsewhere/other.yaml").write_text(POD)
    return tmp_path / "deploy"


def unread(recursive: bool = True) -> list[tuple[str, str]]:
    return [tuple(each) for each in load(["deploy"], terms=CREATING, recursive=recursive).unread]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param(".api.yaml", "its name, or that of its folder, begins with a dot", id="a hidden file"),
        pytest.param(".old/api.yaml", "its name, or that of its folder, begins with a dot", id="a hidden folder"),
        pytest.param("api.yaml.bak", "its name does not end in .yaml, .yml or .json", id="a file renamed"),
        pytest.param("sub/api", "its name does not end in .yaml, .yml or .json", id="a file without an extension"),
    ],
)
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(POD.encode(), id="YAML"),
        pytest.param(b"# comment\n---\n" + POD.encode(), id="YAML below a comment"),
        pytest.param(POD.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(b"\xef\xbb\xbf" + POD.encode(), id="a byte order mark"),
        pytest.param(POD.encode("utf-16"), id="UTF-16"),
        pytest.param(gzip.compress(POD.encode()), id="packed"),
        pytest.param(b'{"kind": "Pod", "apiVersion": "v1"}', id="JSON"),
        pytest.param(b"{{- if .Values.web }}\n" + POD.encode(), id="a template"),
    ],
)
def test_what_looks_like_a_manifest_and_is_not_read_is_listed(folder, name, reason, data):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    assert unread() == [(f"deploy/{name}", reason)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("README.md", f"# Web\n\nHow to write it:\n\n{POD}", id="a text about manifests"),
        pytest.param("notes", "apiVersion and kind: both are needed", id="prose"),
        pytest.param(".pre-commit-config.yaml", "repos: []\n", id="other YAML"),
        pytest.param(".schedctl.yaml", "apiVersion: schedctl.dev/v1alpha1\nkind: Config\n", id="our settings"),
        pytest.param(".git/web.yaml", POD, id="what git keeps"),
        pytest.param("empty.bak", "", id="an empty file"),
    ],
)
def test_what_does_not_look_like_a_manifest_is_not_listed(folder, name, text):
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    assert unread() == []


def test_without_recursion_the_folders_in_a_folder_are_listed(folder):
    (folder / "sub").mkdir()
    (folder / "sub/api.yaml").write_text(POD)
    assert unread() == []
    assert unread(recursive=False) == [("deploy/sub/api.yaml", "--no-recursive leaves out the folders in a folder")]


def test_links_out_of_a_folder_are_listed_and_not_followed(folder):
    (folder / "leak.yaml").symlink_to("../elsewhere/other.yaml")
    (folder / "leaks").symlink_to("../elsewhere")
    (folder / "inside.yaml").symlink_to("web.yaml")
    found = load(["deploy"], terms=CREATING)
    assert [tuple(each) for each in found.unread] == [
        ("deploy/leak.yaml", "a link to outside of the folder"),
        ("deploy/leaks", "a link to outside of the folder"),
    ]
    assert len(found.objects) == 1


def test_what_is_no_regular_file_is_listed(folder):
    os.mkfifo(folder / "pipe.yaml")
    assert unread() == [("deploy/pipe.yaml", "not a regular file")]


def test_other_kinds_with_containers_in_them_are_counted_apart(folder):
    text = (
        "apiVersion: example.com/v1\nkind: Shop\nmetadata: {name: a}\n"
        "spec: {web: {template: {spec: {containers: [{name: c, image: c}]}}}}\n"
        "---\napiVersion: example.com/v1\nkind: Shop\nmetadata: {name: b}\nspec: {web: {door: open}}\n"
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    )
    Path("shops.yaml").write_text(text)
    found = load(["shops.yaml"], terms=CREATING)
    assert [each.problem.subject for each in found.unmodelled] == ["Shop default/a"]
    assert found.ignored == {"example.com/v1 Shop": 1, "v1 ConfigMap": 1}
