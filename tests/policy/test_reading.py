"""Policies from files: what they mean, and what is said of every mistake in them."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.durations import Duration
from schedctl.config import settings_file
from schedctl.documents.yaml_trees import read_yaml
from schedctl.errors import ConfigError
from schedctl.policy import documents, expectations, policy_reader, reading
from schedctl.policy.documents import BUILTINS, Scope
from schedctl.reports.checks import Severity
from schedctl.session.schemas import SCHEMAS

HEAD = "apiVersion: schedctl.dev/v1alpha1\nkind: CheckPolicy\nmetadata: {name: mine}\nspec:\n"
GOOD = (
    HEAD
    + """\
  match:
    namespaces: [payments]
    kinds: [Deployment]
    names: [web-*]
    labelSelector: {matchLabels: {tier: web}}
  requireMatch: true
  params: {limit: 3}
  scenarios:
    - name: lose-zone
      forEach: {topologyKey: topology.kubernetes.io/zone}
      remove: {nodeSelector: {topology.kubernetes.io/zone: "$value"}}
    - name: busy
      changes:
        - taint: {"zone=eu-1a": "spot=true:NoSchedule"}
        - scale: {deploy/shop/web: 20}
  variables:
    - {name: critical, expression: "pod.priority >= 1000"}
  checks:
    - {name: fits, builtin: schedulable}
    - name: not-on-spot
      severity: warning
      scope: pod
      scenarios: [baseline, busy]
      matchConditions: [{name: critical, expression: variables.critical}]
      validations:
        - expression: "!pod.scheduled || pod.node.labels.?lifecycle.orValue('') != 'spot'"
          messageExpression: "'lands on ' + pod.node.name"
    - name: zone-loss
      builtin: survives
      with: {scenario: lose-zone, allowPending: "priority < 1000", allowPreemption: true}
    - {name: room, severity: info, builtin: headroom, with: {replicasOf: deploy/web, absolute: 5}}
    - {name: fresh, builtin: snapshot-fresh, with: {maxAge: 36h}}
  exemptions:
    - checks: [fits]
      match: {kind: Job, name: nightly-*}
      reason: runs on a pool added at night
      expires: 2027-03-31
"""
)


def read(text, source="p.yaml"):
    policies, problems = reading.policies_in(text.encode(), source)
    return policies, [str(problem) for problem in problems]


def mistakes(spec):
    """Return each problem of a policy with its place, and its hint."""
    _, problems = reading.policies_in((HEAD + spec).encode(), "p.yaml")
    return [
        (f"{problem.line}:{problem.column} {problem.path}: {problem.message}", problem.hint) for problem in problems
    ]


def test_flags_of_built_ins_are_written_as_in_kubernetes_apis():
    text = """  checks:
    - name: drains
      builtin: drain-safe
      with: {force: true, ignoreDaemonSets: false, deleteEmptyDirData: false}
      allowUnknownNames: true
    - {name: few, builtin: max-nodes, with: {count: 2, ignorePending: true}}
"""
    ((policy,), problems) = read(HEAD + text)
    assert problems == []
    assert [(check.arguments, check.allow_unknown_names) for check in policy.checks] == [
        (documents.DrainSafe(force=True, ignore_daemon_sets=False, delete_empty_dir_data=False), True),
        (documents.MaxNodes(count=2, ignore_pending=True), False),
    ]


def test_names_are_allowed_only_where_a_check_has_arguments():
    ((message, _),) = mistakes("""  checks:
    - {name: a, scope: run, validations: [{expression: "true"}], allowUnknownNames: true}
