"""Where schedctl's own configuration is looked for, and what it changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schedctl.errors import ConfigError, UsageError
from schedctl.session import settings

HEAD = "apiVersion: schedctl.dev/v1alpha1\nkind: Config\ncustomKinds:\n"
CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "20"}}
"""
SHOP = """
apiVersion: example.com/v1
kind: Shop
metadata: {name: corner}
spec:
  size: 3
  pod: {containers: [{name: a, image: a}]}
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with a folder in it, in which the test runs, and a folder for the user's configuration."""
    (tmp_path / "repository/.git").mkdir(parents=True)
    (tmp_path / "repository/team/deploy").mkdir(parents=True)
    (tmp_path / "user/schedctl").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repository/team/deploy")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    return tmp_path


def write(folder, name, kind="Shop.example.com", path="spec.pod"):
    (folder / name).write_text(f"{HEAD}  {kind}: {{spec: {path}, replicas: spec.size}}\n")


def path_of(found, name="Shop.example.com"):
    return next((".".join(kind.pods[0].path) for kind in found.custom_kinds if str(kind) == name), None)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        pytest.param({}, None, id="nothing is set without a file"),
        pytest.param({"repository": "top", "repository/team": "near"}, "near", id="the nearest folder counts"),
        pytest.param({"repository": "top"}, "top", id="up to the root of the repository"),
        pytest.param({"": "outside"}, None, id="and not beyond it"),
        pytest.param({"user": "mine"}, "mine", id="the user has one, too"),
        pytest.param({"user": "mine", "repository": "top"}, "top", id="which the repository goes before"),
    ],
)
def test_the_file_is_found(repository, written, found):
    for folder, path in written.items():
        name = "schedctl/config.yaml" if folder == "user" else ".schedctl.yaml"
        write(repository / folder, name, path=path)
    assert path_of(settings.load("", ignored=False)) == found


def test_both_files_add_to_the_table(repository):
    write(repository / "user", "schedctl/config.yaml", "Mine.example.com")
    write(repository / "repository", ".schedctl.yaml")
    found = settings.load("", ignored=False)
    assert path_of(found) == path_of(found, "Mine.example.com") == "spec.pod"
    assert [name.rpartition("/")[2] for name in found.digests] == ["config.yaml", ".schedctl.yaml"]


def test_outside_of_a_repository_no_folder_above_is_looked_into(repository, monkeypatch):
    (repository / "repository/.git").rmdir()
    write(repository / "repository/team", ".schedctl.yaml")
    assert path_of(settings.load("", ignored=False)) is None
    monkeypatch.chdir(repository / "repository/team")
    assert path_of(settings.load("", ignored=False)) == "spec.pod"


def test_a_file_that_is_named_is_the_only_one(repository):
    write(repository / "repository", ".schedctl.yaml", path="top")
    write(repository / "repository/team/deploy", "other.yaml", "Other.example.com")
    found = settings.load("other.yaml", ignored=False)
    assert (path_of(found), path_of(found, "Other.example.com")) == (None, "spec.pod")
    assert list(found.digests) == ["other.yaml"]


def test_none_is_read_if_none_is_wanted(repository):
    write(repository / "repository", ".schedctl.yaml")
    assert settings.load("", ignored=True).digests == {}
    with pytest.raises(UsageError, match="were both given"):
        settings.load("x", ignored=True)


def test_a_file_that_cannot_be_read_is_an_error(repository):
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read: no such file or directory"):
        settings.load("none.yaml", ignored=False)


@pytest.mark.parametrize(
    ("arguments", "pods"),
    [
        pytest.param(("--config", "own.yaml"), 3, id="its custom kinds make pods"),
        pytest.param((), None, id="which are named as not modelled without it"),
    ],
)
def test_a_simulation_knows_the_custom_kinds(schedctl, tmp_path, arguments, pods, monkeypatch):
    files = {"cluster.yaml": CLUSTER, "shop.yaml": SHOP + "---" + CLUSTER.replace("node-a", "node-b")}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    write(tmp_path, "own.yaml")
    monkeypatch.chdir(tmp_path)
    ended = schedctl("simulate", "shop.yaml", "-f", "cluster.yaml", *arguments, "-o", "json")
    report = json.loads(ended.out)
    assert [each["wanted"] for each in report["results"]] == ([pods] if pods else [])
    assert [each["subject"] for each in report["unmodelled"]] == ([] if pods else ["Shop default/corner"])
    roles = [each["role"] for each in report["metadata"]["inputs"]]
    assert roles == ["Manifests", "State", *(["Config"] if pods else [])]


