"""``--plugin`` and ``schedctl plugins new|check``: other people's plugins in every command that schedules."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from schedctl.cli.commands import command
from schedctl.cli.plugin_skeletons import _PIECES

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: red-1, labels: {team: red}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: blue-1, labels: {team: blue}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {team: red}}
spec: {containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Pod
metadata: {name: nobodys}
spec: {containers: [{name: web, image: web}]}
"""
CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: TeamFence, weight: 3}]}}
"""


@pytest.fixture
def fenced(schedctl, tmp_path, monkeypatch):
    """A folder with a cluster and a plugin that keeps teams apart; run commands there."""
    monkeypatch.chdir(tmp_path)
    Path("cluster.yaml").write_text(CLUSTER)
    assert schedctl("plugins", "new", "TeamFence").code == 0
    return schedctl


def test_a_plugin_takes_part_in_the_defaults_and_the_origin_says_so(fenced):
    report = json.loads(
        fenced("explain", "pod", "web", "-f", "cluster.yaml", "--plugin", "team_fence.py", "--matrix", "-o", "json").out
    )
    assert report["metadata"]["configuration"] == "built-in defaults with TeamFence of team_fence.py"
    (answer,) = report["results"]
    assert answer["chosen"] == "red-1"
    document = json.dumps(answer)
    assert "team-fence/foreign" in document
    assert "node(s) belong to team blue" in document


def test_a_rejection_has_the_reason_of_the_plugin(fenced):
    ran = fenced("explain", "pod", "nobodys", "-f", "cluster.yaml", "--plugin", "team_fence.py")
    assert "1 node(s) belong to team blue, 1 node(s) belong to team red" in ran.out
    assert "TeamFence" in ran.out


def test_the_scores_of_a_plugin_count_with_its_weight(fenced):
    Path("config.yaml").write_text(CONFIGURATION)
    ran = fenced(
        "explain", "pod", "web", "-f", "cluster.yaml", "--plugin", "team_fence.py",
        "--scheduler-config", "config.yaml", "-o", "json",
    )  # fmt: skip
    assert '"TeamFence"' in ran.out
    assert '"weight":3' in ran.out.replace(" ", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "pod.yaml", "-f", "cluster.yaml"),
        ("drain", "red-1", "-f", "cluster.yaml", "--force"),
        ("capacity", "--like", "pod/web", "-f", "cluster.yaml"),
        ("bind", "pod/web", "-f", "cluster.yaml", "--force-scheduler", "-o", "json"),
        ("calibrate", "-f", "cluster.yaml"),
    ],
)
def test_every_command_that_schedules_takes_plugins(arguments, fenced):
    Path("pod.yaml").write_text(CLUSTER.rpartition("---")[2].replace("nobodys", "more"))
    ran = fenced(*arguments, "--plugin", "team_fence.py")
    assert ran.code == (5 if "calibrate" in arguments else 0), ran.err  # no decision can be repeated
    assert "TeamFence of team_fence.py" in ran.out


def test_whoever_takes_a_configuration_to_schedule_by_takes_plugins():
    options = {
        name: {option for parameter in each.params for option in parameter.opts}
        for name, each in command.commands.items()
    }
    schedule = {name for name, taken in options.items() if "--scheduler-config" in taken}
    assert {"bind", "calibrate", "watch", "explain"} <= schedule
    assert [name for name in sorted(schedule) if "--plugin" not in options[name]] == []


def test_a_pod_is_bound_where_a_plugin_would_have_it(fenced):
    without = fenced("bind", "pod/web", "-f", "cluster.yaml", "--force-scheduler")
    ran = fenced("bind", "pod/web", "-f", "cluster.yaml", "--force-scheduler", "--plugin", "team_fence.py")
    assert without.out.startswith("pod default/web would be bound to blue-1")
    assert ran.out.startswith("pod default/web would be bound to red-1")


def test_a_plugin_that_no_profile_enables_is_warned_of(fenced):
    ran = fenced("explain", "pod", "web", "-f", "cluster.yaml", "--plugin", "team_fence.py", "--profile", "bin-packing")
    assert "no profile of bin-packing.yaml of schedctl enables TeamFence, which --plugin names" in ran.err
    assert "under plugins.multiPoint.enabled of a profile" in ran.err


def test_a_configuration_that_names_an_unknown_plugin_is_inconclusive_without_it(fenced):
    Path("config.yaml").write_text(CONFIGURATION)
    ran = fenced("explain", "pod", "web", "-f", "cluster.yaml", "--scheduler-config", "config.yaml")
    assert ran.code == 5
    assert "TeamFence, which schedctl does not have" in " ".join(ran.err.split())
    assert "`--plugin FILE` loads one that you have" in " ".join(ran.err.split())


def test_a_plugin_that_fails_is_an_error_with_its_line_and_no_crash(fenced):
    Path("odd.py").write_text(
        "from schedctl.framework import *\nclass Odd(FilterPlugin):\n"
        "    def filter(self, cycle, nodes):\n        return {}['team']\n"
    )
    ran = fenced("explain", "pod", "web", "-f", "cluster.yaml", "--plugin", "odd.py")
    assert ran.code == 0
    assert "plugin \"Odd\" failed: KeyError: 'team' (odd.py:4)" in ran.out
    Path("pod.yaml").write_text(CLUSTER.rpartition("---")[2].replace("nobodys", "more"))
    ran = fenced("simulate", "pod.yaml", "-f", "cluster.yaml", "--plugin", "odd.py")
    assert ran.code != 70
    assert "plugin \"Odd\" failed: KeyError: 'team' (odd.py:4)" in ran.out


def test_ctrl_c_tells_which_plugin_was_being_called(fenced):
    """One that sleeps or never answers is ended by it."""
    Path("odd.py").write_text(
        "from schedctl.framework import *\nclass Odd(FilterPlugin):\n"
        "    def filter(self, cycle, nodes):\n        self.wait()\n"
        "    def wait(self):\n        raise KeyboardInterrupt\n"
    )
    ran = fenced("explain", "pod", "web", "-f", "cluster.yaml", "--plugin", "odd.py")
    assert (ran.code, ran.out, ran.err) == (130, "", "interrupted in plugin Odd (odd.py:6)\n")


def test_a_failing_post_bind_is_warned_of_on_standard_error(fenced):
    Path("odd.py").write_text(
        "from schedctl.framework import *\nclass Odd(PostBindPlugin):\n"
        "    def post_bind(self, cycle, node_name):\n        return {}['team']\n"
    )
    Path("pod.yaml").write_text(CLUSTER.rpartition("---")[2].replace("nobodys", "more"))
    ran = fenced("simulate", "pod.yaml", "-f", "cluster.yaml", "--plugin", "odd.py")
    assert ran.code == 0
    assert ran.err.count("warning: plugin \"Odd\" failed: KeyError: 'team' (odd.py:4)") == 1


def test_plugins_are_listed_with_where_they_come_from(fenced):
    listed = fenced("plugins", "list", "--plugin", "team_fence.py")
    rows = [line.split() for line in listed.out.splitlines()]
    assert ["TeamFence", "team_fence.py", "-", "yours", "-"] in rows
    items = json.loads(fenced("plugins", "list", "--plugin", "team_fence.py", "-o", "json").out)["items"]
    assert {item["origin"] for item in items[:-1]} == {"Kubernetes"}
    assert items[-1]["origin"] == "team_fence.py"
    assert items[-1]["extensionPoints"] == ["filter", "score"]


def test_a_profile_shows_them(fenced):
    Path("config.yaml").write_text(CONFIGURATION)
    shown = fenced("profiles", "show", "config.yaml", "--plugin", "team_fence.py").out
    assert "TeamFence x3" in shown


# -- new ---------------------------------------------------------------------------------


def test_every_extension_point_has_a_skeleton_whose_tests_pass(schedctl, tmp_path):
    for point in _PIECES:
        assert schedctl("plugins", "new", f"One{point}", "--point", point, "--folder", str(tmp_path)).code == 0
    every = ",".join(_PIECES)
    assert schedctl("plugins", "new", "Every", "--point", every, "--folder", str(tmp_path), "--package").code == 0
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout
    lint = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "E,F,W", "--line-length", "120", "."],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert lint.returncode == 0, lint.stdout


def test_nothing_is_ever_overwritten(fenced):
    before = Path("team_fence.py").read_text()
    Path("test_team_fence.py").unlink()
    ran = fenced("plugins", "new", "TeamFence", "--point", "permit")
    assert (ran.code, ran.out) == (2, "")
    assert "team_fence.py exists already" in ran.err
    assert Path("team_fence.py").read_text() == before
    assert not Path("test_team_fence.py").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["team-fence"], 'invalid plugin name "team-fence"'),
        (["A", "--point", "filtre"], 'unknown extension point "filtre"'),
        (["A", "--point", ","], "no extension point given"),
    ],
)
def test_what_cannot_be_written_is_refused(arguments, message, schedctl, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = schedctl("plugins", "new", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert not list(tmp_path.iterdir())


# -- check -------------------------------------------------------------------------------


def test_a_plugin_that_keeps_the_laws_is_checked_with_0(fenced):
    ran = fenced("plugins", "check", "team_fence.py", "-f", "cluster.yaml", "--clusters", "5")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "TeamFence of team_fence.py: filter, score",
        "  slice: holds",
        "  order: holds",
        "  purity: holds",
        "  range: holds",
        "  reserve: no Reserve",
        "  state: holds",
        "  signature: nothing declared",
        "  following: nothing declared",
        "  template: nothing declared",
        "  extremes: nothing declared",
    ]


def test_a_plugin_that_breaks_a_law_is_checked_with_1(fenced):
    Path("odd.py").write_text(
        "from schedctl.framework import *\nclass Odd(ScorePlugin):\n"
        "    def score(self, cycle, nodes):\n        return nodes.pod_count + 101\n"
    )
    ran = fenced("plugins", "check", "odd.py", "-f", "cluster.yaml", "--clusters", "0")
    assert ran.code == 1
    assert "  range: range: Odd normalises to [101, 101]; pod default/web (in cluster.yaml)" in ran.out


def test_a_plugin_that_does_nothing_in_any_cluster_is_told_so(fenced):
    Path("odd.py").write_text(
        "from schedctl.framework import *\nclass Odd(FilterPlugin):\n    out = Reason('out of order')\n"
        "    @per_node\n    def filter(self, cycle, node):\n"
        "        return self.out() if node.labels.get('order') == 'out' else None\n"
    )
    arguments = ("plugins", "check", "odd.py", "--clusters", "5")
    ran = fenced(*arguments)
    assert ran.code == 0
    assert "  slice: saw nothing happen: Filter rejected no node" in ran.out
    assert ran.err == "hint: give a cluster in which Odd has something to reject or to prefer: -f FILE\n"
    Path("own.yaml").write_text(CLUSTER.replace("team: blue", "order: out"))
    ran = fenced(*arguments, "-f", "own.yaml")
    assert "  slice: holds\n" in ran.out
    assert ran.err == ""


def test_a_plugin_that_no_law_is_about_is_told_so(fenced):
    Path("odd.py").write_text(
        "from schedctl.framework import *\nclass Odd(PostBindPlugin):\n"
        "    def post_bind(self, cycle, node_name):\n        pass\n"
    )
    ran = fenced("plugins", "check", "odd.py")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Odd of odd.py: postBind\n  no law applies: no PreFilter, Filter, Score or Reserve\n"


def test_a_plugin_that_fails_whatever_it_is_asked_is_told_so_once(fenced):
    Path("odd.py").write_text(
        "from schedctl.framework import *\nclass Odd(FilterPlugin):\n"
        "    def filter(self, cycle, nodes):\n        raise ValueError('\\x1b[31mred')\n"
    )
    ran = fenced("plugins", "check", "odd.py", "--clusters", "9")
    assert ran.code == 1
    (line,) = ran.out.splitlines()[1:]
    assert line.startswith('  every law: plugin "Odd" failed: ValueError: \\x1b[31mred (odd.py:4); pod ')


def test_a_plugin_is_checked_with_the_arguments_of_a_configuration_and_a_state(fenced):
    Path("limit.py").write_text(
        "from schedctl.framework import *\nimport numpy as np\n"
        "class LimitArgs(PluginArgs, frozen=True):\n    topScore: int = 100\n"
        "class Limit(ScorePlugin):\n    args_type = LimitArgs\n"
        "    def score(self, cycle, nodes):\n        return np.full(len(nodes), self.args.topScore)\n"
    )
    Path("limit.yaml").write_text(
        CONFIGURATION.replace("TeamFence", "Limit") + "  pluginConfig: [{name: Limit, args: {topScore: 101}}]\n"
    )
    arguments = ("plugins", "check", "limit.py", "-f", "cluster.yaml", "--clusters", "0")
    assert fenced(*arguments).code == 0
    ran = fenced(*arguments, "--scheduler-config", "limit.yaml")
    assert ran.code == 1
    assert "range: Limit normalises to [101, 101]" in ran.out
    Path("config.yaml").write_text(CONFIGURATION.replace("{name: TeamFence, weight: 3}", ""))
    ran = fenced(*arguments, "--scheduler-config", "config.yaml")
    assert (ran.code, "no profile of config.yaml enables Limit" in ran.err) == (2, True)


def test_what_is_no_plugin_is_checked_with_2(fenced):
    assert fenced("plugins", "check", "json:loads").code == 2


@pytest.mark.parametrize(
    "arguments",
    [("validate", "config.yaml"), ("show", "config.yaml"), ("diff", "config.yaml", "default")],
    ids=" ".join,
)
def test_configurations_that_name_a_plugin_are_looked_at_with_it(arguments, fenced):
    Path("config.yaml").write_text(CONFIGURATION)
    assert fenced("profiles", *arguments).code == 2
    ran = fenced("profiles", *arguments, "--plugin", "team_fence.py")
    assert (ran.code, ran.err) == (0, "")


GATED = """
apiVersion: v1
kind: Pod
metadata: {name: api}
spec: {containers: [{name: api, image: api}]}
"""
POLICY_TEST = """
apiVersion: schedctl.dev/v1alpha1
kind: CheckPolicyTest
metadata: {name: the fence keeps pods without a team out}
spec:
  state: [cluster.yaml]
  manifests: [api.yaml]
  expect: {exitCode: 1, results: [{check: schedulable, subject: Pod default/api, outcome: Violated}]}