""")
    assert message.endswith(
        "spec.checks[0].allowUnknownNames: `allowUnknownNames` goes with `builtin` or `scope: quota`"
    )


def test_a_policy_means_what_it_says():
    policies, problems = read(GOOD)
    assert problems == []
    (policy,) = policies
    assert (policy.name, policy.source, policy.require_match, policy.params) == ("mine", "p.yaml", True, {"limit": 3})
    assert policy.match.selects("Deployment", "payments", "web-1", {"tier": "web"})
    for other in (
        ("Job", "payments", "web-1", {"tier": "web"}),
        ("Deployment", "shop", "web-1", {"tier": "web"}),
        ("Deployment", "payments", "api", {"tier": "web"}),
        ("Deployment", "payments", "web-1", {}),
    ):
        assert not policy.match.selects(*other)
    zones, busy = policy.scenarios
    assert zones.topology_key == "topology.kubernetes.io/zone"
    assert zones.changes == ({"remove": {"nodeSelector": {"topology.kubernetes.io/zone": "$value"}}},)
    assert len(busy.changes) == 2
    fits, spot, loss, room, fresh = policy.checks
    assert (fits.severity, fits.scope, fits.scenarios) == (Severity.ERROR, Scope.WORKLOAD, ("baseline",))
    assert (spot.severity, spot.scope, spot.scenarios) == (Severity.WARNING, Scope.POD, ("baseline", "busy"))
    assert (loss.arguments.most_pending, loss.arguments.allowed_priority_below) == (0, 1000)
    assert (room.arguments.absolute, room.arguments.replicas_of) == ("5", "deploy/web")
    assert fresh.arguments.max_age == Duration.parse("36h")
    assert (fits.location.line, fits.location.column) == (23, 14)
    (exemption,) = policy.exemptions
    assert (exemption.expires, exemption.location.line) == (date(2027, 3, 31), 38)


def test_the_schema_accepts_what_is_read():
    def plain(node):
        if node.is_mapping:
            return {key.value: plain(value) for key, value in node.value}
        return [plain(each) for each in node.value] if node.is_list else node.value

    schema = SCHEMAS["CheckPolicy"]()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(plain(read_yaml(GOOD)), schema)


def test_what_a_check_says_for_people_goes_into_the_report():
    spec = (
        "  checks: [{name: a, builtin: schedulable, description: d, remediation: r, url: 'https://a.example/b?c#d',"
        " tags: [gpu, team/a]}]\n"
    )
    (policy,), problems = read(HEAD + spec)
    assert problems == []
    (check,) = policy.checks
    assert (check.description, check.remediation, check.url, check.tags) == (
        "d",
        "r",
        "https://a.example/b?c#d",
        ("gpu", "team/a"),
    )


def test_a_file_may_hold_several_policies_and_their_tests():
    test = "---\n# nothing\n---\nkind: CheckPolicyTest\n---\n" + GOOD + "---\n" + GOOD.replace("mine", "yours")
    policies, problems = read(test)
    assert ([policy.name for policy in policies], problems) == (["mine", "yours"], [])
    assert [policy.checks[0].location.line for policy in policies] == [28, 70]


def test_places_in_a_later_document_are_those_of_the_file():
    _, problems = read("---\n" + GOOD + "---\n" + GOOD.replace("schedulable", "schedulabel"))
    assert problems == ['p.yaml:66:29: spec.checks[0].builtin: unknown built-in check "schedulabel"']


def test_json_is_read_as_well():
    text = (
        '{"apiVersion": "schedctl.dev/v1alpha1", "kind": "CheckPolicy", "metadata": {"name": "j"},\n'
        ' "spec": {"checks": [{"name": "a", "scope": "pod", "validations": [{"expression": "pod.nme == \\"x\\""}]}]}}'
    )
    _, problems = read(text, "p.json")
    column = text.split("\n")[1].index("nme") + 1
    assert problems == [
        f'p.json:2:{column}: spec.checks[0].validations[0].expression: unknown field "nme" in pod',
    ]


CHECK = "  checks: [{name: a, builtin: schedulable}]\n"


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        pytest.param("  {}\n", "5:3 spec.checks: no checks", "a policy needs at least one check", id="nothing"),
        pytest.param(
            "  mach: {}\n" + CHECK,
            '5:3 spec.mach: unknown field "mach"',
            'did you mean "match"?',
            id="a misspelt field",
        ),
        pytest.param(
            "  match: {kinds: [Deploment]}\n" + CHECK,
            '5:19 spec.match.kinds[0]: unknown kind "Deploment"',
            'did you mean "Deployment"?',
            id="a misspelt kind",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable}, {name: a, builtin: no-regression}]\n",
            '5:52 spec.checks[1].name: duplicate check "a": another stands above',
            "",
            id="two checks of a name",
        ),
        pytest.param(
            "  checks: [{name: A_b, builtin: schedulable}]\n",
            '5:19 spec.checks[0].name: "A_b" is not a check name',
            policy_reader._NAME_HINT,
            id="a name that no annotation can carry",
        ),
        pytest.param(
            "  checks: [{name: a, severity: eror, builtin: schedulable}]\n",
            '5:32 spec.checks[0].severity: unknown severity "eror"',
            'did you mean "error"?',
            id="a misspelt severity",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, url: 'javascript:x'}]\n",
            '5:49 spec.checks[0].url: "javascript:x" is not an http or https address',
            "e.g. https://wiki.example/zones",
            id="a page that is none",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, tags: [GPU]}]\n",
            '5:51 spec.checks[0].tags[0]: "GPU" is not a tag',
            "lower-case letters, digits, '-', '.' and '/', at most 63 of them",
            id="a tag that no report can take",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, tags: [gpu, gpu]}]\n",
            '5:56 spec.checks[0].tags[1]: duplicate "gpu"',
            "remove one",
            id="a tag that stands twice",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, tags: [a, b, c, d, e, f, g, h, i]}]\n",
            "5:50 spec.checks[0].tags: 9 tags, at most 8 allowed",
            "code scanning takes no more for a rule",
            id="more tags than code scanning takes",
        ),
        pytest.param(
            "  checks: [{name: a}]\n",
            "5:12 spec.checks[0]: the check has neither `builtin:` nor `validations:`",
            f"add `builtin:` ({', '.join(BUILTINS)}) or `validations:`",
            id="a check without a demand",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: spread, scope: pod, with: {maxSkew: 1}}]\n",
            "5:46 spec.checks[0].scope: spread is judged for each workload",
            "write scope: workload, or remove it",
            id="a built-in check of something else",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: survives, with: {scenario: lose-zon}}]\n"
            "  scenarios: [{name: lose-zone, changes: [{cordon: a}]}]\n",
            '5:58 spec.checks[0].with.scenario: unknown scenario "lose-zon"',
            'did you mean "lose-zone"?',
            id="a misspelt scenario",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, scenarios: [none]}]\n",
            '5:56 spec.checks[0].scenarios[0]: unknown scenario "none"',
            "expected one of baseline",
            id="a scenario that nobody describes",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: headroom, with: {resource: cpu, percent: 20, absolute: 2}}]\n",
            "5:47 spec.checks[0].with: headroom needs one of percent, absolute and replicasOf with absolute",
            "e.g. percent: 20",
            id="two kinds of headroom",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: max-nodes}]\n",
            "5:12 spec.checks[0].with.count: max-nodes needs a count of at least 1",
            "e.g. with: {count: 3}",
            id="an argument that is needed",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, with: {minPercent: 120}}]\n",
            "5:63 spec.checks[0].with.minPercent: 120 is not a percentage",
            "above 0 and up to 100",
            id="more than all",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: placement, with: {mustNot: {taint: 'a:NoSched'}}}]\n",
            '5:66 spec.checks[0].with.mustNot.taint: unknown taint effect "NoSched"',
            'did you mean "NoSchedule"?',
            id="a misspelt effect",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, with: {minPercnt: 5}}]\n",
            '5:51 spec.checks[0].with.minPercnt: unknown field "minPercnt"',
            'did you mean "minPercent"?',
            id="a misspelt argument",
        ),
        pytest.param(
            "  scenarios: [{name: s, changes: [{cordn: a}]}]\n" + CHECK,
            '5:35 spec.scenarios[0].changes[0]: unknown what-if "cordn"',
            "did you mean cordon?",
            id="a misspelt change",
        ),
        pytest.param(
            "  scenarios: [{name: s, forEach: {topologyKey: zone}, changes: [{cordon: a}]}]\n" + CHECK,
            "5:64 spec.scenarios[0].changes: $value is not used in the changes",
            "all cases would be the same; e.g. `lose: {zone: $value}`",
            id="cases that are all the same",
        ),
        pytest.param(
            "  scenarios: [{name: s, changes: [{cordon: $value}]}]\n" + CHECK,
            "5:34 spec.scenarios[0].changes: $value has no value",
            "add forEach: {topologyKey: ...}",
            id="a value of nothing",
        ),
        pytest.param(
            CHECK + "  exemptions: [{checks: [other], reason: r}]\n",
            '6:26 spec.exemptions[0].checks[0]: unknown check "other"',
            "expected one of a",
            id="an exemption of no check",
        ),
        pytest.param(
            CHECK + "  exemptions: [{checks: ['spread-*'], reason: r}]\n",
            '6:26 spec.exemptions[0].checks[0]: no check matches "spread-*"',
            "the checks are a",
            id="an exemption of a wildcard that no check matches",
        ),
        pytest.param(
            CHECK + "  exemptions: [{checks: [a], reason: ' '}]\n",
            "6:38 spec.exemptions[0].reason: an exemption needs a reason",
            "",
            id="an exemption without a reason",
        ),
        pytest.param(
            CHECK + "  exemptions: [{checks: [a], reason: r, expires: soon}]\n",
            '6:50 spec.exemptions[0].expires: "soon" is not a date',
            "e.g. 2027-03-31",
            id="a date that is none",
        ),
        pytest.param(
            "  checks: [{name: a, scope: pod, validations: [{expression: true}]}]\n",
            "5:61 spec.checks[0].validations[0].expression: expected text, got true",
            "write it in quotes; YAML reads y, n, yes, no, on and off without quotes as true or false",
            id="an expression that YAML reads as something else",
        ),
        pytest.param(
            "  checks: [{name: n, builtin: schedulable}]\n",
            "5:19 spec.checks[0].name: expected text, got false",
            "write it in quotes; YAML reads y, n, yes, no, on and off without quotes as true or false",
            id="a name that YAML reads as something else",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: spread, with: {per: zone, maxSkew: 1}}]\n",
            '5:51 spec.checks[0].with.per: pods cannot be counted per "zone"',
            'did you mean "workload"?',
            id="pods that are counted another way",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: spread}]\n",
            "5:12 spec.checks[0].with: spread needs minDomains of 2 or more, or maxSkew",
            "e.g. minDomains: 3; all pods may be in 1 domain",
            id="a spread that every workload has",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: spread, with: {topologyKey: rack, minDomains: 1}}]\n",
            "5:45 spec.checks[0].with: spread needs minDomains of 2 or more, or maxSkew",
            "e.g. minDomains: 3; all pods may be in 1 domain",
            id="a spread over one domain",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: schedulable, with: {after: scaleup}}]\n",
            '5:58 spec.checks[0].with.after: unknown value "scaleup"',
            'did you mean "scaleUp"?',
            id="something else to wait for",
        ),
        pytest.param(
            "  checks: [{name: a, builtin: spread, with: {quux: 1}}]\n",
            '5:46 spec.checks[0].with.quux: unknown field "quux"',
            "expected one of topologyKey, minDomains, maxSkew, per, ignorePending",
            id="an argument that is near to none",
        ),
        pytest.param(
            "  checks: [{name: a, validations: [{expression: 'pod.scheduled'}]}]\n",
            "5:12 spec.checks[0].scope: a check with validations needs a scope",
            "one of pod, workload, node, namespace, quota, group, run",
            id="expressions about nobody knows what",
        ),
    ],
)
def test_a_problem_has_its_place_and_a_hint(spec, message, hint):
    assert mistakes(spec) == [(message, hint)]


def test_all_problems_are_reported_at_once_in_the_order_of_the_file():
    spec = """\
  match: {kinds: [Jop]}
  checks:
    - {name: a, builtin: spred}
    - {name: a, severity: bad, builtin: survives}
