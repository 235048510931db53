"""The contract of exit codes: 0 and 1 are verdicts, from 2 on there is none, and no option of the output changes it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from schedctl.api.kinds import KINDS
from schedctl.errors import NotModelled
from schedctl.explain import explanations

ROOT = Path(__file__).parents[2]
FITS = ("pod", "shop/fits", "-f", "fixtures/pods/fits.yaml")
REFUSED = ("pod", "shop/too-big", "-f", "fixtures/pods/too-big.yaml")
GATED = ("pod", "shop/gated", "-f", "fixtures/pods/gated.yaml")
UNCLEAR = ("pod", "shop/unclear", "-f", "tests/cli/unclear.yaml")
RUN = "from schedctl.cli import main; main()"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(FITS, 0, id="a pod that fits"),
        pytest.param(REFUSED, 0, id="a pod that fits nowhere is an answer as well"),
        pytest.param((*FITS, "--exit-code"), 0, id="a pod that fits, asked for a verdict"),
        pytest.param((*REFUSED, "--exit-code"), 1, id="a pod that fits nowhere, asked for a verdict"),
        pytest.param((*GATED, "--exit-code"), 1, id="a gated pod is not scheduled either"),
        pytest.param((*UNCLEAR,), 5, id="a pod that needs what is not modelled"),
        pytest.param((*UNCLEAR, "--exit-code"), 5, id="which is no verdict"),
        pytest.param(
            (
                "pod",
                "shop/too-big",
                "shop/unclear",
                "-f",
                "fixtures/pods",
                "-f",
                "tests/cli/unclear.yaml",
                "--exit-code",
            ),
            1,
            id="a proved no beats an unclear pod",
        ),
        pytest.param(("--all-pending",), 0, id="all pending pods"),
        pytest.param(("--all-pending", "--exit-code"), 1, id="all pending pods, asked for a verdict"),
    ],
)
def test_answers(shop, arguments, code):
    ended = shop(*arguments)
    assert ended.code == code, ended.err
    assert ended.err == ""


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        pytest.param((), "no pod or workload given", "--all-pending", id="nothing is asked"),
        pytest.param(("pod",), "no pods in namespace default", "-A explains all", id="a kind without a name"),
        pytest.param(("rs",), "no replicasets in namespace default", "in namespace ml", id="another kind alone"),
        pytest.param(("podd", "web-0"), 'unknown kind "podd"', "did you mean `pod`?", id="a misspelt kind"),
        pytest.param(
            ("depoly",), 'no pod or workload "depoly" in any', "the kind `deploy`?", id="a misspelt kind alone"
        ),
        pytest.param(("web-9",), 'no pod or workload "web-9" in any namespace', "", id="a name of nothing"),
        pytest.param(("web", "-n", "batch"), '"web" in namespace batch', "add `-n shop`", id="of another namespace"),
        pytest.param(("pods.v1", "x/y/z"), 'invalid name "x/y/z"', "", id="too many slashes"),
        pytest.param(("pod/a", "deploy"), 'no name given for kind "deploy"', "deploy/NAME", id="a kind in the middle"),
        pytest.param(("pod", "deploy/web"), "names another kind", "give every name its kind", id="two kinds"),
        pytest.param(("pod", "cart-db-9", "-n", "shop"), 'no pod "cart-db-9"', "cart-db-0", id="no such pod"),
        pytest.param(("pod", "cart-db-0"), "in namespace default", "add `-n shop`", id="a pod of another namespace"),
        pytest.param(("deploy", "web2", "-n", "shop"), 'no Deployment "web2"', "web", id="no such deployment"),
        pytest.param(("cronjob", "x", "-n", "shop"), "no CronJob", "namespace batch", id="no such cron job"),
        pytest.param(("pods", "-l", "app=none"), "no pods with these labels", "-A", id="labels no pod has"),
        pytest.param(("pods", "-l", "app=(a"), "cannot read the selector", "-l app=web", id="a selector that is none"),
        pytest.param(("pods", "-l", "a=b c"), "cannot read the selector", "", id="a label value that is none"),
        pytest.param(("pod", "a", "-l", "b"), "were both given", "", id="a name and a selector"),
        pytest.param(("deploy", "--all-pending"), "--all-pending cannot be combined", "", id="pending deployments"),
        pytest.param(("pod", "a", "-n", "b", "-A"), "-n and -A", "", id="one namespace and all"),
        pytest.param((*FITS, "--node", "general-a-9"), "not found", "general-a-", id="no such node"),
        pytest.param((*FITS, "--profile", "binpacking"), "unknown profile", "bin-packing", id="no such profile"),
        pytest.param(
            (*FITS, "--profile", "nope"),
            "unknown profile",
            "bin-packing-with-headroom, default, default-scheduler, gpu-packing, high-availability, spreading",
            id="a profile like none, so scheduler names are listed as well",
        ),
        pytest.param(
            ("pod", "shop/fits", "fixtures/pods/fits.yaml"), '"fixtures/', "is a file: quote a pattern", id="a glob"
        ),
        pytest.param(
            ("--all-pending", "README.md"),
            "names and --all-pending were both given",
            "or repeat -f (`-f README.md`)",
            id="a file",
        ),
        pytest.param(("pod", "README.md"), 'no pod "README.md"', "README.md is a file", id="a file after a kind"),
        pytest.param(
            (*FITS, "--scheduler-config", "profiles/default.yaml", "--profile", "x"),
            'no profile "x" in profiles/default.yaml',
            "default-scheduler",
            id="no such profile in the file",
        ),
        pytest.param((*FITS, "--scheduler-config", "none.yaml"), "none.yaml: cannot be read", "", id="no such file"),
        pytest.param(
            (*FITS, "--scheduler-config", "fixtures/pods/fits.yaml"),
            "fixtures/pods/fits.yaml:",
            "",
            id="a file that is no configuration",
        ),
        pytest.param((*FITS, "-o", "csv"), 'unknown output "csv"', "jsonpath", id="no such output"),
        pytest.param((*FITS, "-o", "jsonpath={.a"), "jsonpath", "", id="a template that is none"),
        pytest.param((*FITS, "--color", "red"), 'invalid --color "red"', "always, never, auto", id="no such colour"),
        pytest.param((*FITS, "--colour"), "no such option: --colour", "explain --help", id="no such option"),
        pytest.param((*FITS, "--limit", "-1"), "", "explain --help", id="a limit below zero"),
    ],
)
def test_mistakes_of_the_caller_end_with_2_and_a_next_step(shop, arguments, message, hint):
    ended = shop(*arguments)
    assert ended.code == 2, ended
    assert ended.out == ""
    first, *rest = ended.err.splitlines()
    assert first.startswith("error: ")
    assert message in first
    assert any(hint in line for line in (first, *rest))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("--all-pending", "-n", "kube-system"), "no pending pods in namespace kube-system\n", id="of one"),
        pytest.param(
            ("ds", "node-exporter", "-n", "kube-system"),
            "DaemonSet kube-system/node-exporter has a pod for each of its 17 nodes;"
            " `--node NAME` explains that of a node\n",
            id="of a DaemonSet that has them all",
        ),
    ],
)
def test_no_pod_to_explain_is_an_answer(shop, arguments, message):
    assert shop(*arguments, "--exit-code") == (0, "", message)


def test_no_pod_is_pending_anywhere(schedctl):
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}"
    pod = (
        "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: a, containers: [{name: c, image: c}]}"
    )
    assert schedctl("explain", "--all-pending", "-f", "-", stdin=node + pod) == (0, "", "no pending pods\n")


def test_that_no_pod_is_pending_says_little_of_an_input_without_pods(schedctl):
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: a}"
    said = "no pending pods: there are no pods at all\nhint: is the input complete?\n"
    assert schedctl("explain", "--all-pending", "-f", "-", stdin=node) == (0, "", said)


def test_a_command_that_is_none_ends_with_2(schedctl):
    ended = schedctl("exlpain")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: no such command 'exlpain'")


def test_without_files_it_is_the_live_cluster_that_is_asked(schedctl):
    ended = schedctl("explain", "pod", "web-0")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith("error: no kubeconfig in ")
    assert "hint: `--kubeconfig FILE` or $KUBECONFIG names one; `-f FILE` reads a snapshot or manifests" in ended.err


def test_the_page_about_pending_pods_says_how_to_fetch_all_that_is_read():
    page = (ROOT / "docs/why-pending.md").read_text(encoding="utf-8")
    fetch = re.search(r"^kubectl get (\S+) -A -o json > cluster\.json$", page, re.MULTILINE)
    assert fetch
    named = {kind.resource for kind in KINDS} - {"devicetaintrules", "podgroups"}  # which not every API server has
    assert sorted(fetch[1].split(",")) == sorted(named)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "no objects", id="nothing at all"),
        pytest.param("kind: [", "<stdin>:2:1: ", id="not YAML"),
        pytest.param(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {priority: high}", "spec.priority", id="a type"
        ),
    ],
)
def test_input_that_cannot_be_used_ends_with_3(schedctl, text, message):
    ended = schedctl("explain", "pod", "a", "-f", "-", stdin=text)
    assert (ended.code, ended.out) == (3, "")
    assert message in ended.err


def test_a_file_that_is_not_there_ends_with_3(schedctl):
    ended = schedctl("explain", "pod", "a", "-f", "nowhere.yaml")
    assert (ended.code, ended.out, ended.err) == (3, "", "error: nowhere.yaml: no such file or folder\n")


@pytest.mark.parametrize("output", ["text", "wide", "json", "yaml", "name", "jsonpath={.summary.exitCode}"])
@pytest.mark.parametrize("more", [(), ("-q",), ("--limit", "1"), ("-v",), ("--matrix",)], ids=" ".join)
def test_no_option_of_the_output_changes_the_verdict(shop, output, more):
    assert shop(*REFUSED, "--exit-code", "-o", output, *more).code == 1


@pytest.mark.parametrize(("arguments", "code"), [(FITS, 0), (REFUSED, 1), (UNCLEAR, 5)], ids=["yes", "no", "unclear"])
def test_the_report_repeats_the_code(shop, arguments, code):
    ended = shop(*arguments, "--exit-code", "-o", "json")
    assert (ended.code, json.loads(ended.out)["summary"]["exitCode"]) == (code, code)


def test_a_bug_ends_with_70_and_shows_its_place_only_on_demand(shop, monkeypatch):
    def broken(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr(explanations, "explain", broken)
    quiet, loud = shop(*FITS), shop(*FITS, "--debug")
    assert (quiet.code, loud.code) == (70, 70)
    assert quiet.err == "error: KeyError: 'oops'\nhint: this is a bug in schedctl; `--debug` shows where\n"
    assert "Traceback" in loud.err
    assert "in broken" in loud.err


def test_what_is_not_modelled_ends_with_5_wherever_it_is_met(shop, monkeypatch):
    def unknown(*_, **__):
        raise NotModelled("Sundial", "sundials", "pod a/b")

    monkeypatch.setattr(explanations, "report", unknown)
    ended = shop(*FITS)
    assert (ended.code, ended.err) == (5, "error: Sundial: sundials are not modelled yet (pod a/b)\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("command", [("version",), ("explain", "--all-pending", "-f", "fixtures/clusters/shop")])
def test_an_output_that_cannot_be_written_ends_it_with_2(command):
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([sys.executable, "-c", RUN, *command], cwd=ROOT, stdout=full, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (2, b"error: cannot write the output: no space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_messages_that_cannot_be_written_leave_the_exit_code_alone():
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([sys.executable, "-c", RUN, "explain", "--foo"], cwd=ROOT, stderr=full)
    assert ended.returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="pipes are told otherwise there")
def test_a_reader_that_goes_away_ends_it_with_141_and_no_word():
    command = ("explain", "--all-pending", "-o", "json", "-f", "fixtures/clusters/shop")
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", RUN, *command], cwd=ROOT, **streams) as running:
        running.stdout.close()
        assert running.wait(60) == 141
        assert running.stderr.read() == b""


def test_an_interruption_ends_it_with_130(shop, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(explanations, "explain", interrupted)
    ended = shop(*FITS)
    assert (ended.code, ended.out, ended.err) == (130, "", "interrupted\n")
