"""Plugins of files, modules and packages: found by name, and precise about what is wrong with them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from types import SimpleNamespace

import pytest

from schedctl.errors import ConfigError, UsageError
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler, discovery
from schedctl.scheduler.configurations import load_configuration
from schedctl.testing import cluster, node, pod

FENCE = """
from schedctl.framework import FilterPlugin, PluginArgs, Reason, per_node

class FenceArgs(PluginArgs, frozen=True):
    label: str = "team"
    depth: int = 0

    def __post_init__(self):
        if self.depth < 0:
            raise ValueError("depth must not be negative")

class TeamFence(FilterPlugin):
    args_type = FenceArgs
    foreign = Reason("node(s) belong to {team}")

    @per_node
    def filter(self, cycle, node):
        team = node.labels.get(self.args.label)
        return self.foreign(team=team) if team else None
"""
HEAD = "from schedctl.framework import *\n"


@pytest.fixture
def write_plugin(tmp_path, monkeypatch):
    """Write a file beside others and return its path; what is imported and looked at is forgotten afterwards."""
    modules, path = dict(sys.modules), list(sys.path)

    def write(text, name="fence.py"):
        file = tmp_path / name
        file.write_text(text)
        return str(file)

    yield write
    sys.path[:] = path
    for name in set(sys.modules) - set(modules):
        if not name.startswith("schedctl."):
            del sys.modules[name]


def refusal(text):
    with pytest.raises(UsageError) as raised:
        discovery.find([text])
    return str(raised.value)


def test_a_file_loads_all_its_plugins_and_a_class_one(write_plugin):
    text = FENCE + "\nclass Other(TeamFence):\n    pass\n\nclass _Base(TeamFence):\n    pass\n"
    file = write_plugin(text)
    assert discovery.find([file]).named == ("TeamFence", "Other")
    assert discovery.find([f"{file}:Other"]).named == ("Other",)
    both = discovery.find([f"{file}:TeamFence", f"{file}:Other", file])
    assert both.named == ("TeamFence", "Other")
    assert list(both.registry) == [*IN_TREE, "TeamFence", "Other"]


def test_a_module_is_found_in_the_current_folder(write_plugin, tmp_path, monkeypatch):
    write_plugin(FENCE, "fence_of_this_test.py")
    monkeypatch.chdir(tmp_path)
    found = discovery.find(["fence_of_this_test:TeamFence"])
    assert found.origins == {"TeamFence": "fence_of_this_test:TeamFence"}


def test_a_file_may_import_what_lies_beside_it(write_plugin):
    write_plugin("LABEL = 'team'", "beside_this_fence.py")
    file = write_plugin("from beside_this_fence import LABEL\n" + FENCE)
    assert discovery.find([file]).named == ("TeamFence",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no plugin in .*fence\.py"),
        ("class A(:\n", r"fence\.py cannot be imported: SyntaxError: invalid syntax \(fence\.py:1\)"),
        ("x = 1\n{}['team']\n", r"fence\.py cannot be imported: KeyError: 'team' \(fence\.py:2\)"),
        ("import sys\nsys.exit(3)\n", r"fence\.py cannot be imported: SystemExit: 3 \(fence\.py:2\)"),
        ("import nowhere_to_be_found\n", r"fence\.py cannot be imported: no module nowhere_to_be_found"),
        (HEAD + "class A(FilterPlugin):\n    pass", r"A lacks the method filter\(cycle, nodes\) of FilterPlugin"),
        (
            HEAD + "class A(FilterPlugin):\n    def filter(self, cycle): ...",
            r"A\.filter\(self, cycle\) cannot be called as filter\(cycle, nodes\): too many positional arguments",
        ),
        (
            HEAD + "class A(ScorePlugin):\n    @staticmethod\n    def score(cycle, nodes): ...",
            r"A\.score is a staticmethod: expected the method score\(cycle, nodes\)",
        ),
        (
            HEAD + "class A(FilterPlugin):\n    def filter(self, cycle, nodes): ...\n    def signature(self): ...",
            r"A\.signature\(self\) cannot be called as signature\(pod\)",
        ),
        (
            HEAD + "class A(FilterPlugin):\n    def filter(self, cycle, nodes): ...\n    signature = True",
            r"A\.signature is not a method: expected signature\(pod\)",
        ),
        (
            HEAD + "class A(PermitPlugin):\n    async def permit(self, cycle, node_name): ...",
            r"A\.permit is a coroutine or generator",
        ),
        (
            HEAD + "class A(BindPlugin):\n    def __init__(self): ...\n    def bind(self, cycle, node_name): ...",
            r"A\.__init__\(self\) cannot be called with \(args, handle\)",
        ),
        (
            HEAD + "class A(BindPlugin):\n    name = ' x'\n    def bind(self, cycle, node_name): ...",
            r"the name of A is ' x': expected a word such as A",
        ),
        (
            HEAD + "class A(BindPlugin):\n    name = 'x' * 254\n    def bind(self, cycle, node_name): ...",
            r"the name of A is 'x{200,}'",
        ),
        (HEAD + "class A(Plugin):\n    pass", r"A has no extension point: it inherits none of PreEnqueuePlugin, "),
        (
            HEAD + "class A(BindPlugin):\n    args_type = dict\n    def bind(self, cycle, node_name): ...",
            r"A\.args_type is <class 'dict'>: expected a class derived from PluginArgs",
        ),
        (
            "from __future__ import annotations\n"
            + HEAD
            + "class Args(PluginArgs, frozen=True):\n    x: Nonesuch = 1\n"
            "class A(BindPlugin):\n    args_type = Args\n    def bind(self, cycle, node_name): ...",
            r"the fields of A\.args_type cannot be read: name 'Nonesuch' is not defined",
        ),
        (
            HEAD + "class Args(PluginArgs, frozen=True):\n    x: set = frozenset()\n"
            "class A(BindPlugin):\n    args_type = Args\n    def bind(self, cycle, node_name): ...",
            r"Args\.x of A\.args_type cannot be read from a configuration: <class 'set'> is not a number, str, bool",
        ),
        (
            HEAD + "class NodeName(FilterPlugin):\n    def filter(self, cycle, nodes): ...",
            r"duplicate plugin NodeName: another is built in",
        ),
    ],
)
def test_what_breaks_the_contract_of_plugins_is_refused(text, message, write_plugin):
    assert re.search(message, refusal(write_plugin(text)))


def test_two_plugins_of_one_name_are_refused(write_plugin):
    first, second = write_plugin(FENCE, "one.py"), write_plugin(FENCE, "two.py")
    with pytest.raises(UsageError, match=r"duplicate plugin TeamFence: another is from .*one\.py"):
        discovery.find([first, second])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nowhere.py", "no such file: nowhere.py"),
        ("nowhere_at_all:X", "nowhere_at_all cannot be imported: no module nowhere_at_all"),
        ("json:loads", "json:loads: loads is not a plugin"),
        ("json:load5", "json:load5: the module has no load5"),
        (":X", 'no module in ":X"'),
    ],
)
def test_a_missing_file_module_or_class_is_an_error(text, message):
    assert message in refusal(text)


def test_what_a_plugin_prints_on_import_goes_to_stderr(write_plugin, capsys):
    discovery.find([write_plugin("print('hello')\n" + FENCE)])
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "hello\n")


CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: TeamFence}]
  pluginConfig:
  - name: TeamFence
    args: {%s}
"""


