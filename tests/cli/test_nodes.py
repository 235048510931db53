"""``schedctl nodes`` on a command line: what it prints, exit codes, mistakes."""

from __future__ import annotations

import json

import jsonschema
import pytest

from schedctl.reports.nodes import NodesReport
from schedctl.reports.schemas import schema_of

SHOP = ("-f", "fixtures/clusters/shop")
KARPENTER = ("-f", "fixtures/autoscalers/karpenter.yaml")
TYPES = ("--instance-types", "fixtures/autoscalers/instance-types.csv")


def report(ended) -> dict:
    found = json.loads(ended.out)
    jsonschema.validate(found, schema_of(NodesReport))
    return found


def test_groups_have_the_number_to_add(schedctl):
    found = report(schedctl("nodes", *SHOP, "-o", "json"))
    assert {each["name"]: each["count"] for each in found["groups"] if each["count"]} == {"general": 1, "gpu": 1}
    assert found["summary"]["text"] == "add 2 nodes: 1 general, 1 gpu"
    assert found["summary"]["gap"] == 0.0
    assert {each["pod"]: each["new"] for each in found["placements"]} == {
        "ml/train-zkdlf": True,
        "shop/web-7d9c6b5f4d-jbljm": True,
    }


def test_nodes_are_those_that_can_go(schedctl):
    found = report(schedctl("nodes", "--shrink", *SHOP, "-o", "json"))
    assert [each["name"] for each in found["nodes"]] == ["general-b-3", "general-a-1"]
    assert found["summary"]["text"] == "2 of 17 nodes can go"
    assert {each["name"] for each in found["kept"]} | {each["name"] for each in found["nodes"]} == {
        each["name"] for each in found["kept"]
    } | {"general-b-3", "general-a-1"}
    assert found["summary"]["bound"] >= 2


def test_names_are_for_scripts(schedctl):
    assert schedctl("nodes", *SHOP, "-o", "name").out == "group/general 1\ngroup/gpu 1\n"
    assert schedctl("nodes", "--shrink", *SHOP, "-o", "name").out == "node/general-b-3\nnode/general-a-1\n"


def test_a_release_is_placed_with_its_nodes(schedctl):
    found = report(schedctl("nodes", "--for", "fixtures/releases/spring", *SHOP, "-o", "json"))
    assert found["summary"]["added"] == 2
    assert found["summary"]["pending"] == 0
    assert {each["role"] for each in found["metadata"]["inputs"]} == {"Manifests", "State"}


def test_a_what_if_is_laid_below(schedctl):
    found = report(schedctl("nodes", *SHOP, "-o", "json", "--add-node", "like:general-c-1"))
    assert {each["name"]: each["count"] for each in found["groups"] if each["count"]} == {"gpu": 1}


def test_instance_types_make_money_of_it(schedctl):
    found = report(schedctl("nodes", *KARPENTER, *TYPES, "--minimize", "cost", "-o", "json"))
    assert found["summary"]["costPerHour"] == 0.24
    assert {each["name"]: each["new"][0]["instanceType"] for each in found["groups"]} == {
        "batch": "m6i.large",
        "general": "m6i.xlarge",
    }


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param([*SHOP], 0, "", id="answered"),
        pytest.param([*KARPENTER, "--exit-code"], 1, "", id="a pod stays pending"),
        pytest.param([*KARPENTER, "--shrink", "--exit-code"], 1, "", id="no node can go"),
        pytest.param([*SHOP, "--minimize", "pods"], 2, 'unknown --minimize "pods"', id="another objective"),
        pytest.param([*SHOP, "--expander", "prize"], 2, "did you mean price?", id="another expander"),
        pytest.param([*SHOP, "--expander", "price"], 2, "hint: --minimize cost", id="prices where nodes are counted"),
        pytest.param([*SHOP, "--minimize", "cost"], 2, "no price of any node is known", id="no prices"),
        pytest.param(
            [*SHOP, "--shrink", "--minimize", "cost"], 2, "--shrink and --minimize were both given", id="cost"
        ),
        pytest.param([*SHOP, "--force"], 2, "--force needs --shrink", id="an option of the other question"),
        pytest.param([*SHOP, "--shrink", "--for", "x.yaml"], 2, "--shrink and --for were both given", id="both"),
        pytest.param([*SHOP, "--for", "nowhere.yaml"], 3, "nowhere.yaml", id="manifests that are not there"),
        pytest.param([*SHOP, "--node-groups", "nowhere.yaml"], 3, "cannot be read", id="groups that are not there"),
        pytest.param([*SHOP, "--instance-types", "nowhere.csv"], 3, "cannot be read", id="types that are not there"),
        pytest.param([*SHOP, "--instance-types", "README.md"], 3, "README.md", id="types that are none"),
    ],
)
def test_exit_codes(arguments, code, said, schedctl):
    ended = schedctl("nodes", *arguments)
    assert ended.code == code, ended.err
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_an_interrupt_prints_the_best_so_far(schedctl, monkeypatch):
    from schedctl.simulation.scale_downs import removals

    real = removals._Search._one_by_one

    def interrupted(self, candidates):
        real(self, candidates[:2])
        raise KeyboardInterrupt

    monkeypatch.setattr(removals._Search, "_one_by_one", interrupted)
    ended = schedctl("nodes", "--shrink", *SHOP)
    assert ended.code == 130
    assert "interrupted: this is the best that was found so far" in ended.out


