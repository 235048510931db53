"""Pages as documents: one file that asks for nothing, says its answer without a script, and holds names as text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from schedctl.errors import UsageError
from schedctl.render.html import documents
from schedctl.render.html.markup import Markup, element
from tests.render.html.conftest import QUESTIONS, ROOT, SHOP, ask, large_cluster
from tests.render.html.hostile import LONG, MARKUP, REVERSED, hostile_page

VOID = {"meta", "input", "br", "rect", "line", "path", "circle", "col"}
EXAMPLES = ROOT / "fixtures/pods"
EVERY = pytest.mark.parametrize("name", QUESTIONS)


class Outline(HTMLParser):
    """The elements of a page: their names, attributes, and the texts outside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.raw: dict[str, list[str]] = {"style": [], "script": []}

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]].append(data)
        else:
            self.text += data


def outline(page: str) -> Outline:
    read = Outline()
    read.feed(page)
    assert not read.open
    return read


@EVERY
def test_every_element_is_closed_where_it_was_opened(pages, name):
    assert outline(pages(name)).text


@EVERY
def test_a_page_names_nothing_that_could_be_fetched(pages, name):
    read = outline(pages(name))
    assert not {key for key, _ in read.attributes} & {"src", "href", "srcset", "action", "data", "poster", "background"}
    assert "url(" not in "".join(read.raw["style"])
    assert "@import" not in "".join(read.raw["style"])


@EVERY
def test_no_attribute_is_a_script_or_a_style(pages, name):
    keys = {key for key, _ in outline(pages(name)).attributes}
    assert not [key for key in keys if key.startswith("on") or key == "style"]


@EVERY
def test_the_policy_allows_the_style_and_the_script_by_their_hashes_and_nothing_else(pages, name):
    read = outline(pages(name))
    policy = next(value for key, value in read.attributes if key == "content" and value and "default-src" in value)
    scripts = [script for script in read.raw["script"] if not script.startswith("{")]
    for kind, (code,) in (("style", read.raw["style"]), ("script", scripts)):
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


@EVERY
def test_a_page_says_that_nothing_was_changed_and_by_which_rules_it_judges(pages, name):
    text = outline(pages(name)).text
    assert "A dry run: nothing was changed." in text
    assert "kube-scheduler v1.37.1" in text


