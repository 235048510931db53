"""Extenders on the command line: asked only where somebody says so, recorded, replayed, and told of."""

import json
import stat

import pytest

from tests.live.servers import Reply

SHOP = ("-f", "fixtures/clusters/shop", "-f", "fixtures/pods/fits.yaml")


@pytest.fixture
def configuration(tmp_path):
    """Write a configuration with an extender and return its path."""

    def write(url, **given):
        tree = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "extenders": [{"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, **given}],
        }
        path = tmp_path / "scheduler.yaml"
        path.write_text(json.dumps(tree))
        return str(path)

    return write


def keeping(*names, reason="no licence"):
    """An extender that keeps these nodes, and scores them downwards."""

    def answer(request):
        asked = json.loads(request.body)
        if request.path == "/prioritize":
            return Reply([{"Host": name, "Score": 10 - place} for place, name in enumerate(names)])
        kept = [name for name in asked["NodeNames"] if name in names]
        failed = {name: reason for name in asked["NodeNames"] if name not in names}
        return Reply({"NodeNames": kept, "FailedNodes": failed})

    return answer


@pytest.fixture
def explained(schedctl):
    def explain(path, *arguments):
        return schedctl("explain", "pod", "shop/fits", *SHOP, "--scheduler-config", path, *arguments)

    return explain


def test_nobody_is_asked_and_the_answer_is_inconclusive(explained, configuration, serve):
    server = serve(keeping("general-a-1"))
    ended = explained(configuration(server.url))
    assert ended.code == 5
    assert f"guess: Extender:{server.url} was not asked (`--allow-extenders`): that it fits, and where, is" in ended.out
    assert server.requests == []


def test_an_extender_that_would_not_be_asked_is_not_missed(explained, configuration):
    managed = [{"name": "example.com/gpu"}]
    ended = explained(configuration("http://x", managedResources=managed))
    assert (ended.code, ended.err) == (0, "")
    assert "Extender" not in ended.out


def test_verdicts_and_scores_stand_beside_those_of_plugins(explained, configuration, serve):
    server = serve(keeping("general-a-1", "general-b-1"))
    path = configuration(server.url, prioritizeVerb="prioritize", weight=50)
    ended = explained(path, "--allow-extenders", "--matrix", "-o", "json")
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


def test_the_text_tells_what_an_extender_refused(explained, configuration, serve):
    server = serve(keeping("general-a-1"))
    ended = explained(configuration(server.url), "--allow-extenders", "--node", "general-b-1", "--matrix")
    assert f"4 nodes: no licence  [Extender:{server.url}]" in ended.out
    assert f"Extender:{server.url}: no licence" in ended.out


def test_a_pod_that_extenders_refuse_everywhere_has_the_line_of_kube_scheduler(explained, configuration, serve):
    server = serve(keeping())
    ended = explained(configuration(server.url), "--allow-extenders", "-o", "json")
    (result,) = json.loads(ended.out)["results"]
    assert result["message"].startswith(
        "0/17 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu, 5 no licence,"
    )
    assert result["unschedulablePlugins"] == ["Extender", "NodeResourcesFit", "NodeUnschedulable", "TaintToleration"]


def test_nobody_says_what_an_extender_would_make_of_an_empty_cluster(explained, configuration, serve):
    server = serve(keeping())
    assert "if no pod ran there" not in explained(configuration(server.url), "--allow-extenders").out


def test_nothing_an_extender_says_reaches_the_terminal_raw(explained, configuration, serve):
    server = serve(keeping(reason="\x1b[31mred\u202e"))
    ended = explained(configuration(server.url), "--allow-extenders")
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out


def test_the_bind_verb_is_never_called(schedctl, configuration, serve, tmp_path):
    server = serve(keeping("general-a-1", "general-b-1"))
    path = configuration(server.url, bindVerb="bind")
    told = schedctl("explain", "pod", "shop/fits", *SHOP, "--scheduler-config", path, "--allow-extenders")
    assert f"Extender:{server.url} would bind the pod; it is not asked to, for this is a dry run" in told.out
    placed = schedctl(
        "simulate", "fixtures/pods/fits.yaml", "-f", "fixtures/clusters/shop", "--scheduler-config", path,
        "--allow-extenders",
    )  # fmt: skip
    assert placed.code == 0
    assert {request.path for request in server.requests} == {"/filter"}


def test_recorded_answers_are_given_again_offline(explained, configuration, serve, tmp_path):
    server = serve(keeping("general-a-1", "general-b-1"))
    path, record = configuration(server.url, prioritizeVerb="prioritize", weight=5), tmp_path / "calls.jsonl"
    asked = explained(path, "--allow-extenders", "--extender-record", str(record))
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    calls = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(call["extender"], call["verb"]) for call in calls] == [
        (f"{server.url}/", "filter"),
        (f"{server.url}/", "prioritize"),
    ]
    server.close()
    again = explained(path, "--extender-replay", str(record))
    assert (again.code, again.out) == (asked.code, asked.out)


