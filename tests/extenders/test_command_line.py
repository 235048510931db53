"""Extenders on the command line: asked only where somebody says so, recorded, replayed, and told of."""

import json
import stat

import pytest

from tests.live.servers import Reply

SHOP = ("-f", "fixtures/clusters/shop", "-f", "fixtures/pods/fits.yaml")


@pytest.fixture
def configuration(tmp_path):
    """Write a configuration with an extender and return its path."""

    def write(url, **fields):
        tree = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "extenders": [{"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, **fields}],
        }
        path = tmp_path / "scheduler.yaml"
        path.write_text(json.dumps(tree))
        return str(path)

    return write


def serve_and_record(*names, reason="no licence"):
    """An extender that keeps these nodes, and scores them downwards."""

    def answer(request):
        question = json.loads(request.body)
        if request.path == "/prioritize":
            return Reply([{"Host": name, "Score": 10 - place} for place, name in enumerate(names)])
        kept = [name for name in question["NodeNames"] if name in names]
        failed = {name: reason for name in question["NodeNames"] if name not in names}
        return Reply({"NodeNames": kept, "FailedNodes": failed})

    return answer


@pytest.fixture
def explain_pod(schedctl):
    def explain(path, *arguments):
        return schedctl("explain", "pod", "shop/fits", *SHOP, "--scheduler-config", path, *arguments)

    return explain


def test_unqueried_extenders_make_the_answer_inconclusive(explain_pod, configuration, serve):
    server = serve(serve_and_record("general-a-1"))
    ended = explain_pod(configuration(server.url))
    assert ended.code == 5
    assert (
        f"guess: Extender:{server.url} was not called (`--allow-extenders` allows it): that it fits, and where, is"
        in ended.out
    )
    assert server.requests == []


def test_uninterested_extender_leaves_the_answer_conclusive(explain_pod, configuration):
    managed = [{"name": "example.com/gpu"}]
    ended = explain_pod(configuration("http://x", managedResources=managed))
    assert (ended.code, ended.err) == (0, "")
    assert "Extender" not in ended.out


def test_verdicts_and_scores_stand_beside_those_of_plugins(explain_pod, configuration, serve):
    server = serve(serve_and_record("general-a-1", "general-b-1"))
    path = configuration(server.url, prioritizeVerb="prioritize", weight=50)
    ended = explain_pod(path, "--allow-extenders", "--matrix", "-o", "json")
    assert ended.code == 0
    (result,) = json.loads(ended.out)["results"]
    name = f"Extender:{server.url}"
    assert result["chosen"] == "general-a-1"
    (refused,) = [reason for reason in result["reasons"] if reason["plugin"] == name]
    assert (refused["text"], refused["count"], refused["code"]) == ("no licence", 3, "Unschedulable")
    score = result["scores"][0]["plugins"][-1]
    assert score == {"plugin": name, "raw": 10, "normalized": 100, "weight": 50, "weighted": 5000}
    row = result["matrix"]["filters"][-1]
    assert (row["plugin"], row["asked"], row["refused"]) == (name, True, 3)


def test_text_names_extender_rejections(explain_pod, configuration, serve):
    server = serve(serve_and_record("general-a-1"))
    ended = explain_pod(configuration(server.url), "--allow-extenders", "--node", "general-b-1", "--matrix")
    assert f"4 nodes: no licence  [Extender:{server.url}]" in ended.out
    assert f"Extender:{server.url}: no licence" in ended.out


def test_pod_rejected_by_extenders_has_kube_schedulers_message(explain_pod, configuration, serve):
    server = serve(serve_and_record())
    ended = explain_pod(configuration(server.url), "--allow-extenders", "-o", "json")
    (result,) = json.loads(ended.out)["results"]
    assert result["message"].startswith(
        "0/17 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu, 5 no licence,"
    )
    assert result["unschedulablePlugins"] == ["Extender", "NodeResourcesFit", "NodeUnschedulable", "TaintToleration"]


def test_extenders_and_an_empty_cluster(explain_pod, configuration, serve):
    server = serve(serve_and_record())
    assert "if no pod ran there" not in explain_pod(configuration(server.url), "--allow-extenders").out


def test_extender_text_is_sanitised(explain_pod, configuration, serve):
    server = serve(serve_and_record(reason="\x1b[31mred\u202e"))
    ended = explain_pod(configuration(server.url), "--allow-extenders")
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda text: {"NodeNames": [], "FailedNodes": {"general-a-1": text}}, id="a reason"),
        pytest.param(lambda text: {"Error": text}, id="an error"),
        pytest.param(lambda text: {"NodeNames": [text]}, id="the name of a node"),
        pytest.param(lambda text: {"FailedNodes": {text: 5}}, id="a field"),
    ],
)
@pytest.mark.parametrize("output", ["text", "json"])
def test_ten_megabytes_of_an_extender_are_cut(explain_pod, configuration, serve, body, output):
    server = serve(lambda request: Reply(body("wordy" * 2_000_000)))
    ended = explain_pod(configuration(server.url), "--allow-extenders", "-o", output)
    assert "… (10,000,0" in ended.out.replace("\n", "") or "… (10," in ended.out
    assert len(ended.out) + len(ended.err) < 100_000


