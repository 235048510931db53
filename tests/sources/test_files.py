"""What can be named: files, folders, globs, standard input, gzip; and what is said when it is not there."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedctl.errors import InputError
from schedctl.sources import Manifests, load


def pod(name: str) -> str:
    return f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: c}}]}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A folder as people have them, and the current one."""
    monkeypatch.chdir(tmp_path)
    for path, text in {
        "b.yaml": pod("b"),
        "a.yml": pod("a"),
        "c.json": json.dumps(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}, "spec": {"containers": [{}]}}
        ),
        "notes.txt": "{{ not a manifest",
        ".hidden.yaml": "{{ not a manifest",
        ".git/x.yaml": "{{ not a manifest",
        "deep/d.yaml": pod("d"),
        "deep/deeper/e.yaml": pod("e"),
        "outside/f.yaml": pod("f"),
    }.items():
        (tmp_path / "all" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / path).write_text(text)
    (tmp_path / "all" / "z.yaml.gz").write_bytes(gzip.compress(pod("z").encode()))
    (tmp_path / "all" / "outside").rename(tmp_path / "outside")
    return tmp_path


def names(manifests: Manifests) -> str:
    return " ".join(one.object.metadata.name for one in manifests.objects)


@pytest.mark.parametrize(
    ("paths", "recursive", "expected"),
    [
        pytest.param(["all/b.yaml"], False, "b", id="a file"),
        pytest.param(["all/z.yaml.gz"], False, "z", id="a packed file"),
        pytest.param(["all"], False, "a b c z", id="a folder in the order of its names"),
        pytest.param(["all"], True, "a b c z d e", id="a folder and the folders in it"),
        pytest.param(["all/*.y*ml"], False, "a b", id="a glob"),
        pytest.param(["all/**/*.yaml"], False, "b d e", id="a glob through folders"),
        pytest.param(["all/[ab].*"], False, "a b", id="a glob with a choice"),
        pytest.param(["all/de*"], False, "d", id="a glob that finds a folder"),
        pytest.param(["all/b.yaml", "all/a.yml"], False, "b a", id="files in the order named"),
        pytest.param(["all/b.yaml", "all", "./all/b.yaml"], False, "b a c z", id="nothing is read twice"),
    ],
)
def test_what_is_named_is_read(folder, paths, recursive, expected):
    assert names(load(paths, recursive=recursive)) == expected


def test_folders_in_folders_are_read_unless_that_is_switched_off(folder):
    assert names(load(["all"])) == names(load(["all"], recursive=True))


def test_a_pattern_does_not_lead_out_of_its_folder(folder):
    Path("all/leak.yaml").symlink_to(folder / "outside/f.yaml")
    Path("all/deep/leaks").symlink_to(folder / "outside")
    manifests = load(["all/**/*.yaml"])
    assert names(manifests) == "b d e"
    message = "is a link to outside of the folder and is not followed"
    assert [str(each) for each in manifests.warnings] == [
        f"all/deep/leaks/f.yaml: {message}",
        f"all/leak.yaml: {message}",
    ]


def test_standard_input_is_read_once_and_has_the_name_given():
    stdin = io.BytesIO(pod("a").encode())
    manifests = load(["-", "-"], stdin=stdin, stdin_filename="chart/web")
    assert [(one.subject, one.source) for one in manifests.objects] == [("Pod default/a", "chart/web")]


def test_packed_standard_input_is_unpacked():
    packed = gzip.compress(pod("a").encode()) + gzip.compress(b"---\n" + pod("b").encode())
    assert names(load(["-"], stdin=io.BytesIO(packed))) == "a b"


def test_a_file_whose_name_is_a_pattern_is_a_file(folder):
    Path("a[1].yaml").write_text(pod("odd"))
    assert names(load(["a[1].yaml"])) == "odd"


def test_a_pipe_can_be_named_like_a_file(tmp_path):
    read, write = os.pipe()
    os.write(write, pod("a").encode())
    os.close(write)
    try:
        assert names(load([f"/dev/fd/{read}"])) == "a"
    finally:
        os.close(read)


