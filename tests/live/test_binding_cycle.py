"""``bind --execute`` runs the binding cycle of the profile: who is called when, and what is taken back."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from schedctl.session.schemas import SCHEMAS
from schedctl.simulation import timeline
from tests.live.pretend_servers import PretendServer
from tests.live.servers import Reply
from tests.live.test_bind_command import HEADER, PROFILE, run_at_a_terminal, server
from tests.live.test_binding import BINDING, WEB, pod

__all__ = ["server"]

PLUGIN = """
import json, os, signal, threading, time
from pathlib import Path
from schedctl.api.kinds import kind_named
from schedctl.framework import *
from schedctl.framework.statuses import error, wait

SETTINGS = json.loads(Path(__file__).with_suffix(".json").read_text())
LOG = Path(__file__).with_suffix(".log")
SERVICE = kind_named("Service")


class _Base(ReservePlugin, PermitPlugin, PreBindPlugin, BindPlugin, PostBindPlugin):
    wants_client = True

    def call(self, point, cycle):
        with LOG.open("a") as log:
            log.write(f"{point} {self.name} {cycle.pod.key}\\n")
        answer = SETTINGS.get(f"{point} {self.name}", "skip" if point == "Bind" else "")
        answer = SETTINGS.get(f"{point} {self.name} {cycle.pod.key}", answer)
        if answer == "interrupt":
            raise KeyboardInterrupt
        if answer == "raise":
            raise ValueError("odd")
        if answer in ("", "success"):
            return SUCCESS
        return {"skip": SKIP, "refuse": unschedulable("no"), "fail": error("broken")}.get(answer)

    def reserve(self, cycle, node_name):
        return self.call("Reserve", cycle)

    def unreserve(self, cycle, node_name):
        self.call("Unreserve", cycle)

    def permit(self, cycle, node_name):
        answer = self.call("Permit", cycle)
        if answer is not None:
            return answer
        how, _, seconds = SETTINGS[f"Permit {self.name}"].partition(" ")
        def decide():
            time.sleep(0.2)
            if how == "kill":
                os.kill(os.getpid(), signal.SIGTERM)
            (waiting,) = self.handle.waiting_pods()
            waiting.allow(self.name) if how == "allow" else waiting.reject(self.name, "thought better of it")
        if how != "time":
            threading.Thread(target=decide).start()
        return wait(float(seconds))

    def pre_bind(self, cycle, node_name):
        journal = self.handle.journal(cycle.pod)
        for name in SETTINGS.get(f"create {self.name}", ()):
            journal.create(SERVICE, {"metadata": {"name": name, "namespace": "shop"}, "spec": {}})
        for key in SETTINGS.get(f"annotate {self.name} {cycle.pod.key}", SETTINGS.get(f"annotate {self.name}", ())):
            journal.update(SERVICE, key, lambda obj: obj["metadata"].update(annotations={"for": cycle.pod.key}))
        with LOG.open("a") as log:
            log.write(f"client {self.name} {self.handle.client}\\n")
            log.write(f"waiting {len(self.handle.waiting_pods())}\\n")
        return self.call("PreBind", cycle)

    def bind(self, cycle, node_name):
        if SETTINGS.get(f"Bind {self.name}") == "by handle":
            self.call("Bind", cycle)
            return self.handle.bind(cycle.pod, node_name)
        return self.call("Bind", cycle)

    def post_bind(self, cycle, node_name):
        self.call("PostBind", cycle)


class One(_Base):
    pass


class Two(_Base):
    wants_client = False
"""
CONFIGURATION = """
profiles:
- schedulerName: ours
  plugins:
    multiPoint: {enabled: [{name: One}, {name: Two}]}
    bind: {disabled: [{name: "*"}], enabled: [{name: One}, {name: Two}, {name: DefaultBinder}]}
