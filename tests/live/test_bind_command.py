"""``schedctl bind``: prints, and sends only when a flag on the command line says so."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import signal

import jsonschema
import pytest
import yaml

from schedctl.api.gaps import Gap
from schedctl.cli.documents import SCHEMAS
from schedctl.live import listing
from schedctl.live.connections import Connection
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
    monkeypatch.setattr(listing, "read", lambda connection, *kinds, **options: connection.listing())
    return server


@pytest.fixture
def bind(schedctl, server, tmp_path):
    """``schedctl bind`` with a configuration that serves ``ours``."""
    file = tmp_path / "scheduler.yaml"
    file.write_text(HEADER + PROFILE)

    def run(*arguments: str):
        return schedctl("bind", *arguments, "--scheduler-config", str(file))

    return run


def asked_at_a_terminal(monkeypatch, answer: str) -> None:
    stdin = io.StringIO(answer)
    stdin.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", stdin)


@pytest.mark.parametrize(
    "words", [("shop/web",), ("pod", "web", "-n", "shop"), ("pod", "shop/web"), ("pod/web", "-n", "shop")]
)
def test_without_a_flag_the_binding_is_printed_and_nothing_is_sent(bind, server, words):
    ended = bind(*words)
    first, _, rest = ended.out.partition("\n\n")
    binding, _, last = rest.partition("\n\n")
    assert first.startswith("pod shop/web → node-2 (score ")
    assert yaml.safe_load(binding)["target"] == {"apiVersion": "v1", "kind": "Node", "name": "node-2"}
    assert yaml.safe_load(binding)["metadata"]["uid"] == server.objects[WEB]["metadata"]["uid"]
    assert "nothing was sent" in last
    assert ended.code == 0
    assert all(method == "GET" for method, _, _ in server.asked)


def test_execute_with_yes_binds(bind, server):
    ended = bind("shop/web", "--execute", "--yes")
    assert ended.out.startswith("pod shop/web is bound to node-2")
    assert (ended.code, ended.err) == (0, "")
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


def test_execute_asks_and_binds_on_yes(bind, server, monkeypatch):
    asked_at_a_terminal(monkeypatch, "y\n")
    ended = bind("shop/web", "--execute")
    assert "Bind shop/web to node-2 in context pretended? [y/N]" in ended.err
    assert "kind: Binding" in ended.err
    assert ended.out.startswith("pod shop/web is bound to node-2")
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_execute_asks_and_sends_nothing_on_no(bind, server, monkeypatch, answer):
    asked_at_a_terminal(monkeypatch, answer)
    ended = bind("shop/web", "--execute")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith("[y/N] nothing was sent\n")
    assert ended.err.count("nothing was sent") == 1
    assert server.writes() == []


def test_a_terminal_that_ends_is_no_yes(bind, server, monkeypatch):
    asked_at_a_terminal(monkeypatch, "")
    assert bind("shop/web", "--execute").code == 130
    assert server.writes() == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--execute",), "no terminal to ask on"),
        (("--execute", "--dry-run=client"), "--dry-run=client sends nothing"),
        (("--dry-run=maybe",), "--dry-run takes none, client, server"),
        (("--execute", "--yes", "-f", "fixtures/clusters/shop"), "-f about files"),
        (("--execute", "--yes", "--live", "-f", "fixtures/clusters/shop"), "-f about files"),
        (("--dry-run=server", "-f", "fixtures/clusters/shop"), "-f about files"),
        (("--node", "node-9"), 'there is no node "node-9"'),
    ],
)
def test_what_cannot_be_meant_is_refused(bind, server, arguments, complaint):
    ended = bind("shop/web", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err
    assert server.writes() == []


@pytest.mark.parametrize("words", [(), ("deploy/web",), ("shop/web", "shop/db"), ("pod", "nobody", "-n", "shop")])
def test_one_pod_is_bound_at_a_time(bind, server, words):
    assert bind(*words, "--execute", "--yes").code == 2
    assert server.writes() == []


def test_no_environment_variable_can_consent(bind, server, monkeypatch):
    for name in ("EXECUTE", "YES", "BIND_EXECUTE", "BIND_YES", "BIND", "FORCE_SCHEDULER", "DRY_RUN"):
        monkeypatch.setenv(f"SCHEDCTL_{name}", "true")
    bind("shop/web")
    assert server.writes() == []


@pytest.mark.parametrize("key", ["bind", "execute", "yes", "consent", "forceScheduler"])
def test_no_configuration_file_can_consent(schedctl, server, monkeypatch, tmp_path, key):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scheduler.yaml").write_text(HEADER + PROFILE)
    for text in (f"{key}: true", f"{key}: {{execute: true, yes: true}}"):
        (tmp_path / ".schedctl.yaml").write_text(f"apiVersion: schedctl.dev/v1alpha1\nkind: Config\n{text}\n")
        assert schedctl("bind", "shop/web", "--scheduler-config", "scheduler.yaml").code == 0
    assert server.writes() == []


def test_dry_run_server_asks_the_api_server_and_changes_nothing(bind, server):
    ended = bind("shop/web", "--dry-run=server")
    assert ended.out.startswith("pod shop/web would be bound by the API server to node-2")
    assert ended.code == 0
    assert server.writes() == []
    assert ("POST", BINDING, True) in server.asked


def test_the_node_asked_for_is_taken_if_it_will_do(bind, server):
    ended = bind("shop/web", "--node", "node-1", "--execute", "--yes")
    assert "kube-scheduler would take node-2" in ended.out
    assert server.objects[WEB]["spec"]["nodeName"] == "node-1"


def test_a_node_that_will_not_do_is_refused_with_who_says_so(bind, server):
    server.change("/api/v1/nodes/node-1", lambda obj: obj["spec"].update(unschedulable=True))
    ended = bind("shop/web", "--node", "node-1", "--execute", "--yes")
    assert ended.code == 4
    assert ended.out.startswith(
        "pod shop/web: NOT BOUND (node-1 is refused by NodeUnschedulable: node(s) were unschedulable)"
    )
    assert "\nwithout `--node`: pod shop/web → node-2 (score " in ended.out
    assert server.writes() == []


def test_what_is_not_known_keeps_a_pod_from_being_bound(bind, server, monkeypatch):
    gap = Gap("Service", "Forbidden")
    server.change(WEB, lambda obj: obj["metadata"].update(labels={"app": "web"}))
    monkeypatch.setattr(listing, "read", lambda *_, **__: dataclasses.replace(server.listing(), missing=(gap,)))
    ended = bind("shop/web", "--execute", "--yes")
    assert ended.code == 5
    assert ended.out.startswith("pod shop/web: INCONCLUSIVE (Services not known")
    assert "hint: the role schedctl-reader of deploy/clusterrole.yaml" in ended.out
    assert ended.out.endswith("nothing was sent: a pod is not bound on a guess\n")
    assert server.writes() == []


def test_a_profile_that_ships_is_offered_where_it_serves_the_pod(bind, server):
    server.put(pod("apart", schedulerName="spreading"))
    ended = bind("shop/apart")
    assert (ended.code, ended.err) == (
        4,
        "hint: `--profile spreading` follows spreading.yaml of schedctl, which serves it\n",
    )


def test_what_is_laid_over_the_cluster_is_told(schedctl, server, tmp_path):
    (tmp_path / "large.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: large}\n")
    ended = schedctl("explain", "shop/web", "--profile", "default", "--live", "-f", str(tmp_path / "large.yaml"))
    told = f"what if: 1 object of {tmp_path}/large.yaml laid over the cluster"
    assert told in ended.out
    assert (
        told in schedctl("bind", "shop/web", "--profile", "default", "--live", "-f", str(tmp_path / "large.yaml")).out
    )


def test_files_are_out_of_sight_of_watch(schedctl):
    assert "--filename" not in schedctl("watch", "--help").out
    assert "files do not change" in schedctl("watch", "shop/web", "-f", "x.yaml").err


def test_a_pod_that_fits_nowhere_is_not_bound(bind, server):
    for name in ("node-1", "node-2"):
        server.change(f"/api/v1/nodes/{name}", lambda obj: obj["spec"].update(unschedulable=True))
    assert bind("shop/web").code == 0
    assert bind("shop/web", "--exit-code").code == 1
    ended = bind("shop/web", "--execute", "--yes")
    assert ended.code == 1
    assert ended.out.startswith("pod shop/web: UNSCHEDULABLE (0/2 nodes)")
    assert server.writes() == []


def test_a_pod_that_needs_a_preemption_is_not_bound(bind, server):
    whole = [{"name": "app", "image": "app", "resources": {"requests": {"cpu": "4"}}}]
    server.delete("/api/v1/nodes/node-2")
    server.put(pod("web", priority=10, containers=whole))
    ended = bind("shop/web", "--execute", "--yes")
    assert ended.code == 1
    assert "preemption makes room on node-1 by evicting\n  shop/db" in ended.out
    assert server.writes() == []


def test_a_gated_pod_is_not_bound(bind, server):
    server.change(WEB, lambda obj: obj["spec"].update(schedulingGates=[{"name": "wait"}]))
    ended = bind("shop/web", "--execute", "--yes")
    assert (ended.code, ended.out.splitlines()[0]) == (1, "pod shop/web: GATED (waits for wait)")
    assert server.writes() == []


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda obj: obj["spec"].update(nodeName="node-1"), "it is bound to node-1 already"),
        (lambda obj: obj["status"].update(phase="Succeeded"), "it has ended (Succeeded)"),
    ],
)
def test_a_pod_that_waits_for_no_node_is_refused(bind, server, change, why):
    server.change(WEB, change)
    ended = bind("shop/web", "--execute", "--yes")
    assert (ended.code, ended.out) == (4, f"pod shop/web: NOT BOUND ({why})\n")
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
    ended = schedctl("bind", "shop/web", "--execute", "--yes", "--force-scheduler")
    assert ended.code == 4
    assert "no profile serves schedulerName ours" in ended.out
    forced = schedctl("bind", "shop/web", "--execute", "--yes", "--force-scheduler", "--profile", "default")
    assert forced.code == 0, forced
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


@pytest.mark.parametrize(
    ("verb", "text"),
    [
        ("filterVerb", "INCONCLUSIVE (Extenders not known"),
        ("bindVerb", "INCONCLUSIVE (kube-scheduler would have Extender:http://x bind it"),
    ],
)
def test_what_an_extender_has_a_say_in_is_not_bound(schedctl, server, tmp_path, verb, text):
    file = tmp_path / "scheduler.yaml"
    extender = f'extenders: [{{urlPrefix: "http://x", {verb}: ask}}]'
    file.write_text(f"{HEADER}{PROFILE}\n{extender}\n")
    ended = schedctl("bind", "shop/web", "--execute", "--yes", "--scheduler-config", str(file))
    assert ended.code == 5
    assert text in ended.out
    assert server.writes() == []


def test_what_has_moved_is_said_and_ends_with_4(bind, server):
    def hook(method: str, path: str) -> None:
        if path == "/api/v1/nodes/node-2":
            server.before = lambda method, path: None
            server.change(path, lambda obj: obj["spec"].update(unschedulable=True))

    server.before = hook
    ended = bind("shop/web", "--execute", "--yes")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err == (
        "error: pod shop/web is not bound to node-2: node node-2 has changed: spec.unschedulable\n"
        "hint: the decision is out of date; run it again\n"
    )


def test_what_moves_in_the_last_moment_is_said_loudly(bind, server):
    def hook(method: str, path: str) -> None:
        if path == BINDING:
            server.delete("/api/v1/nodes/node-2")

    server.before = hook
    ended = bind("shop/web", "--execute", "--yes")
    assert ended.code == 4
    assert "SOMETHING MOVED WHILE THE POD WAS BEING BOUND" in ended.out
    assert "node node-2 is gone" in ended.out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_told_to_end_while_sending_is_an_interrupt(bind, server, number):
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
def test_the_document_is_what_the_schema_says(bind, server, flags):
    ended = bind("shop/web", *flags, "-o", "json")
    document = json.loads(ended.out)
    jsonschema.validate(document, SCHEMAS["BindReport"]())
    outcome = {"--execute": "Bound", "--dry-run=server": "Accepted"}.get(flags[0] if flags else "", "Planned")
    assert document["summary"]["outcome"] == outcome
    assert document["summary"]["exitCode"] == ended.code == 0
    assert document["binding"]["kind"] == "Binding"
    assert document["cluster"] == "context pretended"


def test_names(bind, server):
    assert bind("shop/web", "-o", "name").out == "pod/web node/node-2\n"


def test_the_binding_of_a_pod_in_a_file(schedctl, tmp_path):
    objects = [node("node-1"), pod("web", schedulerName="default-scheduler")]
    (tmp_path / "state.json").write_text("\n".join(map(json.dumps, objects)))
    ended = schedctl("bind", "shop/web", "-f", str(tmp_path / "state.json"), "-o", "jsonpath={.binding.target.name}")
    assert (ended.code, ended.out.strip()) == (0, "node-1")


def test_what_a_pods_name_could_do_to_a_terminal_is_taken_out_of_the_question(bind, server, monkeypatch):
    server.name = "context \x1b[31mred"
    asked_at_a_terminal(monkeypatch, "n\n")
    assert "\x1b" not in bind("shop/web", "--execute").err
