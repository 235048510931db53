"""``schedctl bind``: prints, and sends only when a flag on the command line says so."""

from __future__ import annotations

import io
import json
import os
import re
import signal

import jsonschema
import msgspec
import pytest
import yaml

from schedctl.api.gaps import Gap
from schedctl.live import listing, watching
from schedctl.live.connections import Connection
from schedctl.session.schemas import SCHEMAS
from tests.live.pretend_servers import PretendServer
from tests.live.test_binding import BINDING, WEB, node, pod

PROFILE = "profiles: [{schedulerName: ours}]"
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def server(monkeypatch) -> PretendServer:
    """A cluster that every live command talks to."""
    theirs = pod("theirs", schedulerName="default-scheduler")
    server = PretendServer(node("node-1"), node("node-2"), pod("web"), pod("db", "node-1"), theirs)
    monkeypatch.setattr(Connection, "open", lambda access: server)
    monkeypatch.setattr(listing, "read", lambda connection, *kinds, **options: connection.list_objects())
    return server


@pytest.fixture
def bind(schedctl, server, tmp_path):
    """``schedctl bind`` with a configuration that serves ``ours``."""
    file = tmp_path / "scheduler.yaml"
    file.write_text(HEADER + PROFILE)

    def run(*arguments: str):
        return schedctl("bind", *arguments, "--scheduler-config", str(file))

    return run


def run_at_a_terminal(monkeypatch, answer: str) -> None:
    stdin = io.StringIO(answer)
    stdin.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", stdin)


@pytest.mark.parametrize(
    "words", [("shop/web",), ("pod", "web", "-n", "shop"), ("pod", "shop/web"), ("pod/web", "-n", "shop")]
)
def test_bind_without_flags_prints_the_binding_and_sends_nothing(bind, server, words):
    result = bind(*words)
    first, _, rest = result.out.partition("\n\n")
    binding, _, last = rest.partition("\n\n")
    assert first.startswith("pod shop/web would be bound to node-2 (score ")
    assert yaml.safe_load(binding)["target"] == {"apiVersion": "v1", "kind": "Node", "name": "node-2"}
    assert yaml.safe_load(binding)["metadata"]["uid"] == server.objects[WEB]["metadata"]["uid"]
    assert "dry run, nothing was changed" in last
    assert result.code == 0
    assert all(method == "GET" for method, _, _ in server.requests)


def test_execute_with_yes_binds(bind, server):
    result = bind("shop/web", "--execute", "--yes")
    assert result.out.startswith("pod shop/web is bound to node-2")
    assert (result.code, result.err) == (0, "")
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


def test_execute_prompts_and_binds_on_yes(bind, server, monkeypatch):
    run_at_a_terminal(monkeypatch, "y\n")
    result = bind("shop/web", "--execute")
    assert "Bind shop/web to node-2 in context pretended? [y/N]" in result.err
    assert "kind: Binding" in result.err
    assert result.out.startswith("pod shop/web is bound to node-2")
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_execute_prompts_and_sends_nothing_on_no(bind, server, monkeypatch, answer):
    run_at_a_terminal(monkeypatch, answer)
    result = bind("shop/web", "--execute")
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith("[y/N] nothing was sent\n")
    assert result.err.count("nothing was sent") == 1
    assert server.writes() == []


def test_end_of_input_is_a_no(bind, server, monkeypatch):
    run_at_a_terminal(monkeypatch, "")
    assert bind("shop/web", "--execute").code == 130
    assert server.writes() == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--execute",), "standard input is not a terminal"),
        (("--execute", "--dry-run=client"), "--dry-run=client sends nothing"),
        (("--dry-run=maybe",), "--dry-run takes none, client, server"),
        (("--execute", "--yes", "-f", "fixtures/clusters/shop"), "-f reads files"),
        (("--execute", "--yes", "--live", "-f", "fixtures/clusters/shop"), "-f reads files"),
        (("--dry-run=server", "-f", "fixtures/clusters/shop"), "-f reads files"),
        (("--node", "node-9"), 'node "node-9" not found'),
    ],
)
def test_contradicting_options_are_refused(bind, server, arguments, complaint):
    result = bind("shop/web", *arguments)
    assert (result.code, result.out) == (2, "")
    assert complaint in result.err
    assert server.writes() == []


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("deploy/web",),
        ("shop/web", "deploy/web"),
        ("pod", "nobody", "-n", "shop"),
        ("-l", "app=nobody"),
        ("-n", "shop", "-l", "app=db"),
        ("shop/web", "shop/theirs", "--node", "node-1"),
    ],
)
def test_only_pods_that_are_there_are_bound(bind, server, words):
    assert bind(*words, "--execute", "--yes").code == 2
    assert server.writes() == []