@pytest.mark.parametrize(
    ("path", "problem", "hint"),
    [
        pytest.param(
            "all/b.yml", "all/b.yml: no such file or folder", 'did you mean "all/b.yaml"?', id="a missing file"
        ),
        pytest.param("nowhere/b.yml", "nowhere/b.yml: no such file or folder", "", id="a file in a missing folder"),
        pytest.param("all/b.yaml/x", "all/b.yaml/x: no such file or folder", "", id="a file in a file"),
        pytest.param("all/*.xml", "all/*.xml: no file matches the pattern", "", id="a glob that matches nothing"),
        pytest.param("a\0b", "a\\x00b: is not a file name", "", id="a NUL in the name"),
        pytest.param("x" * 5000, "x" * 600 + "…: file name too long", "", id="a name that is too long"),
        pytest.param(
            "https://example.com/a.yaml",
            "https://example.com/a.yaml: is a URL; only files are read",
            "download it and pipe it in, e.g. `curl https://example.com/a.yaml | schedctl ... -f -`",
            id="a URL",
        ),
    ],
)
def test_what_is_not_there_is_a_problem(folder, path, problem, hint):
    with pytest.raises(InputError) as caught:
        load([path])
    assert str(caught.value) == problem
    assert caught.value.problems[0].hint == hint
    assert caught.value.exit_code == 3


def test_a_folder_without_manifests_is_a_problem(folder):
    Path("empty").mkdir()
    Path("high/low").mkdir(parents=True)
    Path("high/low/a.yaml").write_text(pod("a"))
    with pytest.raises(InputError) as caught:
        load(["empty", "high"], recursive=False)
    assert [(str(problem), problem.hint) for problem in caught.value.problems] == [
        ("empty: no manifests in the folder (.yaml, .yml, .json, also with .gz)", ""),
        (
            "high: no manifests in the folder (.yaml, .yml, .json, also with .gz)",
            "without --no-recursive the folders in it are read, too",
        ),
    ]


def test_problems_of_all_files_come_at_once(folder):
    Path("bad.yaml").write_text("a: [\n---\nkind: Pod\n")
    Path("worse.yaml.gz").write_bytes(gzip.compress(pod("a").encode())[:-9])
    Path("worst.yaml.gz").write_bytes(b"\x1f\x8b" + b"?" * 20)
    Path("wide.yaml").write_bytes("a: 1".encode("utf-16-le"))
    with pytest.raises(InputError) as caught:
        load(["missing", "bad.yaml", "worse.yaml.gz", "worst.yaml.gz", "wide.yaml"])
    assert str(caught.value).splitlines() == [
        "missing: no such file or folder",
        "bad.yaml:2:1: did not find expected node content while parsing a flow node",
        'bad.yaml:3:1: apiVersion: the field "apiVersion" is required',
        "worse.yaml.gz: is damaged: the gzip data ends too early",
        "worst.yaml.gz: is damaged: not a complete gzip file",
        "wide.yaml: looks like UTF-16 without a byte order mark",
    ]