@EVERY
def test_every_table_has_a_caption_and_a_cell_for_each_heading(pages, name):
    for table in re.findall(r"<table.*?</table>", pages(name), re.DOTALL):
        assert table.count("<caption>") == 1
        heads = table.count("<th ")
        assert heads
        assert all(row.count("<td") == heads for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL) if "<td" in row)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        pytest.param(
            "explain",
            ["is unschedulable", "None of 17 nodes is feasible", "cpu: 500m requested, 90m to 140m free"],
            id="the verdict and the nearest cause",
        ),
        pytest.param("explain", ["would fit on 2 nodes if cpu", "kubectl set resources"], id="the fix and its command"),
        pytest.param("explain", ["NodeUnschedulable", "16", "8", "5"], id="the nodes left after each filter"),
        pytest.param("explain", ["maxSkew 1 over topology.kubernetes.io/zone", "no room"], id="the spread"),
        pytest.param("explain a pod that fits", ["would be placed on general-b-1", "score 639"], id="the choice"),
        pytest.param(
            "explain preemption",
            ["would preempt 1 pod on general-b-2", "evict batch/report-29387820-5ndlc (priority 100"],
            id="preemption",
        ),
        pytest.param("explain many", ["2 of 2 would not be placed", "Job ml/train"], id="a table of many answers"),
        pytest.param(
            "explain a group",
            ["podgroup ml/train", "None of 64 pods has a node", "all 4 together have room for 128"],
            id="a gang",
        ),
        pytest.param("explain a node", ["node general-a-2", "of 2 pending pods would fit now"], id="a node"),
        pytest.param(
            "simulate",
            ["17 of 19 pods would be placed", "1 of StatefulSet shop/sessions would stay pending"],
            id="a run",
        ),
        pytest.param(
            "drain",
            ["nodes general-a-2, general-b-2", "3 placed elsewhere, 3 pending; 8 pods of DaemonSets"],
            id="a drain",
        ),
        pytest.param(
            "capacity",
            ["more pods would fit", "The next one would fit only by preempting 1 pod on general-b-2"],
            id="a capacity",
        ),
        pytest.param(
            "check",
            ["fails: Deployment shop/web: 1 pod of 3 pending, none allowed", "In each of 3 scenarios"],
            id="a check",
        ),
        pytest.param(
            "nodes",
            ["add 3 nodes", "1 pod would preempt others rather than wait", "Proved: the fewest nodes"],
            id="a plan of nodes",
        ),
        pytest.param(
            "nodes --as-autoscaler",
            [
                "Karpenter would launch 2 nodes: 1 batch, 1 general; it does nothing for 2 pods",
                "Kube-scheduler would place 2 of 4 pods on these nodes",
                "no instance type has room for it",
            ],
            id="what Karpenter would launch",
        ),
        pytest.param(
            "nodes --shrink --as-autoscaler",
            [
                "Karpenter would remove 2 of 3 nodes and replace 1",
                "Launched instead",
                "Karpenter: each command is taken to be carried out",
            ],
            id="what Karpenter would consolidate",
        ),
        pytest.param(
            "nodes --shrink",
            ["2 of 17 nodes can go", "2 pods are pending already and not considered", "more than 8 are impossible"],
            id="nodes that can go",
        ),
        pytest.param(
            "n-1",
            [
                "16 of 20 losses would leave pods pending",
                "zone eu-west-1c and zone eu-west-1a",
                "Not counted: ml/train-",
            ],
            id="losses",
        ),
        pytest.param(
            "sweep",
            ["a loss leaves 9 to 10 pods pending; 2 without", "The seed makes no difference", "--only"],
            id="a sweep",
        ),
        pytest.param(
            "simulate --compare",
            [
                "2 of 5 pods would go to other nodes",
                "No running pod is moved, unless it is preempted",
                "B: kube-scheduler",
            ],
            id="a comparison of runs",
        ),
        pytest.param(
            "explain --compare",
            ["ml/train-zkdlf, shop/web-7d9c6b5f4d-jbljm find no node under any", "favours general-b-2 by 100 under B"],
            id="a comparison of pods",
        ),
        pytest.param(
            "explain a bound pod",
            ["4 pods of Deployment shop/cart are all bound, on 4 nodes", "it is not scheduling", "general-c-2"],
            id="pods whose scheduling is done",
        ),
        pytest.param(
            "capacity of several",
            ["25 more deploy shop/cart, no more deploy shop/web would fit", "Why no more"],
            id="capacities of several kinds",
        ),
        pytest.param("explain nodes", ["none of 2 nodes would take a pending pod", "0 of 2", "Ready"], id="nodes"),
    ],
)
def test_the_answer_is_there_without_a_script(pages, name, answers):
    text = outline(pages(name)).text
    assert [answer for answer in answers if answer not in text] == []


@pytest.mark.parametrize("name", ["explain", "simulate", "capacity", "drain", "check"])
def test_nodes_that_one_reason_refuses_on_different_grounds_are_told_with_the_number_of_each(pages, name):
    expected = {"simulate": "taint spot=true:NoSchedule (3)", "check": "2 nodes: topology.kubernetes.io/zone=eu-1c has"}
    text = outline(pages(name)).text
    assert expected.get(name, "2 nodes: taint nvidia.com/gpu=present:NoSchedule") in text