def test_mistakes_in_the_file_end_with_2(schedctl, tmp_path):
    (tmp_path / "own.yaml").write_text(HEAD + "  Shop.example.com: {specs: x}\n")
    ended = schedctl("simulate", "x.yaml", "-f", "y.yaml", "--config", str(tmp_path / "own.yaml"))
    assert (ended.code, ended.out) == (2, "")
    assert 'own.yaml:4:29: customKinds.Shop.example.com.specs: unknown field "specs"' in ended.err
    assert 'did you mean "spec"?' in ended.err


# -- defaults of options -----------------------------------------------------------------

DEFAULTS = "apiVersion: schedctl.dev/v1alpha1\nkind: Config\ndefaults: "
CLUSTER_OF_SHOP = str(Path(__file__).parents[2] / "fixtures/clusters/shop")
POD = ("explain", "pod", "web-7d9c6b5f4d-jbljm", "-f", CLUSTER_OF_SHOP)


@pytest.fixture
def explain(schedctl, repository, monkeypatch):
    """``schedctl explain`` of a pod, in a repository, after what the two files and the environment set."""
    monkeypatch.chdir(repository / "repository")

    def run(*arguments, user="{}", of_repository="{}", **environment):
        (repository / "user/schedctl/config.yaml").write_text(DEFAULTS + user)
        (repository / "repository/.schedctl.yaml").write_text(DEFAULTS + of_repository)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return schedctl(*POD, *arguments)

    return run


@pytest.mark.parametrize(
    ("arguments", "files", "environment", "output"),
    [
        pytest.param((), {}, {}, "text", id="without a default it is text"),
        pytest.param((), {"user": "{output: json}"}, {}, "json", id="the user's file sets one"),
        pytest.param((), {"of_repository": "{output: json}"}, {}, "json", id="a repository's, too"),
        pytest.param(
            (), {"user": "{output: json}", "of_repository": "{output: yaml}"}, {}, "json", id="after the user"
        ),
        pytest.param((), {"user": "{output: yaml}"}, {"SCHEDCTL_OUTPUT": "json"}, "json", id="a variable goes before"),
        pytest.param(("-o", "json"), {}, {"SCHEDCTL_OUTPUT": "yaml"}, "json", id="and the command line before that"),
    ],
)
def test_what_an_option_is_without_being_given(explain, arguments, files, environment, output):
    ended = explain("-n", "shop", *arguments, **files, **environment)
    assert (ended.code, ended.err) == (0, "")
    first = ended.out.partition("\n")[0]
    assert first.startswith({"text": "pod shop/", "json": "{", "yaml": "apiVersion:"}[output])


def test_a_namespace_that_is_always_meant(explain):
    assert explain(user="{namespace: shop}").code == 0
    assert explain(SCHEDCTL_NAMESPACE="shop").code == 0
    assert "in namespace batch" in explain("-n", "batch", SCHEDCTL_NAMESPACE="shop").err


def test_the_context_of_live_clusters_is_no_matter_for_files(explain):
    ended = explain("-n", "shop", user="{context: prod, kubeconfig: ~/nowhere}", SCHEDCTL_CONTEXT="test")
    assert (ended.code, ended.err) == (0, "")


def test_the_context_of_the_user_is_asked_for(schedctl, explain):
    explain(user="{context: prod, kubeconfig: /nowhere/kubeconfig}")
    assert "/nowhere/kubeconfig" in schedctl("explain", "pod", "web-0").err


def test_a_command_with_other_outputs_keeps_its_own(schedctl, explain):
    explain(user="{output: wide}")
    assert schedctl("version").code == schedctl("profiles", "list").code == 0


@pytest.mark.parametrize(
    ("user", "of_repository", "message", "hint"),
    [
        pytest.param(
            "{}",
            "{context: prod}",
            '.schedctl.yaml:3:12: defaults.context: "context" cannot be set here',
            "config.yaml",
            id="a repository does not choose a cluster",
        ),
        pytest.param("{}", "{kubeconfig: x}", "cannot choose credentials", "config.yaml", id="nor credentials"),
        pytest.param(
            "{colour: never}", "{}", 'unknown field "colour"', 'did you mean "color"?', id="a misspelt option"
        ),
        pytest.param("{color: red}", "{}", "defaults.color", "", id="a word that the option does not take"),
        pytest.param("{limit: -1}", "{}", "limit cannot be negative", "0 lets schedctl choose", id="a negative limit"),
    ],
)
def test_mistakes_in_defaults_are_reported_with_their_place(explain, user, of_repository, message, hint):
    ended = explain("-n", "shop", user=user, of_repository=of_repository)
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err
    assert hint in ended.err


def test_no_config_sets_no_defaults(schedctl, explain):
    explain(user="{output: json}")
    arguments = ("simulate", "x.yaml", "-f", CLUSTER_OF_SHOP)
    Path("x.yaml").write_text(
        "kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {containers: [{name: a, image: a}]}\n"
    )
    assert schedctl(*arguments).out.startswith("{")
    assert not schedctl(*arguments, "--no-config").out.startswith("{")