@pytest.fixture
def as_nobody(folder) -> Iterator[None]:
    """Nothing is unreadable to root, who therefore becomes somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    folder.chmod(0o755)  # those above it do not matter to who is already in it
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def unreadable(path: str, mode: int) -> None:
    """Take rights away, as the owner or root."""
    was = os.geteuid()
    os.seteuid(os.getuid())
    Path(path).chmod(mode)
    os.seteuid(was)


@pytest.mark.parametrize(
    ("path", "mode", "named", "recursive", "problem"),
    [
        pytest.param("all/deep", 0, "all/deep", False, "all/deep: cannot be read", id="a folder"),
        pytest.param("all/deep", 0, "all/deep", True, "all/deep: cannot be read", id="a folder with all in it"),
        pytest.param("all/deep", 0o444, "all/deep", False, "all/deep: cannot be read", id="a folder one can only list"),
        pytest.param(
            "all/deep", 0o111, "all/deep", False, "all/deep: cannot be read", id="a folder one can only enter"
        ),
        pytest.param("all/deep", 0, "all", True, "all/deep: cannot be read", id="a folder in a folder"),
        pytest.param(
            "all/deep", 0, "all/deep/d.yaml", False, "all/deep/d.yaml: cannot be read", id="a file in a folder"
        ),
        pytest.param("all/b.yaml", 0, "all/b.yaml", False, "all/b.yaml: cannot be read", id="a file"),
        pytest.param("all/b.yaml", 0, "all", False, "all/b.yaml: cannot be read", id="a file in a readable folder"),
    ],
)
def test_what_may_not_be_read_is_a_problem(folder, as_nobody, path, mode, named, recursive, problem):
    unreadable(path, mode)
    with pytest.raises(InputError) as caught:
        load([named], recursive=recursive)
    assert str(caught.value) == f"{problem}: permission denied"
    unreadable(path, 0o755)


def test_a_link_to_itself_is_a_problem(folder):
    Path("all/self.yaml").symlink_to("self.yaml")
    for named, message in (("all", "cannot be read: too many"), ("all/self.yaml", "too many")):
        with pytest.raises(InputError) as caught:
            load([named])
        (problem,) = caught.value.problems
        assert problem.source == "all/self.yaml"
        assert problem.message.startswith(message)


def test_a_folder_that_is_nearly_too_deep_to_name_is_a_problem_or_is_read(folder):
    deep = Path("d" * 200)
    deep.mkdir()
    Path(deep, "nodes.json").symlink_to("x" * 4000)
    with pytest.raises(InputError) as caught:
        load([str(deep)])
    assert [problem.message for problem in caught.value.problems] == ["cannot be read: file name too long"]


def test_invalid_file_name_is_a_problem():
    with pytest.raises(InputError, match="cannot be read"):
        load(["\ud800.yaml"])


def test_a_closed_standard_input_is_a_problem(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="<stdin>: standard input is closed"):
        load(["-"])


def test_an_empty_file_is_a_warning_beside_a_broken_one(folder):
    Path("empty.yaml").write_text("")
    Path("broken.yaml").write_text("a: [\n")
    with pytest.raises(InputError) as caught:
        load(["empty.yaml", "all/b.yaml", "broken.yaml"])
    assert [problem.source for problem in caught.value.problems] == ["broken.yaml"]
    assert list(map(str, caught.value.warnings)) == ["empty.yaml: is empty"]


def test_links_are_followed_inside_a_folder_and_not_out_of_it(folder):
    Path("all/inside.yaml").symlink_to("deep/d.yaml")
    Path("all/circle").symlink_to("deep")
    Path("all/deep/loop").symlink_to("..")
    Path("all/out.yaml").symlink_to(folder / "outside" / "f.yaml")
    Path("all/away").symlink_to(folder / "outside")
    manifests = load(["all"], recursive=True)
    assert names(manifests) == "a b c d z e"
    assert sorted(str(warning) for warning in manifests.warnings) == [
        "all/away: is a link to outside of the folder and is not followed",
        "all/out.yaml: is a link to outside of the folder and is not followed",
    ]


def test_a_pipe_in_a_folder_is_left_out(folder):
    os.mkfifo("all/pipe.yaml")
    Path("all/link.yaml").symlink_to("pipe.yaml")
    manifests = load(["all"])
    assert [str(warning) for warning in manifests.warnings] == [
        "all/link.yaml: is not a regular file and is not read",
        "all/pipe.yaml: is not a regular file and is not read",
    ]


def test_a_broken_link_is_a_problem(folder):
    Path("all/gone.yaml").symlink_to("deep/gone.yaml")
    with pytest.raises(InputError, match=r"all/gone\.yaml: cannot be read: no such file or directory"):
        load(["all"])


def test_the_folder_of_a_cluster_info_dump_is_read_throughout(tmp_path):
    for path, kind, items in (
        ("nodes", "NodeList", [{"metadata": {"name": "node-a", "uid": "1"}}]),
        ("shop/pods", "PodList", [{"metadata": {"name": "web", "namespace": "shop", "uid": "2"}}]),
        ("shop/events", "EventList", [{"metadata": {"name": "e"}}]),
        ("shop/services", "ServiceList", []),
        ("shop/replication-controllers", "ReplicationControllerList", None),
        ("shop/deployments", "DeploymentList", [{"metadata": {"name": "web", "namespace": "shop", "uid": "3"}}]),
        ("kube-system/pods", "PodList", [{"metadata": {"name": "dns", "namespace": "kube-system", "uid": "4"}}]),
    ):
        file = tmp_path / f"{path}.json"
        file.parent.mkdir(exist_ok=True)
        group = "apps/v1" if kind == "DeploymentList" else "v1"
        file.write_text(json.dumps({"kind": kind, "apiVersion": group, "metadata": {}, "items": items}, indent=4))
    (tmp_path / "shop" / "web").mkdir()
    (tmp_path / "shop" / "web" / "logs.txt").write_text("==== START logs for container main of pod shop/web ====\n")
    manifests = load([str(tmp_path)])
    assert [one.subject for one in manifests.objects] == [
        "Node node-a",
        "Pod kube-system/dns",
        "Deployment shop/web",
        "Pod shop/web",
    ]
    assert manifests.ignored == {"v1 Event": 1}
    assert manifests.warnings == []


def test_progress_counts_bytes_to_the_end(folder):
    steps: list[tuple[int, int, str]] = []
    load(["all/a.yml", "all/b.yaml"], progress=lambda done, total, name: steps.append((done, total, name)))
    sizes = [Path("all", name).stat().st_size for name in ("a.yml", "b.yaml")]
    assert steps == [(0, sum(sizes), "all/a.yml"), (sizes[0], sum(sizes), "all/b.yaml"), (sum(sizes), sum(sizes), "")]