def test_environment_variables_cannot_set_yes(bind, server, monkeypatch):
    for name in ("EXECUTE", "YES", "BIND_EXECUTE", "BIND_YES", "BIND", "FORCE_SCHEDULER", "DRY_RUN"):
        monkeypatch.setenv(f"SCHEDCTL_{name}", "true")
    bind("shop/web")
    assert server.writes() == []


@pytest.mark.parametrize("key", ["bind", "execute", "yes", "consent", "forceScheduler"])
def test_settings_file_cannot_set_yes(schedctl, server, monkeypatch, tmp_path, key):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scheduler.yaml").write_text(HEADER + PROFILE)
    for text in (f"{key}: true", f"{key}: {{execute: true, yes: true}}"):
        (tmp_path / ".schedctl.yaml").write_text(f"apiVersion: schedctl.dev/v1alpha1\nkind: Config\n{text}\n")
        assert schedctl("bind", "shop/web", "--scheduler-config", "scheduler.yaml").code == 0
    assert server.writes() == []


def test_dry_run_server_changes_nothing(bind, server):
    result = bind("shop/web", "--dry-run=server")
    assert result.out.startswith("pod shop/web would be bound by the API server to node-2")
    assert result.code == 0
    assert server.writes() == []
    assert ("POST", BINDING, True) in server.requests


def test_requested_node_is_used_if_feasible(bind, server):
    result = bind("shop/web", "--node", "node-1", "--execute", "--yes")
    assert "kube-scheduler would choose node-2" in result.out
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"


def test_infeasible_node_is_refused_with_the_rejecting_plugin(bind, server):
    server.change("/api/v1/nodes/node-1", lambda obj: obj["spec"].update(unschedulable=True))
    result = bind("shop/web", "--node", "node-1", "--execute", "--yes")
    assert result.code == 4
    assert result.out.startswith(
        "pod shop/web: NOT BOUND (node-1 is rejected by NodeUnschedulable: node(s) were unschedulable)"
    )
    assert "\nwithout `--node`: pod shop/web → node-2 (score " in result.out
    assert server.writes() == []


def test_inconclusive_decision_is_not_bound(bind, server, monkeypatch):
    gap = Gap("Service", "Forbidden")
    server.change(WEB, lambda obj: obj["metadata"].update(labels={"app": "web"}))
    monkeypatch.setattr(
        listing, "read", lambda *_, **__: msgspec.structs.replace(server.list_objects(), missing=(gap,))
    )
    result = bind("shop/web", "--execute", "--yes")
    assert result.code == 5
    assert result.out.startswith("pod shop/web: INCONCLUSIVE (Services not known")
    assert "hint: the role schedctl-reader in deploy/clusterrole.yaml" in result.out
    assert result.out.endswith("nothing was sent: schedctl does not bind a pod when the answer is inconclusive\n")
    assert server.writes() == []


def test_shipped_profile_is_suggested_for_its_scheduler_name(bind, server):
    server.put(pod("apart", schedulerName="spreading"))
    result = bind("shop/apart")
    assert (result.code, result.err) == (
        4,
        "hint: `--profile spreading` follows the spreading.yaml that ships with schedctl\n",
    )


def test_files_over_the_live_state_are_mentioned(schedctl, server, tmp_path):
    (tmp_path / "large.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: large}\n")
    result = schedctl("explain", "shop/web", "--profile", "default", "--live", "-f", str(tmp_path / "large.yaml"))
    line = f"what if: 1 object of {tmp_path}/large.yaml replaced or added in the cluster as read"
    assert line in result.out
    assert (
        line in schedctl("bind", "shop/web", "--profile", "default", "--live", "-f", str(tmp_path / "large.yaml")).out
    )


class Quiet:
    """A watch of a cluster in which nothing happens."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def events(self, seconds):
        return []


def test_watch_asks_plugins(schedctl, server, tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "Watch", Quiet)
    (tmp_path / "never.py").write_text(
        "from schedctl.framework import FilterPlugin, Reason, per_node\n"
        "class Never(FilterPlugin):\n    no = Reason('never')\n"
        "    @per_node\n    def filter(self, cycle, node):\n        return self.no()\n"
    )
    ran = schedctl("watch", "shop/theirs", "--timeout", "1ms", "--plugin", str(tmp_path / "never.py"))
    assert (ran.code, ran.err) == (1, "")
    assert "2 never" in ran.out


FAILING = """
import sys
from schedctl.framework import *