def test_arguments_are_typed(write_plugin):
    file = write_plugin(FENCE)
    configuration, registry = load_configuration(CONFIGURATION % "label: owner", [file])
    scheduler = Scheduler(cluster(node("a", labels={"owner": "red"})), configuration, registry)
    assert scheduler.judge(pod())["a"].reasons == ("node(s) belong to red",)
    assert scheduler.judge(pod())["a"].references == ("team-fence/foreign",)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("lable: x", "profiles[0].pluginConfig[0].args.lable: unknown field"),
        ("depth: much", "profiles[0].pluginConfig[0].args.depth: expected"),
        ("depth: -1", "profiles[0].pluginConfig[0].args: depth must not be negative"),
        ("kind: Other", 'profiles[0].pluginConfig[0].args.kind: expected "TeamFenceArgs"'),
    ],
)
def test_wrong_arguments_are_refused_with_their_place(args, message, write_plugin):
    file = write_plugin(FENCE)
    with pytest.raises(ConfigError) as raised:
        load_configuration(CONFIGURATION % args, [file])
    (problem,) = raised.value.problems
    assert message in str(problem)
    assert problem.line == 10
    assert problem.column


# -- packages ----------------------------------------------------------------------------


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Have packages offer plugins, and count how often anybody asks."""
    queried_groups = []

    def offer(**points):
        def select(group):
            queried_groups.append(group)
            dist = SimpleNamespace(name="fences", version="1.2")
            return [SimpleNamespace(name=name, value=value, dist=dist) for name, value in points.items()]

        package = SimpleNamespace(entry_points=SimpleNamespace(select=select))
        monkeypatch.setattr(metadata, "distributions", lambda path: [package])
        monkeypatch.setattr(discovery, "_INSTALLED", (str(tmp_path), *discovery._INSTALLED))
        return queried_groups

    return offer


def test_a_plugin_named_by_a_configuration_comes_from_its_package(write_plugin, offer):
    write_plugin(FENCE, "offered_fence.py")
    queried_groups = offer(TeamFence="offered_fence:TeamFence", Other="nowhere_at_all:Other")
    _, registry = load_configuration(CONFIGURATION % "label: x", [])
    assert "TeamFence" in registry
    assert queried_groups == ["schedctl.plugins"]
    assert "nowhere_at_all" not in sys.modules


def test_entry_points_are_not_read_where_no_plugin_is_unknown(offer):
    queried_groups = offer(TeamFence="offered_fence:TeamFence")
    load_configuration(b"", [])
    load_configuration(CONFIGURATION.replace("TeamFence", "NodeName") % "", [])
    assert queried_groups == []


def test_a_broken_package_fails_only_where_its_plugin_is_named(offer):
    offer(TeamFence="nowhere_at_all:TeamFence")
    with pytest.raises(UsageError, match=r"no module nowhere_at_all \(of fences 1\.2\)"):
        load_configuration(CONFIGURATION % "", [])
    assert list(discovery.with_installed(discovery.PluginCatalog()).broken) == ["TeamFence"]


def test_an_entry_point_has_the_name_of_its_plugin(write_plugin, offer):
    write_plugin(FENCE, "offered_fence.py")
    offer(Fence="offered_fence:TeamFence")
    broken = discovery.with_installed(discovery.PluginCatalog()).broken
    assert broken == {"Fence": "offered_fence:TeamFence of fences 1.2 is TeamFence, not Fence"}


def test_a_plugin_that_no_package_offers_is_unknown(offer):
    offer()
    with pytest.raises(ConfigError, match='"TeamFence" does not exist'):
        load_configuration(CONFIGURATION % "", [])


def test_a_configuration_of_schedctls_own_names_no_plugins(tmp_path):
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')")
    (tmp_path / ".schedctl.yaml").write_text(
        "apiVersion: schedctl.dev/v1alpha1\nkind: Config\nplugins: [evil.py]\nplugin: evil.py\n"
    )
    (tmp_path / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n")
    ran = subprocess.run(
        [sys.executable, "-m", "schedctl", "simulate", "pod.yaml", "-f", "pod.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert '"plugins" cannot be set in a file' in ran.stderr
    assert "ran" not in ran.stderr.split()


def test_an_installed_package_is_found_by_its_metadata(tmp_path):
    (tmp_path / "fences-1.2.dist-info").mkdir()
    (tmp_path / "fences-1.2.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: fences\nVersion: 1.2\n")
    (tmp_path / "fences-1.2.dist-info/entry_points.txt").write_text(
        "[schedctl.plugins]\nTeamFence = offered:TeamFence\n"
    )
    (tmp_path / "offered.py").write_text("import sys\nprint('imported', file=sys.stderr)\n" + FENCE)
    (tmp_path / "config.yaml").write_text(CONFIGURATION % "label: owner")

    def ran(*arguments):
        command = [sys.executable, "-m", "schedctl", *arguments]
        path = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))}
        return subprocess.run(command, capture_output=True, text=True, env=path)

    listed = ran("plugins", "list")
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert ["TeamFence", "fences", "1.2", "-", "yours", "-"] in rows
    shown = ran("profiles", "show", str(tmp_path / "config.yaml"))
    assert 'TeamFence.label: "owner"' in shown.stdout or "TeamFence.label: owner" in shown.stdout
    assert "imported" in shown.stderr
    assert ran("profiles", "show", "default").stderr == ""


@pytest.fixture
def clone(tmp_path):
    """A clone in which a package seems to be installed, and the modules of a library beside it."""
    folder = tmp_path / "clone"
    (folder / "fences-1.2.dist-info").mkdir(parents=True)
    (folder / "fences-1.2.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: fences\nVersion: 1.2\n")
    (folder / "fences-1.2.dist-info/entry_points.txt").write_text("[schedctl.plugins]\nTeamFence = evil:TeamFence\n")
    for name in ("evil.py", "yaml.py", "msgspec.py"):
        (folder / name).write_text("import sys\nprint('ran evil', file=sys.stderr)\n" + FENCE)
    (folder / "fine.py").write_text(FENCE.replace("TeamFence", "Fine"))
    (folder / "config.yaml").write_text(CONFIGURATION % "label: owner")
    (folder / "below").mkdir()
    return folder


@pytest.mark.parametrize("started", [("-m", "schedctl"), ("-c", "from schedctl.cli import main; main()")])
@pytest.mark.parametrize(
    ("folder", "arguments"),
    [
        (".", ("plugins", "list")),
        (".", ("plugins", "list", "--plugin", "fine.py")),
        (".", ("plugins", "list", "--plugin", "fine:Fine")),
        (".", ("profiles", "show", "config.yaml")),
        (".", ("profiles", "show", "config.yaml", "--plugin", "fine.py")),
        ("below", ("plugins", "list", "--plugin", "../fine.py")),
        ("below", ("profiles", "show", "../config.yaml", "--plugin", "../fine.py")),
    ],
)
def test_packages_in_the_current_folder_are_not_installed(clone, started, folder, arguments):
    if started[0] == "-c":
        started = ("-P", *started)  # as the script that is installed, which does not look in the current folder
    path = os.pathsep.join(each for each in sys.path if each)
    ran = subprocess.run(
        [sys.executable, *started, *arguments],
        cwd=clone / folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert "evil" not in ran.stdout + ran.stderr
    assert "fences" not in ran.stdout
    assert ran.returncode == (0 if arguments[0] == "plugins" else 2), ran.stderr
    if arguments[0] == "profiles":
        assert '"TeamFence" does not exist' in ran.stderr
        assert "load it with --plugin" in ran.stderr


def test_the_module_of_a_package_is_not_imported_from_the_current_folder(clone, offer, write_plugin, monkeypatch):
    monkeypatch.chdir(clone)
    discovery.find([str(clone / "fine.py")])
    offer(TeamFence="evil:TeamFence")
    broken = discovery.with_installed(discovery.PluginCatalog()).broken
    assert "no module evil" in broken["TeamFence"]
    assert "evil" not in sys.modules