"""
POINTS = ("Reserve", "Permit", "PreBind", "Bind")


@pytest.fixture
def run(schedctl, server, tmp_path):
    """``schedctl bind`` with two plugins that write down who is called, and do what they are told."""
    (tmp_path / "plugins.py").write_text(PLUGIN)
    (tmp_path / "scheduler.yaml").write_text(HEADER + CONFIGURATION)

    def run(*arguments: str, **settings):
        behaviour = {key.replace("_", " "): value for key, value in settings.items()}
        (tmp_path / "plugins.json").write_text(json.dumps(behaviour))
        (tmp_path / "plugins.log").write_text("")
        return schedctl(
            "bind", *(arguments or ("shop/web", "--execute", "--yes")),
            "--scheduler-config", str(tmp_path / "scheduler.yaml"), "--plugin", str(tmp_path / "plugins.py"),
        )  # fmt: skip

    return run


@pytest.fixture
def calls(tmp_path):
    """What was called, without the pod."""

    def calls(key: str = "shop/web"):
        lines = (tmp_path / "plugins.log").read_text().splitlines()
        return [line.removesuffix(f" {key}") for line in lines if line.endswith(key)]

    return calls


NOMINATION = f"PUT {WEB}/status"
FORWARD = [f"{point} {plugin}" for point in POINTS for plugin in ("One", "Two")]
BACK = ["Unreserve Two", "Unreserve One"]


def test_execute_calls_every_point_in_order_and_default_binder_sends_the_binding(run, calls, server):
    ended = run()
    assert (ended.code, ended.err) == (0, "")
    assert calls() == [*FORWARD, "PostBind One", "PostBind Two"]
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"
    assert "Bind One (Skip), Two (Skip), DefaultBinder; PostBind One, Two" in " ".join(ended.out.split())


def test_plan_calls_nobody_and_shows_who_would_be_called(run, calls, server):
    for arguments in (("shop/web",), ("shop/web", "--dry-run=server")):
        ended = run(*arguments)
        assert ended.code == 0
        assert calls() == []
        assert "Permit One, Two" in ended.out
        assert "PostBind One, Two" in " ".join(ended.out.split())
    assert server.writes() == []


def test_question_answered_with_no_calls_nobody(run, calls, monkeypatch):
    run_at_a_terminal(monkeypatch, "n\n")
    assert run("shop/web", "--execute").code == 1
    assert calls() == []


MEMORY = """
from schedctl.framework import *
from schedctl.framework.statuses import wait


class Hold(PermitPlugin):
    memory_only = True

    def permit(self, cycle, node_name):
        return {"web": unschedulable("not today"), "twin": wait(5)}[cycle.pod.pod.metadata.name]
