"""The commands there are, and every one helps."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from schedctl import KUBERNETES_VERSION, cli, shipped
from schedctl.cli import completion, profiles, running
from schedctl.cli.help_text import SECTIONS
from schedctl.config import loading
from schedctl.config.expansion import expand_all
from schedctl.plugins.in_tree import IN_TREE

ROOT = Path(__file__).parents[2]
SHOP = "fixtures/clusters/shop"
COMMANDS = [
    "bind",
    "calibrate",
    "capacity",
    "check",
    "completion",
    "demo",
    "drain",
    "explain",
    "help",
    "mcp",
    "n-1",
    "nodes",
    "plugins check",
    "plugins list",
    "plugins new",
    "profiles convert",
    "profiles diff",
    "profiles list",
    "profiles show",
    "profiles validate",
    "schema",
    "simulate",
    "snapshot create",
    "snapshot diff",
    "snapshot inspect",
    "snapshot redact",
    "sweep",
    "test",
    "trace diff",
    "trace show",
    "version",
    "watch",
]


def commands_of(group, path=()) -> list[str]:
    """The commands below a group, as one types them."""
    found = []
    for name, command in group.commands.items():
        inside = getattr(command, "commands", None)
        found += commands_of(command, (*path, name)) if inside else [" ".join((*path, name))]
    return sorted(found)


def test_these_are_all():
    from schedctl.cli.commands import command

    assert commands_of(command) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_helps_and_gives_examples(command, schedctl):
    ended = schedctl(*command.split(), "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"Usage: schedctl {command} ")
    assert "Examples:" in ended.out
    assert f"  schedctl {command}" in ended.out


@pytest.mark.parametrize("group", ["", "plugins", "profiles", "snapshot", "trace"])
def test_no_summary_of_a_command_is_cut(group, schedctl):
    assert "..." not in schedctl(*group.split(), "--help").out.partition("Commands:")[2]


@pytest.mark.parametrize("command", ["", *COMMANDS, "plugins", "profiles", "snapshot", "trace"])
def test_help_fits_80_columns_and_leaks_nothing_of_its_making(command, schedctl, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = schedctl(*command.split(), "--help").out
    assert max(map(len, out.splitlines())) <= 80
    assert re.findall(r"<list|\[default:|x>=|\x08|\[required", out) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_first_and_each_option_once(command, schedctl):
    out = schedctl(*command.split(), "--help").out
    options = re.findall(r"^ {2}(?:-., | {4})(--[a-z-]+)", out, re.MULTILINE)
    assert len(options) == len(set(options))
    assert out.index("Examples:") < out.index("  -h, --help")
    assert not any(re.search(rf"^{section}:", out.partition("Examples:")[0], re.MULTILINE) for section in SECTIONS)


def test_the_options_of_explain_are_in_sections(schedctl):
    out = schedctl("explain", "--help").out
    expected = ["Examples", "Arguments", "Select", "Cluster", "What-if", "Scheduler", "Output", "Extenders"]
    assert re.findall(r"^([A-Z][a-z-]+):$", out, re.MULTILINE) == expected


def test_draining_is_not_an_option_of_drain(schedctl):
    assert "--drain" not in schedctl("drain", "--help").out
    assert schedctl("drain", "general-a-1", "--drain", "general-a-2", "-f", SHOP).code == 2


@pytest.mark.parametrize("command", ["explain", "snapshot create"])
def test_help_of_a_command_is_the_same_in_both_forms(command, schedctl):
    assert schedctl("help", *command.split()) == schedctl(*command.split(), "--help")


def test_help_alone_is_the_help_of_all(schedctl):
    assert schedctl("help") == schedctl("--help")


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        pytest.param(("-n", "shop"), (), id="a namespace before the command"),
        pytest.param(("--namespace=shop",), (), id="written in one word"),
        pytest.param(("-n", "batch"), ("-n", "shop"), id="the one behind the command counts"),
    ],
)
def test_a_namespace_may_stand_before_the_command(before, behind, schedctl):
    pod = ("pod", "web-7d9c6b5f4d-jbljm", "-f", SHOP, "-o", "name")
    assert schedctl(*before, "explain", *pod, *behind) == schedctl("explain", *pod, "-n", "shop")
    assert schedctl(*before, "explain", *pod, *behind).code == 0


def test_a_command_without_namespaces_takes_no_notice_of_one(schedctl):
    assert schedctl("-n", "shop", "version") == schedctl("version")


def test_the_demo_explains_the_pod_of_the_example_cluster(schedctl):
    ended = schedctl("demo")
    assert ended.code == 0
    assert ended.out.startswith("pod shop/web-7d9c6b5f4d-jbljm: UNSCHEDULABLE")
    command = ended.err.splitlines()[0].removeprefix("$ schedctl ").split()
    assert schedctl(*command).out == ended.out


def test_the_demo_is_part_of_the_wheel():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included["fixtures"] == "schedctl/_data/fixtures"
    assert shipped.scenario().relative_to(shipped.fixtures()) == Path("clusters/shop")


def test_explain_says_first_that_it_is_not_kubectl_explain(schedctl):
    first = schedctl("explain", "--help").out.partition("\n\n")[2].partition("\n\n")[0]
    assert "not `kubectl explain`" in " ".join(first.split())


def test_without_a_command_there_is_help(schedctl):
    ended = schedctl()
    assert ended.code == 0
    assert all(f"\n  {command.split()[0]} " in ended.out for command in COMMANDS)


def test_the_version_can_be_asked_for_as_an_option(schedctl):
    assert schedctl("--version") == schedctl("version") == schedctl("version", "-o", "text")


def test_a_schema_that_is_not_there(schedctl):
    ended = schedctl("schema", "Report")
    assert (ended.code, ended.err) == (
        2,
        'error: unknown document kind "Report"\nhint: the kinds are: '
        "BindReport, CalibrationReport, CapacityReport, CheckBaseline, CheckPolicy, CheckPolicyTest, "
        "CheckPolicyTestReport, CheckReport, Config, DrainReport, ExplainComparison, ExplainReport, "
        "FeatureGateList, GangBindReport, NodeExplainReport, NodeLossReport, NodeGroups, NodesReport, "
        "PluginList, ProfileDiff, ProfileList, SimulationComparison, SimulationReport, Snapshot, "
        "SnapshotDiff, SnapshotReport, Study, SweepHead, SweepReport, SweepRow, TraceDiff, TraceReport, "
        "WatchLine\n",
    )


# -- plugins -----------------------------------------------------------------------------


UNASKED = {"PrioritySort", "NodeName", "DefaultBinder"}
"""Plugins with no say in the cycles the oracle is asked about: it does not queue or bind, and no pod has a node."""


def test_every_plugin_is_exact_and_names_its_proof(schedctl):
    items = json.loads(schedctl("plugins", "list", "-o", "json").out)["items"]
    assert {item["name"]: item["fidelity"] for item in items} == dict.fromkeys(IN_TREE, "exact")
    assert {item["name"] for item in items if item["proof"] is None} == UNASKED
    assert {item["proof"]["differences"] for item in items if item["proof"]} == {0}
    assert {item["proof"]["kubernetesVersion"] for item in items if item["proof"]} == {KUBERNETES_VERSION}


def test_the_proof_covers_every_family_with_500_cases_none_left_open():
    families = json.loads((ROOT / "conformance/proof.json").read_bytes())["families"]
    assert set(families) == {path.name.partition(".")[0] for path in (ROOT / "conformance/corpus").glob("v*/*.gz")}
    assert {name for name, found in families.items() if found["cases"] < 500 or found["notModelled"]} == set()


def test_plugins_are_listed_in_the_order_of_the_default_profile(schedctl):
    assert schedctl("plugins", "list", "-o", "name").out.split() == list(IN_TREE)


def test_weights_are_those_of_the_default_profile(schedctl):
    items = json.loads(schedctl("plugins", "list", "-o", "json").out)["items"]
    weights = {item["name"]: item["weight"] for item in items}
    assert (weights["TaintToleration"], weights["NodeResourcesFit"], weights["NodeName"]) == (3, 1, 0)


# -- profiles ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [path.stem for path in sorted((ROOT / "profiles").glob("*.yaml"))])
@pytest.mark.parametrize("output", ["json", "yaml"])
def test_a_profile_spelled_out_means_the_same(name, output, schedctl):
    written = loading.load((ROOT / f"profiles/{name}.yaml").read_bytes())
    spelled = loading.load(schedctl("profiles", "show", name, "-o", output).out)
    assert expand_all(spelled, IN_TREE) == expand_all(written, IN_TREE)
    for mine, theirs in zip(spelled.profiles, written.profiles, strict=True):
        for plugin in mine.plugins.enabled_names():
            assert mine.args(plugin) == theirs.args(plugin)


def test_a_file_of_ones_own_can_be_shown(schedctl):
    assert schedctl("profiles", "show", "profiles/default.yaml") == schedctl("profiles", "show", "default")


def test_the_name_of_a_profile_cannot_disturb_the_terminal(schedctl, tmp_path):
    file = tmp_path / "scheduler.yaml"
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    file.write_text(text + 'profiles: [{schedulerName: "a\\e[2Jb"}]\n', encoding="utf-8")
    ended = schedctl("profiles", "show", str(file))
    assert ended.code == 0
    assert "\x1b" not in ended.out


def test_profiles_can_be_chosen_by_file_and_by_scheduler_name(shop):
    pod = ("shop/fits", "-f", "fixtures/pods/fits.yaml", "-o", "jsonpath={.results[0].profile}")
    assert shop(*pod, "--profile", "bin-packing").out == "bin-packing"
    assert shop(*pod, "--profile", "bin-packing-with-headroom").out == "bin-packing-with-headroom"


def test_every_profile_says_what_it_is_for(schedctl):
    items = json.loads(schedctl("profiles", "list", "-o", "json").out)["items"]
    assert all(item["description"] for item in items)
    assert "default" in {item["name"] for item in items}
    assert profiles.__doc__


# -- completion --------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_prints_a_script(shell, schedctl):
    ended = schedctl("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert running.COMPLETION_VARIABLE in ended.out


def test_there_is_no_completion_for_other_shells(schedctl):
    ended = schedctl("completion", "tcsh")
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("schedctl explain d", ["deploy", "ds"], id="a kind"),
        pytest.param(
            "schedctl explain -f fixtures/clusters/shop -n shop pod cart-db-",
            [f"cart-db-{i}" for i in range(3)],
            id="a pod",
        ),
        pytest.param("schedctl explain -f fixtures/clusters/shop sts c", [], id="nothing of another namespace"),
        pytest.param("schedctl explain -f nowhere.yaml pod c", [], id="nothing of a file that cannot be read"),
        pytest.param("schedctl explain pod c", [], id="nothing without a state"),
        pytest.param("schedctl explain --profile b", ["batch", "bin-packing"], id="a profile"),
        pytest.param("schedctl profiles show s", ["spreading"], id="a profile to show"),
        pytest.param("schedctl v", ["version"], id="a command"),
        pytest.param("schedctl explain -o j", ["json", "jsonpath="], id="an output"),
        pytest.param("schedctl version -o j", ["json"], id="an output of that command"),
        pytest.param("schedctl explain -f fixtures/clusters/shop -n s", ["shop"], id="a namespace"),
        pytest.param(
            "schedctl drain -f fixtures/clusters/shop memory-",
            ["memory-a-1", "memory-b-1", "memory-c-1"],
            id="a node",
        ),
        pytest.param("schedctl explain -f fixtures/clusters/shop --cordon gpu-a", ["gpu-a-1"], id="a node to cordon"),
        pytest.param("schedctl schema CheckR", ["CheckReport"], id="a kind of document"),
        pytest.param("schedctl help sn", ["snapshot"], id="a command to be helped with"),
        pytest.param("schedctl help snapshot re", ["redact"], id="a command of a group"),
        pytest.param("schedctl explain --all-n", ["--all-namespaces"], id="an option"),
    ],
)
def test_what_a_shell_is_offered(line, expected, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv(running.COMPLETION_VARIABLE, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    with pytest.raises(SystemExit) as ended:
        running.run([])
    assert ended.value.code == 0
    assert capsys.readouterr().out.split() == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(["explain", "-o", "j"], ["json", "jsonpath=", ":4"], id="an output, and no files"),
        pytest.param(["explain", "-f", "fixtures/cl"], [":0"], id="files where no word is offered"),
        pytest.param(["explain", "-f", SHOP, "-n", "shop", "pod", "cart-db-2"], ["cart-db-2", ":4"], id="a pod"),
        pytest.param(["ver"], ["version", ":4"], id="a command"),
    ],
)
def test_kubectl_is_offered_words_and_a_directive(words, expected, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(completion.os, "environ", dict(os.environ))
    assert completion.for_kubectl(words) == 0
    assert capsys.readouterr().out.splitlines() == expected


def test_kubectl_finds_the_program_that_completes():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts["kubectl_complete-schedctl"] == "schedctl.cli:complete_for_kubectl"
    assert callable(cli.complete_for_kubectl)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_can_read_the_script(schedctl):
    script = schedctl("completion", "bash").out
    assert subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True).returncode == 0


def test_the_root_help_says_of_each_command_what_its_own_help_says():
    from schedctl.cli.commands import SUMMARIES, command

    assert {name: each.get_short_help_str(limit=100) for name, each in command.commands.items()} == SUMMARIES