class Odd(FilterPlugin, ScorePlugin, PostFilterPlugin, ReservePlugin, PermitPlugin):
    memory_only = True

    def filter(self, cycle, nodes):
        return self.fail("filter", Verdicts())

    def score(self, cycle, nodes):
        return self.fail("score", nodes.pod_count)

    def post_filter(self, cycle, nodes, codes):
        return self.fail("post_filter", None)

    def reserve(self, cycle, node_name):
        return self.fail("reserve", SUCCESS)

    def unreserve(self, cycle, node_name):
        self.fail("unreserve", None)

    def permit(self, cycle, node_name):
        return self.fail("permit", SUCCESS)

    def events_to_register(self):
        return self.fail("events_to_register", ())

    def fail(self, point, otherwise):
        return sys.exit(7) if point == POINT else otherwise
"""


@pytest.mark.parametrize("point", ["filter", "score", "reserve", "permit", "events_to_register"])
@pytest.mark.parametrize(
    "words", [("watch", "shop/theirs", "--timeout", "1ms"), ("bind", "shop/theirs"), ("calibrate",)]
)
def test_plugin_that_ends_the_process_is_told_with_its_line(schedctl, server, tmp_path, monkeypatch, point, words):
    monkeypatch.setattr(watching, "Watch", Quiet)
    (tmp_path / "odd.py").write_text(f"POINT = {point!r}\n{FAILING}")
    ran = schedctl(*words, "--plugin", str(tmp_path / "odd.py"))
    assert ran.code in (0, 1, 2, 4, 5)
    if words != ("calibrate",) or point == "events_to_register":  # which has no placement to make again here
        assert re.search(r"SystemExit: 7 \(odd\.py:\d+\)", ran.out + ran.err)


def test_watch_refuses_files(schedctl):
    assert "--filename" not in schedctl("watch", "--help").out
    assert "watch reads the live cluster" in schedctl("watch", "shop/web", "-f", "x.yaml").err


def test_a_pod_that_fits_nowhere_is_not_bound(bind, server):
    for name in ("node-1", "node-2"):
        server.change(f"/api/v1/nodes/{name}", lambda obj: obj["spec"].update(unschedulable=True))
    planned = bind("shop/web")
    assert (planned.code, "dry run, nothing was changed; kube-scheduler" in planned.out) == (0, True)
    assert bind("shop/web", "--exit-code").code == 1
    result = bind("shop/web", "--execute", "--yes")
    assert result.code == 1
    assert "\nnothing was changed; kube-scheduler" in result.out
    assert "dry run" not in result.out
    assert result.out.startswith("pod shop/web: UNSCHEDULABLE (0/2 nodes feasible)")
    assert server.writes() == []


def test_a_pod_that_needs_a_preemption_is_not_bound(bind, server):
    whole = [{"name": "app", "image": "app", "resources": {"requests": {"cpu": "4"}}}]
    server.delete("/api/v1/nodes/node-2")
    server.put(pod("web", priority=10, containers=whole))
    result = bind("shop/web", "--execute", "--yes")
    assert result.code == 1
    assert "preemption would make room on node-1 by evicting\n  shop/db" in result.out
    assert server.writes() == []


def test_a_gated_pod_is_not_bound(bind, server):
    server.change(WEB, lambda obj: obj["spec"].update(schedulingGates=[{"name": "wait"}]))
    result = bind("shop/web", "--execute", "--yes")
    assert (result.code, result.out.splitlines()[0]) == (1, "pod shop/web: GATED (waits for wait)")
    assert server.writes() == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda obj: obj["spec"].update(nodeName="node-1"), "it is already bound to node-1"),
        (lambda obj: obj["status"].update(phase="Succeeded"), "it has ended (Succeeded)"),
    ],
)
def test_pod_that_is_not_pending_is_refused(bind, server, change, why):
    server.change(WEB, change)
    result = bind("shop/web", "--execute", "--yes")
    assert (result.code, result.out) == (4, f"pod shop/web: NOT BOUND ({why})\n")
    assert server.writes() == []


def test_pods_of_the_clusters_own_scheduler_need_force(schedctl, server):
    printed = schedctl("bind", "shop/theirs")
    assert printed.code == 0
    assert "`--execute` needs `--force-scheduler`" in printed.out
    refused = schedctl("bind", "shop/theirs", "--execute", "--yes")
    assert refused.code == 4
    assert "bound by the cluster's own kube-scheduler" in refused.out
    assert server.writes() == []
    assert schedctl("bind", "shop/theirs", "--execute", "--yes", "--force-scheduler").code == 0


def test_pods_of_a_scheduler_without_a_profile_are_refused(schedctl, server):
    result = schedctl("bind", "shop/web", "--execute", "--yes", "--force-scheduler")
    assert result.code == 4
    assert "no profile has schedulerName ours" in result.out
    assert result.err == "hint: `--scheduler-config FILE` reads the configuration of the scheduler ours\n"
    forced = schedctl("bind", "shop/web", "--execute", "--yes", "--force-scheduler", "--profile", "default")
    assert forced.code == 0, forced
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


@pytest.mark.parametrize(
    ("verb", "text"),
    [
        ("filterVerb", "INCONCLUSIVE (Extenders not known"),
        ("bindVerb", "INCONCLUSIVE (kube-scheduler would leave the bind to Extender:http://x"),
    ],
)
def test_pod_that_interests_an_extender_is_not_bound(schedctl, server, tmp_path, verb, text):
    file = tmp_path / "scheduler.yaml"
    extender = f'extenders: [{{urlPrefix: "http://x", {verb}: ask}}]'
    file.write_text(f"{HEADER}{PROFILE}\n{extender}\n")
    result = schedctl("bind", "shop/web", "--execute", "--yes", "--scheduler-config", str(file))
    assert result.code == 5
    assert text in result.out
    assert server.writes() == []


def test_changed_state_is_reported_with_exit_code_4(bind, server):
    def hook(method: str, path: str) -> None:
        if path == "/api/v1/nodes/node-2":
            server.before = lambda method, path: None
            server.change(path, lambda obj: obj["spec"].update(unschedulable=True))

    server.before = hook
    result = bind("shop/web", "--execute", "--yes")
    assert (result.code, result.out) == (4, "")
    assert result.err == (
        "error: pod shop/web is not bound to node-2: node node-2 has changed: spec.unschedulable\n"
        "hint: the cluster changed since the decision; run the command again\n"
    )


def test_changes_during_the_bind_are_a_warning(bind, server):
    def hook(method: str, path: str) -> None:
        if path == BINDING:
            server.delete("/api/v1/nodes/node-2")

    server.before = hook
    result = bind("shop/web", "--execute", "--yes")
    assert result.code == 4
    assert "THE CLUSTER CHANGED DURING THE BIND" in result.out
    assert "node node-2 is gone" in result.out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_while_sending_is_an_interrupt(bind, server, number):
    before = signal.signal(number, signal.SIG_DFL)  # whoever started the tests may have it ignored, as nohup does

    def hook(method: str, path: str) -> None:
        if path == "/api/v1/nodes/node-2":
            os.kill(os.getpid(), number)

    server.before = hook
    try:
        assert bind("shop/web", "--execute", "--yes").code == 130
        assert server.writes() == []
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("flags", [(), ("--execute", "--yes"), ("--dry-run=server",), ("--node", "node-1")])
def test_report_matches_its_schema(bind, server, flags):
    result = bind("shop/web", *flags, "-o", "json")
    document = json.loads(result.out)
    jsonschema.validate(document, SCHEMAS["BindReport"]())
    outcome = {"--execute": "Bound", "--dry-run=server": "Accepted"}.get(flags[0] if flags else "", "Planned")
    assert document["summary"]["outcome"] == outcome
    assert document["summary"]["exitCode"] == result.code == 0
    assert document["binding"]["kind"] == "Binding"
    assert document["cluster"] == "context pretended"


def test_output_name_prints_pod_and_node(bind, server):
    assert bind("shop/web", "-o", "name").out == "pod/web node/node-2\n"


def test_the_binding_of_a_pod_in_a_file(schedctl, tmp_path):
    objects = [node("node-1"), pod("web", schedulerName="default-scheduler")]
    (tmp_path / "state.json").write_text("\n".join(map(json.dumps, objects)))
    result = schedctl("bind", "shop/web", "-f", str(tmp_path / "state.json"), "-o", "jsonpath={.binding.target.name}")
    assert (result.code, result.out.strip()) == (0, "node-1")


def test_control_characters_are_stripped_from_the_prompt(bind, server, monkeypatch):
    server.name = "context \x1b[31mred"
    run_at_a_terminal(monkeypatch, "n\n")
    assert "\x1b" not in bind("shop/web", "--execute").err