"""


def test_plugin_that_only_changes_memory_takes_part_in_the_plan(schedctl, twin, tmp_path):
    (tmp_path / "hold.py").write_text(MEMORY)
    (tmp_path / "scheduler.yaml").write_text(
        HEADER + CONFIGURATION.split("    bind")[0].replace("{name: One}, {name: Two}", "{name: Hold}")
    )
    options = ("--scheduler-config", str(tmp_path / "scheduler.yaml"), "--plugin", str(tmp_path / "hold.py"))
    refused = schedctl("bind", "shop/web", *options)
    assert "Hold rejects the pod on the chosen node node-2: not today" in refused.out
    held = schedctl("bind", "shop/twin", *options)
    assert "Permit would hold the pod back: Hold for up to 5 s" in held.out
    assert twin.writes() == []


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(("answer", "text"), [("refuse", "no"), ("fail", "broken"), ("raise", "ValueError: odd")])
def test_failure_of_a_point_unreserves_in_reverse_once_each(run, calls, server, point, answer, text):
    ended = run(**{f"{point}_Two": answer})
    done = FORWARD[: FORWARD.index(f"{point} Two") + 1]
    assert calls() == [*done, *BACK]
    assert ended.code == 4
    assert ended.out.startswith("pod shop/web: NOT BOUND (")
    assert text in ended.out
    assert server.writes() == []


def test_refused_binding_unreserves_and_tells_no_post_bind(run, calls, server):
    def hook(method: str, path: str) -> None:
        if (method, path) == ("POST", BINDING):
            server.change(WEB, lambda obj: obj["metadata"].update(labels={"app": "other"}))

    server.before = hook
    ended = run()
    assert calls() == [*FORWARD, *BACK]
    assert ended.code == 4
    assert "is not bound to node-2: it has changed: metadata.labels" in ended.err
    assert "nodeName" not in server.objects[WEB]["spec"]


def test_changed_node_stops_the_cycle_before_pre_bind(run, calls, server):
    def hook(method: str, path: str) -> None:
        if path == "/api/v1/nodes/node-2":
            server.before = lambda method, path: None
            server.change(path, lambda obj: obj["spec"].update(unschedulable=True))

    server.before = hook
    assert run().code == 4
    assert calls() == ["Reserve One", "Reserve Two", "Permit One", "Permit Two", *BACK]
    assert server.writes() == []


@pytest.mark.parametrize("point", POINTS)
def test_interrupt_unreserves_in_reverse_once_each(run, calls, server, point):
    ended = run(**{f"{point}_One": "interrupt", "create_One": ["mine"] if point == "Bind" else []})
    assert ended.code == 130
    *_, said, end = ended.err.splitlines()
    assert said == "no pod was bound, and nothing was left behind"
    assert end.startswith("interrupted in plugin One (plugins.py:")
    assert calls()[-3:] == [f"{point} One", *BACK]
    assert calls().count("Unreserve One") == 1
    assert not any("services" in path for path in server.objects)
    assert "nodeName" not in server.objects[WEB]["spec"]


def test_second_interrupt_stops_no_unreserve(run, calls):
    ended = run(PreBind_One="interrupt", Unreserve_Two="interrupt")
    assert calls()[-2:] == BACK
    assert ended.code in (4, 130)


def test_bind_plugin_is_believed_and_then_looked_at(run, calls, server, monkeypatch):
    monkeypatch.setattr("schedctl.live.binding._PAUSE", 0.0)
    ended = run(Bind_One="success")
    assert calls()[-3:] == ["Bind One", "PostBind One", "PostBind Two"]
    assert [write for write in server.writes() if write.endswith("/binding")] == []
    assert ended.code == 4
    assert "pod shop/web, which One says to have bound, is on no node" in ended.out


def test_bind_plugin_may_pass_the_binding_on(run, calls, server):
    ended = run(Bind_Two="by handle")
    assert (ended.code, calls()[-4:]) == (0, ["Bind One", "Bind Two", "PostBind One", "PostBind Two"])
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


def test_pod_bound_by_a_plugin_that_then_fails_keeps_what_pre_bind_wrote(run, calls, server):
    def hook(method: str, path: str) -> None:
        if path.endswith("/services") and method == "POST":
            server.before = bound

    def bound(method: str, path: str) -> None:
        if method == "GET" and path == WEB and server.requests[-1][1] == "/api/v1/nodes/node-2":
            server.change(WEB, lambda obj: obj["spec"].update(nodeName="node-2"))

    server.before = hook
    ended = run(create_One=["mine"], Bind_One="fail")
    assert ended.code == 4
    assert "pod shop/web is bound to node-2 all the same; what PreBind wrote stays" in ended.out
    assert "/api/v1/namespaces/shop/services/mine" in server.objects


def test_pre_bind_writes_through_the_journal(run, server):
    server.put({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": "old"}, "spec": {}})
    ended = run(create_One=["mine"], annotate_Two=["shop/old"])
    assert ended.code == 0
    assert "/api/v1/namespaces/shop/services/mine" in server.objects
    assert server.objects["/api/v1/namespaces/shop/services/old"]["metadata"]["annotations"] == {"for": "shop/web"}
    assert "written: create Service shop/mine" in ended.out
    assert "written: update Service shop/old" in ended.out


@pytest.mark.parametrize("point", ["PreBind", "Bind"])
def test_what_pre_bind_wrote_is_taken_back_if_the_pod_is_not_bound(run, server, point):
    server.put({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": "old"}, "spec": {}})
    ended = run(create_One=["mine"], annotate_Two=["shop/old"], **{f"{point}_Two": "fail"})
    assert ended.code == 4
    assert "/api/v1/namespaces/shop/services/mine" not in server.objects
    assert "annotations" not in server.objects["/api/v1/namespaces/shop/services/old"]["metadata"]


def test_write_that_is_refused_ends_the_cycle(run, calls, server):
    ended = run(create_One=["mine"], annotate_Two=["shop/nothing"])
    assert ended.code == 4
    assert "Service shop/nothing not found" in ended.err
    assert calls()[-2:] == BACK
    assert "/api/v1/namespaces/shop/services/mine" not in server.objects


def test_client_is_for_plugins_that_want_it(run, tmp_path):
    run()
    log = (tmp_path / "plugins.log").read_text().splitlines()
    assert [line for line in log if line.startswith("client")] == ["client One a client", "client Two None"]


def test_permit_waits_until_it_is_allowed(run, calls, tmp_path):
    ended = run(Permit_One="allow 30")
    assert ended.code == 0
    assert "Permit holds pod shop/web on node-2: One for up to 30 s" in ended.err
    assert re.search(r"Permit held the pod back for \d+(\.\d)? s: One for up to 30 s", ended.out)
    assert calls()[-1] == "PostBind Two"
    assert "waiting 0" in (tmp_path / "plugins.log").read_text()
    assert "waiting 1" not in (tmp_path / "plugins.log").read_text()


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("reject 30", "One: thought better of it"),
        ("time 0.3", "rejected due to timeout after waiting 300ms at plugin One"),
    ],
)
def test_permit_that_does_not_allow_costs_the_pod_its_node(run, calls, server, how, text):
    ended = run(Permit_One=how)
    assert ended.code == 4
    assert ended.out.startswith(f"pod shop/web: NOT BOUND ({text})")
    assert calls() == ["Reserve One", "Reserve Two", "Permit One", "Permit Two", *BACK]
    assert server.writes() == [NOMINATION] * 2
    assert "nominatedNodeName" not in server.objects[WEB]["status"]


def test_interrupt_while_permit_waits_gives_the_pod_up(run, calls, server):
    assert run(Permit_One="kill 30").code == 130
    assert calls() == ["Reserve One", "Reserve Two", "Permit One", "Permit Two", *BACK]
    assert "nominatedNodeName" not in server.objects[WEB]["status"]


def test_pod_is_nominated_to_its_node_while_permit_waits(run, server):
    assert run(Permit_One="allow 30").code == 0
    assert server.writes()[:2] == [NOMINATION, f"POST {BINDING}"]
    assert server.objects[WEB]["status"]["nominatedNodeName"] == "node-2"


def test_nomination_by_somebody_else_is_there_again_if_the_pod_is_not_bound(run, server):
    server.change(WEB, lambda pod: pod["status"].update(nominatedNodeName="node-1"))
    assert run(Permit_One="reject 30").code == 4
    assert server.objects[WEB]["status"]["nominatedNodeName"] == "node-1"


@pytest.mark.parametrize(("times", "code"), [(1, 0), (4, 0), (5, 4)])
def test_nomination_by_somebody_else_in_the_last_moment_stops_no_bind_unless_it_never_ends(run, server, times, code):
    nodes = [f"node-{number}" for number in range(times)]

    def nominate(method: str, path: str) -> None:
        if (method, path) == ("POST", BINDING) and nodes:
            server.change(WEB, lambda pod: pod["status"].update(nominatedNodeName=nodes.pop()))

    server.before = nominate
    ended = run(Permit_One="allow 30")
    assert ended.code == code, ended.err
    assert server.objects[WEB]["spec"].get("nodeName", "") == ("" if code else "node-2")


def test_nomination_that_cannot_be_written_is_a_warning(run, server):
    def refuse(method, path):
        if f"{method} {path}" == NOMINATION:
            raise server._no(method, path, 403, "Forbidden", "may not update pods/status")

    server.before = refuse
    ended = run(Permit_One="allow 30")
    assert (ended.code, server.writes()[0]) == (0, f"POST {BINDING}")
    assert "the node could not be written into the status of pod shop/web: " in ended.out
    assert "may not update pods/status" in ended.out


@pytest.mark.parametrize(
    ("arguments", "permit"),
    [
        pytest.param(("--kube-version", "1.34"), "allow 30", id="kube-scheduler v1.34 nominates no pod for Permit"),
        pytest.param(
            ("--feature-gates", "NominatedNodeNameForExpectation=false"), "allow 30", id="nor does one without the gate"
        ),
        pytest.param((), "", id="a pod that does not wait is bound soon"),
    ],
)
def test_pod_is_not_nominated_where_kube_scheduler_would_not(run, server, arguments, permit):
    assert run("shop/web", "--execute", "--yes", *arguments, Permit_One=permit).code == 0
    assert NOMINATION not in server.writes()


def test_report_of_an_execution_has_every_call(run):
    document = json.loads(run("shop/web", "--execute", "--yes", "-o", "json", PreBind_Two="refuse").out)
    jsonschema.validate(document, SCHEMAS["BindReport"]())
    calls = [(call["point"], call["plugin"], call["status"]) for call in document["calls"]]
    unreserved = ("Two", "One", "DynamicResources", "VolumeBinding")
    assert calls[-5:] == [
        ("PreBind", "Two", "Unschedulable"),
        *(("Unreserve", plugin, "Success") for plugin in unreserved),
    ]
    assert ("Reserve", "VolumeBinding", "Success") in calls


# -- traces -----------------------------------------------------------------------


@pytest.fixture
def traced(run, tmp_path):
    """The steps that an execution writes to its trace."""
    path = tmp_path / "bind.jsonl"

    def traced(**settings):
        ended = run("shop/web", "--execute", "--yes", "--trace", str(path), **settings)
        return ended, list(timeline.read(path.read_bytes().splitlines()))

    return traced


def test_trace_of_an_execution_has_every_call_between_the_attempt_and_the_end(traced, calls):
    ended, steps = traced()
    assert ended.code == 0
    assert [type(steps[0]), type(steps[-1])] == [timeline.Chosen, timeline.Bound]
    called = [f"{step.point} {step.plugin}" for step in steps[1:-1] if step.plugin in ("One", "Two")]
    assert called == calls()
    times = [step.at for step in steps]
    assert times == sorted(times)


def test_trace_says_when_permit_began_to_wait_and_when_the_pod_went_on(traced):
    _, steps = traced(Permit_One="allow 30")
    (number,) = [number for number, step in enumerate(steps) if isinstance(step, timeline.Waiting)]
    assert (steps[number - 1].point, steps[number].node) == ("Permit", "node-2")
    assert steps[number].until["One"] == pytest.approx(steps[number].at + 30)
    assert steps[number + 1].at >= steps[number].at + 0.2


@pytest.mark.parametrize(
    ("settings", "end"),
    [
        pytest.param({"PreBind_Two": "refuse"}, "Two: no", id="a refusal"),
        pytest.param({"PreBind_Two": "interrupt"}, "all or none: interrupted", id="an interrupt"),
    ],
)
def test_trace_of_a_bind_that_fails_ends_with_what_was_taken_back(traced, settings, end):
    _, steps = traced(**settings)
    assert [step.plugin for step in steps if isinstance(step, timeline.Called) and step.point == "Unreserve"][:2] == [
        "Two",
        "One",
    ]
    assert isinstance(steps[-1], timeline.Released)
    assert end in steps[-1].message


def test_bind_whose_trace_cannot_be_written_fails_before_anything_is_called(run, calls, server, tmp_path):
    ended = run("shop/web", "--execute", "--yes", "--trace", str(tmp_path / "no" / "folder"))
    assert (ended.code, calls(), server.writes()) == (2, [], [])
    assert "the trace cannot be written" in ended.err


# -- extenders --------------------------------------------------------------------


@pytest.fixture
def with_extender(schedctl, server, tmp_path, serve):
    """``schedctl bind`` with an extender that binds pods."""

    def run(answer, *options: str, **settings: str):
        server.asked = []

        def reply(request):
            server.asked.append((request.path, json.loads(request.body)))
            return answer(request)

        url = serve(reply).url
        more = "".join(f", {key}: {value}" for key, value in settings.items())
        extender = f'extenders: [{{urlPrefix: "{url}", bindVerb: bind, enableHTTPS: true{more}}}]'
        (tmp_path / "scheduler.yaml").write_text(f"{HEADER}{PROFILE}\n{extender}\n")
        file = str(tmp_path / "scheduler.yaml")
        return schedctl("bind", "shop/web", *options, "--scheduler-config", file)

    return run


EXECUTE = ("--execute", "--yes", "--allow-extenders")


def test_extender_binds_in_the_place_of_plugins(with_extender, server):
    def bound(request):
        server.change(WEB, lambda obj: obj["spec"].update(nodeName="node-2"))
        return Reply({})

    ended = with_extender(bound, *EXECUTE)
    uid = server.objects[WEB]["metadata"]["uid"]
    assert server.asked == [("/bind", {"PodName": "web", "PodNamespace": "shop", "PodUID": uid, "Node": "node-2"})]
    assert (ended.code, [w for w in server.writes() if w.endswith("/binding")]) == (0, [])
    assert ended.out.startswith("pod shop/web is bound to node-2")


def test_extender_that_fails_to_bind_is_the_answer(with_extender, server):
    ended = with_extender(lambda request: Reply({"Error": "no"}), *EXECUTE)
    assert (ended.code, server.writes()) == (4, [])
    assert ended.out.startswith("pod shop/web: NOT BOUND (Extender:http://127.0.0.1:")


def test_plugins_bind_where_an_ignorable_extender_fails(with_extender, server):
    ended = with_extender(lambda request: Reply({}, 500), *EXECUTE, ignorable="true")
    assert ended.code == 0
    assert server.objects[WEB]["spec"]["nodeName"] == "node-2"


@pytest.mark.parametrize(
    "options", [("--allow-extenders",), ("--execute", "--yes"), ("--dry-run=server", "--allow-extenders")]
)
def test_extender_binds_only_where_both_flags_say_so(with_extender, server, options):
    with_extender(lambda request: Reply({}), *options)
    assert server.asked == []
    assert server.writes() == []


# -- gangs ------------------------------------------------------------------------

TWIN = "/api/v1/namespaces/shop/pods/twin"
TOGETHER = ("shop/web", "shop/twin", "--execute", "--yes")


@pytest.fixture
def twin(server: PretendServer) -> PretendServer:
    server.put({**pod("twin"), "metadata": {"namespace": "shop", "name": "twin", "labels": {"app": "web"}}})
    return server


@pytest.mark.parametrize("words", [("shop/web", "shop/twin"), ("-n", "shop", "-l", "app=web")])
def test_pods_of_a_gang_are_bound_together(run, calls, twin, words):
    ended = run(*words, "--execute", "--yes")
    assert ended.code == 0, ended
    assert twin.objects[WEB]["spec"]["nodeName"]
    assert twin.objects[TWIN]["spec"]["nodeName"]
    bound = [write for write in twin.writes() if write.endswith("/binding")]
    assert len(bound) == 2


def test_second_pod_of_a_gang_sees_the_first_on_its_node(run, twin):
    """Each node has room for one of them only."""
    for path, cpu in ((WEB, "3"), (TWIN, "3")):
        containers = [{"name": "app", "image": "app", "resources": {"requests": {"cpu": cpu}}}]
        twin.change(path, lambda obj, c=containers: obj["spec"].update(containers=c))
    assert run(*TOGETHER).code == 0
    assert {twin.objects[path]["spec"]["nodeName"] for path in (WEB, TWIN)} == {"node-1", "node-2"}


def test_no_pod_of_a_gang_is_bound_if_one_fits_nowhere(run, calls, twin):
    twin.change(TWIN, lambda obj: obj["spec"].update(nodeSelector={"disk": "ssd"}))
    ended = run(*TOGETHER)
    assert ended.code == 1
    assert "0 of 2 pods bound (all or none: shop/twin cannot be bound)" in ended.out
    assert calls() == []
    assert twin.writes() == []


@pytest.mark.parametrize("point", ["Permit", "PreBind"])
def test_no_pod_of_a_gang_is_bound_if_one_is_refused_later(run, calls, twin, point):
    ended = run(*TOGETHER, **{f"{point}_Two": "refuse"})
    assert ended.code == 4
    assert twin.writes() == []
    assert "0 of 2 pods bound" in ended.out
    assert calls()[-2:] == BACK


def test_change_of_one_node_stops_the_whole_gang(run, calls, twin):
    def hook(method: str, path: str) -> None:
        if path == "/api/v1/nodes/node-1":
            twin.before = lambda method, path: None
            twin.change(path, lambda obj: obj["spec"].update(unschedulable=True))

    twin.before = hook
    ended = run(*TOGETHER)
    assert ended.code == 4
    assert "node node-1 has changed: spec.unschedulable" in ended.err
    assert twin.writes() == []
    assert calls()[-2:] == calls("shop/twin")[-2:] == BACK


def test_what_pre_bind_wrote_for_one_pod_is_taken_back_if_another_fails(run, calls, twin):
    twin.put({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": "old"}, "spec": {}})
    ended = run(*TOGETHER, annotate_One=["shop/old"], **{"PreBind Two shop/twin": "refuse"})
    assert ended.code == 4
    assert "annotations" not in twin.objects["/api/v1/namespaces/shop/services/old"]["metadata"]
    assert calls()[-3:] == ["PreBind Two", *BACK]
    assert calls("shop/twin")[-3:] == ["PreBind Two", *BACK]


def test_pod_of_a_gang_that_is_bound_keeps_what_was_written_for_it(run, twin):
    def hook(method: str, path: str) -> None:
        if (method, path) == ("POST", f"{TWIN}/binding"):
            raise twin.forbid(method, path)

    twin.before = hook
    for name in ("one", "two"):
        made = {"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "shop", "name": name}, "spec": {}}
        twin.put(made)
    ended = run(*TOGETHER, **{"annotate One shop/web": ["shop/one"], "annotate One shop/twin": ["shop/two"]})
    assert "1 of 2 pods bound" in ended.out
    services = "/api/v1/namespaces/shop/services"
    assert twin.objects[f"{services}/one"]["metadata"]["annotations"] == {"for": "shop/web"}
    assert "annotations" not in twin.objects[f"{services}/two"]["metadata"]


@pytest.mark.parametrize("cordoned", [False, True], ids=["each on a node of its own", "both on one node"])
def test_permit_holds_a_gang_until_all_are_there(schedctl, twin, tmp_path, cordoned):
    twin.change("/api/v1/nodes/node-1", lambda node: node["spec"].update(unschedulable=cordoned))
    twin.change(WEB, lambda obj: obj["metadata"].update(annotations={"pairs.example.com/with": "twin"}))
    twin.change(TWIN, lambda obj: obj["metadata"].update(annotations={"pairs.example.com/with": "web"}))
    (tmp_path / "scheduler.yaml").write_text(
        HEADER + CONFIGURATION.replace("One", "StartTogether").split("    bind")[0].replace(", {name: Two}", "")
    )
    options = ("--scheduler-config", str(tmp_path / "scheduler.yaml"), "--plugin", "examples/plugins/start_together.py")
    ended = schedctl("bind", *TOGETHER, *options)
    assert ended.code == 0, ended
    assert "Permit holds pod shop/web on node-2: StartTogether for up to 120 s" in ended.err
    assert twin.objects[TWIN]["spec"]["nodeName"]
    assert twin.objects[WEB]["status"]["nominatedNodeName"] == "node-2"


def test_gang_that_breaks_while_it_is_sent_says_who_is_bound(run, calls, twin):
    def hook(method: str, path: str) -> None:
        if (method, path) == ("POST", f"{TWIN}/binding"):
            raise twin.forbid(method, path)

    twin.before = hook
    ended = run(*TOGETHER)
    assert ended.code == 4
    assert "pod shop/web is bound to node-2" in ended.out
    assert "pod shop/twin: NOT BOUND" in ended.out
    assert "1 of 2 pods bound" in ended.out
    assert calls("shop/twin")[-2:] == BACK
    assert calls()[-1] == "PostBind Two"


def test_gang_report_matches_its_schema(run, twin):
    for options in ((), ("--execute", "--yes")):
        document = json.loads(run("shop/web", "shop/twin", *options, "-o", "json").out)
        jsonschema.validate(document, SCHEMAS["GangBindReport"]())
        assert document["kind"] == "GangBindReport"
        assert document["summary"]["bound"] == (2 if options else 0)