"""


@pytest.fixture
def gate(fenced):
    """The folder of `fenced`, with a pod that TeamFence alone rejects, and a test of policies that says so."""
    Path("api.yaml").write_text(GATED)
    Path("fence.test.yaml").write_text(POLICY_TEST)
    Path("config.yaml").write_text(CONFIGURATION)
    return fenced


def test_check_judges_by_a_plugin(gate):
    without = gate("check", "api.yaml", "-f", "cluster.yaml")
    ran = gate("check", "api.yaml", "-f", "cluster.yaml", "--plugin", "team_fence.py")
    assert (without.code, ran.code) == (0, 1)
    assert "1 node: node(s) belong to team red" in ran.out


@pytest.mark.parametrize("configuration", [(), ("--scheduler-config", "config.yaml")])
def test_tests_of_policies_judge_by_a_plugin(gate, configuration):
    assert gate("test", "fence.test.yaml").code == 1
    assert gate("test", "fence.test.yaml", "--plugin", "team_fence.py", *configuration).code == 0


def test_tests_follow_the_configuration_unless_they_set_their_own(gate):
    Path("no-fit.yaml").write_text(
        CONFIGURATION.replace(
            "multiPoint: {enabled: [{name: TeamFence, weight: 3}]}", "filter: {disabled: [{name: '*'}]}"
        )
    )
    options = ("test", "fence.test.yaml", "--plugin", "team_fence.py", "--scheduler-config", "no-fit.yaml")
    assert gate(*options).code == 1
    Path("fence.test.yaml").write_text(POLICY_TEST + "  options: {schedulerConfig: config.yaml}\n")
    assert gate(*options).code == 0


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        pytest.param("--plugin", "missing.py", "missing.py", id="a plugin that is not there"),
        pytest.param("--scheduler-config", "missing.yaml", "missing.yaml", id="a configuration that is not there"),
        pytest.param("--scheduler-config", "-", "standard input can be read only once", id="standard input"),
    ],
)
def test_a_mistake_in_an_option_is_no_failed_test(gate, option, value, message):
    ran = gate("test", "fence.test.yaml", option, value)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