def test_failures_are_recorded_and_fail_again(explained, configuration, serve, tmp_path):
    server = serve(lambda request: Reply({}, 503))
    path, record = configuration(server.url), tmp_path / "calls.jsonl"
    asked = explained(path, "--allow-extenders", "--extender-record", str(record))
    again = explained(path, "--extender-replay", str(record))
    assert "code 503" in asked.out
    assert again.out == asked.out


def test_a_question_that_nobody_recorded_is_inconclusive(explained, configuration, tmp_path):
    record = tmp_path / "calls.jsonl"
    record.write_text("")
    ended = explained(configuration("http://x"), "--extender-replay", str(record))
    assert ended.code == 5
    assert "guess: Extender:http://x has no recorded answer to the question: that it fits, and" in ended.out


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{", "calls.jsonl:2: no call of an extender"),
        ('{"verb": "filter"}', "calls.jsonl:2: no call of an extender: Object missing required field `extender`"),
        ("[" * 5000, "calls.jsonl:2: no call of an extender"),
    ],
)
def test_a_record_that_is_none_is_told_by_its_line(explained, configuration, tmp_path, line, text):
    record = tmp_path / "calls.jsonl"
    record.write_text('{"extender":"http://x/","verb":"filter","question":{},"answer":"{}"}\n' + line)
    ended = explained(configuration("http://x"), "--extender-replay", str(record))
    assert ended.code == 3
    assert text in ended.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--extender-replay", "x", "--allow-extenders"), "--extender-replay asks nobody"),
        (("--extender-record", "x"), "none may be asked"),
        (("--allow-extenders", "--extender-record", "no/such/folder"), "cannot be written: no such file or directory"),
    ],
)
def test_options_that_contradict_each_other_are_told(explained, configuration, arguments, text):
    ended = explained(configuration("http://x"), *arguments)
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
def test_every_command_is_inconclusive_without_and_decided_with_extenders(schedctl, configuration, serve, command):
    server = serve(keeping(*(f"general-{zone}-{number}" for zone in "abc" for number in (1, 2, 3))))
    path = configuration(server.url)
    without = schedctl(*command, "--scheduler-config", path)
    assert (without.code, server.requests) == (5, [])
    assert f"guess: Extender:{server.url} was not asked" in without.out
    within = schedctl(*command, "--scheduler-config", path, "--allow-extenders")
    assert within.code == 0, within
    assert server.requests


def test_a_node_that_is_left_out_without_a_word_is_told_of_in_words(explained, configuration, serve):
    server = serve(lambda request: Reply({"NodeNames": ["general-a-1"]}))
    ended = explained(configuration(server.url), "--allow-extenders")
    assert f"4 nodes: refused without a word of why  [Extender:{server.url}]" in ended.out


@pytest.mark.parametrize("output", ["text", "json", "yaml"])
def test_half_a_surrogate_pair_in_an_answer_is_written_as_u_fffd(explained, configuration, serve, output):
    server = serve(keeping("general-a-1", reason="no \ud800 licence"))
    ended = explained(configuration(server.url), "--allow-extenders", "-o", output)
    assert (ended.code, ended.err.count("Error")) == (0, 0)
    assert "no \ufffd licence" in ended.out


@pytest.mark.parametrize("arguments", [("--extender-replay", "gone"), ("--allow-extenders", "--extender-record", "x")])
def test_a_record_without_extenders_is_an_error(schedctl, arguments):
    ended = schedctl("explain", "pod", "shop/fits", *SHOP, *arguments)
    assert ended.code == 2
    assert f"{arguments[-2]} {arguments[-1]}: no extender is in" in ended.err


def test_a_record_that_is_not_there_is_an_error(explained, configuration):
    ended = explained(configuration("http://x"), "--extender-replay", "gone")
    assert ended.code == 3
    assert "gone: cannot be read: no such file" in ended.err