def test_where_counting_stopped_nothing_is_said_of_what_was_not_counted():
    text = outline(ask("capacity", "--like", "deploy/cart", "-n", "shop", "--max", "10", *SHOP, "-o", "html")).text
    assert "at least 10 more pods would fit" in text
    assert "Counting stopped there, though more might fit" in text
    assert "not used by the first 10" in text
    assert "Fits after these" not in text


def test_pods_that_are_bound_and_do_not_run_are_no_good_news():
    text = outline(ask("explain", "pods", "-A", "-f", str(ROOT / "tests/triage/bound"), "-o", "html")).text
    assert "all are bound, 5 of them not running" in text


def test_a_plugin_has_the_same_colour_on_every_page(pages):
    for name in ("explain", "explain a pod that fits", "explain preemption"):
        assert re.search(r'<span class="key c2"></span>(refused by )?TaintToleration', pages(name))


def test_the_map_has_a_square_for_each_node_and_the_table_behind_it_the_same_number(pages):
    page = pages("explain")
    assert page.count('<rect class="c') + page.count('<rect class="feasible') == 17
    data = json.loads(next(each for each in outline(page).raw["script"] if each.startswith("{")))
    assert len(data["nodes"]["names"]) == 17
    assert "17 nodes by zone and pool" in page.replace("17 Nodes", "17 nodes")


def test_what_is_known_of_nodes_is_embedded_once_for_all_answers(pages):
    assert pages("explain many").count("general-a-1") <= pages("explain").count("general-a-1") + 20
    data = json.loads(next(each for each in outline(pages("explain many")).raw["script"] if each.startswith("{")))
    assert len(data["maps"]) == 2


def test_the_page_of_5000_nodes_is_below_a_megabyte_and_a_half(large_page):
    assert 200_000 < len(large_page.encode()) < 1_500_000


def test_the_same_question_gives_the_same_bytes(pages):
    assert ask(*QUESTIONS["explain"], "-o", "html") == pages("explain")


def test_names_that_are_markup_are_texts():
    page = hostile_page()
    read = outline(page)
    assert MARKUP in read.text
    assert not {key for key, _ in read.attributes} & {"onerror", "onmouseover", "src"}
    assert "<img" not in page
    assert "<script>alert" not in page
    assert REVERSED not in page
    assert "evil\\u202egnp.exe" in page


def test_names_of_10000_characters_are_cut():
    page = hostile_page()
    assert LONG not in page
    assert "(10,000 characters)" in page


def test_a_report_of_a_check_goes_to_a_page(tmp_path):
    file = tmp_path / "check.html"
    ask(*QUESTIONS["check"], "--report", f"html={file}")
    assert "A dry run: nothing was changed." in file.read_text()


def test_a_page_made_of_a_strictly_redacted_snapshot_has_no_name_of_the_cluster(tmp_path):
    monday, redacted = ROOT / "fixtures/snapshots/monday.json.gz", tmp_path / "redacted.json"
    ask("snapshot", "redact", str(monday), str(redacted), "--redact", "strict")
    before, after = (ask("explain", "--all-pending", "-f", str(file), "-o", "html") for file in (monday, redacted))
    names = re.findall(r'"names":\[(.*?)\]', before)[0].replace('"', "").split(",")
    names += [f"{each}/" for each in ("shop", "ml")] + ["Deployment shop", "eu-west-1a"]
    assert "would not be placed" in after
    assert [name for name in names if name not in before] == []
    assert [name for name in names if name in after] == []


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(element("p", "<b>"), "<p>&lt;b&gt;</p>", id="a text is escaped"),
        pytest.param(element("p", Markup("<b></b>")), "<p><b></b></p>", id="markup is kept"),
        pytest.param(element("p", 'a"b', title='"'), '<p title="&quot;">a&quot;b</p>', id="so are attributes"),
        pytest.param(element("p", "a\u202eb"), "<p>a\\u202eb</p>", id="what turns a text round is written out"),
        pytest.param(element("p", ["a", None, [1]], class_="x"), '<p class="x">a1</p>', id="content may be nested"),
        pytest.param(element("rect", x=1, hidden=True), '<rect x="1" hidden/>', id="a square has no content"),
    ],
)
def test_elements(made, expected):
    assert made == expected