"""
    assert [message.partition(":")[0] for message, _ in mistakes(spec)] == ["5", "7", "8", "8", "8"]


def test_expressions_are_compiled_before_anything_runs_and_pointed_into():
    spec = """\
  checks:
    - name: a
      scope: pod
      validations:
        - expression: |
            pod.scheduled &&
              pod.nod.name == 'x'
          messageExpression: "'it is ' + pod.nam"
        - expression: >-
            pod.name == 'x' ||
            pood
"""
    assert mistakes(spec) == [
        ('11:19 spec.checks[0].validations[0].expression: unknown field "nod" in pod', 'did you mean "node"?'),
        (
            '12:46 spec.checks[0].validations[0].messageExpression: unknown field "nam" in pod',
            'did you mean "name"?',
        ),
        (
            '15:13 spec.checks[0].validations[1].expression: unknown variable or function "pood"',
            'did you mean "pod"?',
        ),
    ]


def test_files_and_folders_are_read(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yaml").write_text(GOOD)
    (tmp_path / "b.json").write_text('{"kind": "Other"}')
    (tmp_path / "c.yaml").write_text("kind: Deployment\n")
    found = reading.load([str(tmp_path)])
    assert [policy.name for policy in found.policies] == ["mine"]
    assert list(found.digests) == [str(tmp_path / "deep/a.yaml")]


@pytest.mark.parametrize(
    ("files", "named", "message"),
    [
        pytest.param({}, ["none.yaml"], "none.yaml: no such file or folder", id="no file"),
        pytest.param({"a.yaml": "kind: Job\n"}, ["a.yaml"], 'kind: expected "CheckPolicy"', id="another kind"),
        pytest.param({"a.yaml": "kind: Job\n"}, ["."], "no CheckPolicy in .", id="a folder without policies"),
        pytest.param({"a.yaml": "a: ["}, ["a.yaml"], "did not find expected node content", id="no YAML"),
        pytest.param(
            {"a.yaml": GOOD, "b.yaml": GOOD},
            ["."],
            'duplicate policy "mine": another is in a.yaml:3',
            id="the same name",
        ),
    ],
)
def test_what_cannot_be_read_is_a_fault_of_the_policy(tmp_path, monkeypatch, files, named, message):
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as fault:
        reading.load(named)
    assert fault.value.exit_code == 2
    assert message in str(fault.value)


def test_files_of_nodes_are_looked_for_beside_the_policy(tmp_path):
    (tmp_path / "node.yaml").write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n-1}\n")
    spec = "  scenarios: [{name: s, changes: [{addNode: node.yaml×2}, {addNode: {'like:n-1': 2}}]}]\n" + CHECK
    policies, problems = read(HEAD + spec, str(tmp_path / "p.yaml"))
    assert problems == []
    assert policies[0].scenarios[0].changes[0] == {"addNode": str(tmp_path / "node.yaml×2")}


def test_every_built_in_check_has_an_example_that_is_read():
    needed = {
        "survives": "{scenario: s}",
        "headroom": "{resource: cpu, percent: 20}",
        "placement": "{must: {nodeSelector: {a: b}}}",
        "max-nodes": "{count: 3}",
        "spread": "{maxSkew: 1}",
    }
    for name, builtin in BUILTINS.items():
        spec = f"  scenarios: [{{name: s, changes: [{{cordon: n-1}}]}}]\n  checks: [{{name: a, builtin: {name}"
        policies, problems = read(f"{HEAD}{spec}, with: {needed.get(name, '{}')}}}]\n")
        assert problems == [], name
        assert isinstance(policies[0].checks[0].arguments, builtin.arguments)


PAGES = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```yaml[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = [
    pytest.param(kind[1], block, id=f"{page.stem}-{kind[1]}")
    for page in PAGES
    for block in BLOCK.findall(page.read_text(encoding="utf-8"))
    if (kind := re.search(r"^kind: (CheckPolicy|CheckPolicyTest|Config)$", block, re.MULTILINE))
]


@pytest.mark.parametrize(("kind", "block"), SHOWN)
def test_what_a_page_shows_is_read(kind, block):
    if kind == "CheckPolicy":
        assert read(block)[1] == []
    elif kind == "CheckPolicyTest":
        assert expectations.tests_in(block.encode(), "t.yaml")[1] == []
    else:
        settings_file.read(block, of_user=True)


@given(st.data())
def test_no_damage_to_a_policy_is_more_than_a_problem(data):
    lines = GOOD.split("\n")
    number = data.draw(st.integers(0, len(lines) - 1))
    at = data.draw(st.integers(0, len(lines[number])))
    damage = data.draw(
        st.sampled_from(["", "null", "[]", "{}", "1", "'x", '"', "*a", "&a ", "<<: {a: 1}", "é", ": ", "~"])
    )
    cut = data.draw(st.integers(0, 3))
    lines[number] = lines[number][:at] + damage + lines[number][at + cut :]
    policies, problems = read("\n".join(lines))
    assert policies or problems


def test_the_policy_that_is_built_in_demands_one_thing():
    (check,) = documents.BUILT_IN_POLICY.checks
    assert check.arguments == documents.Schedulable(min_percent=100.0)


ODD = {
    "indented": "# c\n" + "".join(f"  {line}\n" for line in GOOD.splitlines()),
    "with a tag": GOOD.replace("kind: CheckPolicy", "kind: !!str CheckPolicy"),
    "quoted, with an escape": GOOD.replace("kind: CheckPolicy", 'kind: "Check\\u0050olicy"'),
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_a_policy_in_a_folder_is_read_however_it_is_written(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text)
    assert [policy.name for policy in reading.load([str(tmp_path)]).policies] == ["mine"]


def test_json_behind_a_comment_is_a_policy_too(tmp_path):
    (tmp_path / "a.yaml").write_text("# c\n" + json.dumps(yaml.safe_load(GOOD), default=str))
    assert [policy.name for policy in reading.load([str(tmp_path)]).policies] == ["mine"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(GOOD.replace("CheckPolicy", "Checkpolicy"), 'unknown kind "Checkpolicy"', id="misspelt"),
        pytest.param(GOOD.replace("CheckPolicy", "Policy"), 'unknown kind "Policy"', id="no kind of ours"),
        pytest.param("apiVersion: schedctl.dev/v1alpha1\nspec: {}\n", "Object 'Kind' is missing", id="no kind"),
        pytest.param("{apiVersion: schedctl.dev/v1alpha1, kind: CheckPolicy}", "read as JSON", id="braces"),
        pytest.param("kind: List\nitems: [{kind: CheckPolicy}]\n", "a list is not read", id="in a list"),
        pytest.param(GOOD + " x: [", "a.yaml:", id="no YAML"),
    ],
)
def test_what_was_meant_for_a_policy_is_never_passed_over(tmp_path, text, message):
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "good.yaml").write_text(GOOD.replace("name: mine", "name: other"))
    with pytest.raises(ConfigError) as caught:
        reading.load([str(tmp_path)])
    assert message in str(caught.value)


def test_documents_of_others_are_passed_over(tmp_path):
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "baseline.yaml").write_text("apiVersion: schedctl.dev/v1alpha1\nkind: CheckBaseline\nentries: []\n")
    annotated = "kind: Deployment\nmetadata: {annotations: {schedctl.dev/ignore.fits: later}}\n"
    (tmp_path / "web.yaml").write_text(annotated)
    (tmp_path / "template.yaml").write_text(annotated + "spec: {{ .Values.spec }}: [\n")
    assert len(reading.load([str(tmp_path)]).policies) == 1


@pytest.mark.parametrize(
    "named",
    ["../secret.yaml", "link.yaml", "link.yaml×2", "{}/secret.yaml", ".git/config", "{{$value: 2}}"],
)
def test_a_policy_names_no_file_outside_of_its_repository(tmp_path, named):
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/config").write_text("token = s3cret\n")
    (tmp_path / "secret.yaml").write_text("token = s3cret\n")
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    change = f"'{named.format(tmp_path)}'" if "value" not in named else "{'$value': 2}"
    spec = f"  scenarios: [{{name: s, forEach: {{topologyKey: zone}}, changes: [{{addNode: {change}}}]}}]\n" + CHECK
    policies, problems = reading.policies_in((HEAD + spec).encode(), str(folder / "p.yaml"))
    shown = " ".join(str(problem) for problem in problems)
    assert not policies
    assert "is outside of the repository" in shown
    assert "s3cret" not in shown


def test_what_a_file_of_nodes_holds_is_not_repeated(tmp_path):
    (tmp_path / "nodes.yaml").write_text("token = s3cret\n")
    spec = "  scenarios: [{name: s, changes: [{addNode: nodes.yaml}]}]\n" + CHECK
    _, problems = reading.policies_in((HEAD + spec).encode(), str(tmp_path / "p.yaml"))
    shown = " ".join(f"{problem} {problem.hint}" for problem in problems)
    assert "cannot be read as nodes" in shown
    assert "s3cret" not in shown


@pytest.mark.parametrize("name", ['"a\\nb"', "Mine", '"a b"', "-a", "a" * 254])
def test_policies_are_called_as_objects_of_kubernetes_are(name):
    _, problems = reading.policies_in(GOOD.replace("name: mine", f"name: {name}").encode(), "p.yaml")
    assert any("is not a policy name" in str(problem) for problem in problems)


@pytest.mark.parametrize("date", ["'20260101'", "2026-W01-1"])
def test_a_date_has_one_form(date):
    spec = CHECK + f"  exemptions: [{{checks: [fits], reason: r, match: {{}}, expires: {date}}}]\n"
    assert any("is not a date" in message for message, _ in mistakes(spec))