def test_what_autoscalers_keep_among_manifests_is_passed_over(schedctl, tmp_path):
    release = tmp_path / "release.yaml"
    release.write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n---\n"
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: other}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
        "spec: {containers: [{name: a, image: b, resources: {requests: {cpu: '1'}}}]}\n"
    )
    found = report(schedctl("nodes", "--for", str(release), *KARPENTER, "-o", "json"))
    assert "default/p" in {each["pod"] for each in found["placements"]}
    assert [each["name"] for each in found["groups"]] == ["batch", "general"]
    assert schedctl("check", str(release), *KARPENTER).code in (0, 1)


def test_explain_ends_with_the_groups_that_would_help(schedctl):
    ended = schedctl("explain", "pod", "web-1", *KARPENTER)
    assert "scale-up: 1 new node of group general would take the pod" in ended.out
    assert "scale-up" not in schedctl("explain", "pod", "web-7d9c6b5f4d-jbljm", "-n", "shop", *SHOP).out
    asked_for = schedctl("explain", "pod", "web-7d9c6b5f4d-jbljm", "-n", "shop", *SHOP, "--scale-up", "-o", "json")
    (result,) = json.loads(asked_for.out)["results"]
    assert (result["scaleUp"]["group"], result["outlook"]) == ("general", "FitsAfterScaleUp")


@pytest.mark.parametrize(
    ("on", "fits"),
    [
        pytest.param("type=m6i.xlarge", 7, id="as a node of the type has it"),
        pytest.param("type=m6i.2xlarge", 15, id="as the catalogue has it"),
    ],
)
def test_a_shape_is_counted_on_a_fresh_node_of_a_type(on, fits, schedctl):
    ended = schedctl("capacity", "--like", "deploy/web", "-n", "shop", *SHOP, *TYPES, "--on", on, "-o", "json")
    (result,) = json.loads(ended.out)["results"]
    assert (result["fits"], len(result["nodes"])) == (fits, 1)
    assert result["subject"] == f"deploy shop/web on {on.removeprefix('type=')}"
    assert any("DaemonSets take cpu" in note for note in result["notes"])


@pytest.mark.parametrize(
    ("on", "said"), [("m6i.large", 'invalid --on "m6i.large"'), ("type=x", "unknown instance type")]
)
def test_types_that_are_not_there_are_told(on, said, schedctl):
    ended = schedctl("capacity", "--like", "deploy/web", "-n", "shop", *SHOP, "--on", on)
    assert (ended.code, said in ended.err) == (2, True)


def test_a_limit_that_the_plan_itself_exhausts_is_what_keeps_the_other_pods_pending(schedctl, tmp_path):
    nodes = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {pool: web}}\n"
        "status: {allocatable: {cpu: '4', memory: 8Gi, pods: '20'}}\n"
    )
    pods = "".join(
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}}}\n"
        "spec: {containers: [{name: c, image: c, resources: {requests: {cpu: '3'}}}]}\n"
        for number in range(3)
    )
    groups = "apiVersion: schedctl.dev/v1alpha1\nkind: NodeGroups\ngroups:\n- {name: web, maxSize: 2}\n"
    (tmp_path / "state.yaml").write_text(nodes + pods)
    (tmp_path / "groups.yaml").write_text(groups)
    files = ("-f", str(tmp_path / "state.yaml"), "--node-groups", str(tmp_path / "groups.yaml"))
    found = report(schedctl("nodes", *files, "-o", "json"))
    assert (found["summary"]["added"], found["summary"]["pending"]) == (1, 1)
    (refusal,) = found["pending"][0]["groups"]
    assert refusal == {
        "group": "web",
        "obstacle": "LimitReached",
        "text": "limit reached with the 1 node to add: maximum size 2 of the group, which has 1",
    }