def test_a_kind_of_report_without_a_page_is_refused_with_what_there_is():
    with pytest.raises(UsageError, match="-o html has no page for a SnapshotReport"):
        documents.document(SimpleNamespace(kind="SnapshotReport"))


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_page_of_an_example_says_what_the_text_says_first(file):
    names = re.findall(r"^kind: Pod\nmetadata: \{name: ([\w-]+), namespace: ([\w-]+)", file.read_text(), re.MULTILINE)
    question = ("explain", *(f"{namespace}/{name}" for name, namespace in names), *SHOP, "-f", str(file))
    assert names
    said, read = ask(*question).splitlines(), outline(ask(*question, "-o", "html"))
    assert said[0].rstrip() in read.text
    assert "A dry run" in read.text


def _map_of(page):
    """Return what the first map of a page says, and where its pods are, by node."""
    data = json.loads(next(each for each in outline(page).raw["script"] if each.startswith("{")))
    nodes, answers = data["nodes"], data["maps"][0]
    categories = [answers["categories"][code] for code in answers["category"]]
    return dict(zip(nodes["names"], categories, strict=True)), {
        name: (before, after)
        for name, before, after in zip(nodes["names"], nodes["podsBefore"], nodes["pods"], strict=True)
    }


def test_the_map_of_a_plan_has_the_new_nodes_with_their_pods_and_the_others_with_what_they_take(pages):
    answers, pods = _map_of(pages("nodes"))
    new = [name for name, answer in answers.items() if answer == "new"]
    assert sorted(new) == ["batch-new-1", "general-2-new-1", "general-new-1"]
    assert all(pods[name][0] == 0 and pods[name][1] >= 1 for name in new)
    taking = [name for name, answer in answers.items() if answer == "takes waiting pods"]
    assert all(pods[name][1] > pods[name][0] for name in taking)
    assert all(before == after for name, (before, after) in pods.items() if answers[name] == "unchanged")


def test_the_map_of_nodes_that_can_go_has_their_pods_where_they_would_be(pages):
    answers, pods = _map_of(pages("nodes --shrink"))
    gone = {name for name, answer in answers.items() if answer == "can go"}
    assert gone == {"general-b-3", "general-a-1"}
    assert sum(pods[name][0] - pods[name][1] for name in gone) == 6
    taking = [name for name, answer in answers.items() if answer == "kept, and takes their pods"]
    assert sum(pods[name][1] - pods[name][0] for name in taking) == 6


def test_the_map_of_losses_says_which_node_would_leave_pods_pending(pages):
    data = json.loads(next(each for each in outline(pages("n-1")).raw["script"] if each.startswith("{")))
    answers = data["maps"][0]
    assert [answers["categories"][code] for code in answers["category"]].count("would leave pods pending") == 13


def test_reports_have_nodes_for_pictures_only_where_a_page_is_asked_for():
    for question in (("nodes", *SHOP), ("nodes", "--shrink", *SHOP), ("n-1", "--by", "zone", "--jobs", "1", *SHOP)):
        assert json.loads(ask(*question, "-o", "json")).get("nodeMap") is None


def test_a_drain_of_many_nodes_says_once_what_kubectl_says_of_each(tmp_path):
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(large_cluster(280)))
    question = ("drain", "-l", "node-pool=general", "--ignore-daemonsets", "-f", str(file))
    page = outline(ask(*question, "-o", "html")).text
    answer, _, text = page.partition("The same as text")
    assert "0 of 80 nodes would be drained" in answer
    assert answer.count("cannot delete Pods that declare no controller (use --force to override)") == 1
    assert "on 80 nodes: which pods" in answer
    assert text.count("REFUSED by kubectl drain") == 5
    assert "+75 more nodes" in text