def test_the_bind_verb_is_never_called(schedctl, configuration, serve, tmp_path):
    server = serve(serve_and_record("general-a-1", "general-b-1"))
    path = configuration(server.url, bindVerb="bind")
    explained = schedctl("explain", "pod", "shop/fits", *SHOP, "--scheduler-config", path, "--allow-extenders")
    assert f"Extender:{server.url} would bind the pod; a dry run does not call it" in explained.out
    placed = schedctl(
        "simulate", "fixtures/pods/fits.yaml", "-f", "fixtures/clusters/shop", "--scheduler-config", path,
        "--allow-extenders",
    )  # fmt: skip
    assert placed.code == 0
    assert {request.path for request in server.requests} == {"/filter"}


def test_recorded_answers_are_replayed(explain_pod, configuration, serve, tmp_path):
    server = serve(serve_and_record("general-a-1", "general-b-1"))
    path, record = configuration(server.url, prioritizeVerb="prioritize", weight=5), tmp_path / "calls.jsonl"
    recorded = explain_pod(path, "--allow-extenders", "--extender-record", str(record))
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    calls = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(call["extender"], call["verb"]) for call in calls] == [
        (f"{server.url}/", "filter"),
        (f"{server.url}/", "prioritize"),
    ]
    server.close()
    again = explain_pod(path, "--extender-replay", str(record))
    assert (again.code, again.out) == (recorded.code, recorded.out)


def test_recorded_failures_are_replayed(explain_pod, configuration, serve, tmp_path):
    server = serve(lambda request: Reply({}, 503))
    path, record = configuration(server.url), tmp_path / "calls.jsonl"
    recorded = explain_pod(path, "--allow-extenders", "--extender-record", str(record))
    again = explain_pod(path, "--extender-replay", str(record))
    assert "code 503" in recorded.out
    assert again.out == recorded.out


def test_unrecorded_question_is_inconclusive(explain_pod, configuration, tmp_path):
    record = tmp_path / "calls.jsonl"
    record.write_text("")
    ended = explain_pod(configuration("http://x"), "--extender-replay", str(record))
    assert ended.code == 5
    assert "guess: Extender:http://x has no recorded answer to the question: that it fits, and" in ended.out


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", "calls.jsonl:2: not a recorded extender call"),
        ('{"verb": "filter"}', "calls.jsonl:2: not a recorded extender call: Object missing required field `extender`"),
        ("[" * 5000, "calls.jsonl:2: not a recorded extender call"),
    ],
)
def test_malformed_recording_names_the_line(explain_pod, configuration, tmp_path, line, text):
    record = tmp_path / "calls.jsonl"
    record.write_text('{"extender":"http://x/","verb":"filter","question":{},"answer":"{}"}\n' + line)
    ended = explain_pod(configuration("http://x"), "--extender-replay", str(record))
    assert ended.code == 3
    assert text in ended.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--extender-replay", "x", "--allow-extenders"), "--extender-replay calls no extender"),
        (("--extender-record", "x"), "but they are not called"),
        (("--allow-extenders", "--extender-record", "no/such/folder"), "cannot be written: no such file or directory"),
    ],
)
def test_contradicting_options_are_refused(explain_pod, configuration, arguments, text):
    ended = explain_pod(configuration("http://x"), *arguments)
    assert ended.code == 2
    assert text in ended.err


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("simulate", "fixtures/pods/fits.yaml", "-f", "fixtures/clusters/shop"), id="simulate"),
        pytest.param(("drain", "general-a-1", "-f", "fixtures/clusters/shop", "--ignore-daemonsets"), id="drain"),
        pytest.param(("capacity", "--like", "pod/fits", "-n", "shop", *SHOP, "--max", "2"), id="capacity"),
    ],
)
def test_every_command_is_inconclusive_without_extenders(schedctl, configuration, serve, command):
    server = serve(serve_and_record(*(f"general-{zone}-{number}" for zone in "abc" for number in (1, 2, 3))))
    path = configuration(server.url)
    without = schedctl(*command, "--scheduler-config", path)
    assert (without.code, server.requests) == (5, [])
    assert f"guess: Extender:{server.url} was not called" in without.out
    within = schedctl(*command, "--scheduler-config", path, "--allow-extenders")
    assert within.code == 0, within
    assert server.requests


def test_node_missing_from_the_filter_result_has_a_reason(explain_pod, configuration, serve):
    server = serve(lambda request: Reply({"NodeNames": ["general-a-1"]}))
    ended = explain_pod(configuration(server.url), "--allow-extenders")
    assert f"4 nodes: rejected without a reason  [Extender:{server.url}]" in ended.out


@pytest.mark.parametrize("output", ["text", "json", "yaml"])
def test_lone_surrogate_becomes_u_fffd(explain_pod, configuration, serve, output):
    server = serve(serve_and_record("general-a-1", reason="no \ud800 licence"))
    ended = explain_pod(configuration(server.url), "--allow-extenders", "-o", output)
    assert (ended.code, ended.err.count("Error")) == (0, 0)
    assert "no \ufffd licence" in ended.out


@pytest.mark.parametrize("arguments", [("--extender-replay", "gone"), ("--allow-extenders", "--extender-record", "x")])
def test_recording_without_extenders_is_an_error(schedctl, arguments):
    ended = schedctl("explain", "pod", "shop/fits", *SHOP, *arguments)
    assert ended.code == 2
    assert f"{arguments[-2]} {arguments[-1]}: no extender in" in ended.err


def test_missing_recording_is_an_error(explain_pod, configuration):
    ended = explain_pod(configuration("http://x"), "--extender-replay", "gone")
    assert ended.code == 3
    assert "gone: cannot be read: no such file" in ended.err
