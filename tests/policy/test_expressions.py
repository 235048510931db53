"""The CEL of policies: what compiles, what is said of what does not, and what an answer comes to."""

from __future__ import annotations

import subprocess
import sys

import pytest

from schedctl.policy import documents
from schedctl.policy.compilation import compile_policy
from schedctl.policy.expressions import PolicyExpressions
from schedctl.policy.judgements import Programs
from schedctl.policy.variables import IN_SCOPE, RECORDS, ROOTS
from schedctl.policy.verdicts import PASSED
from schedctl.reports.checks import CheckOutcome, Location

NODE = {
    "name": "n-1",
    "zone": "eu-1a",
    "labels": {"lifecycle": "spot"},
    "taints": [],
    "unschedulable": False,
    "allocatable": {"cpu": 4000, "nvidia.com/gpu": 1},
    "requested": {"cpu": 1000},
    "free": {"cpu": 3000},
    "pods": 3,
}
POD = {
    "namespace": "shop",
    "name": "web-0",
    "labels": {"app": "web"},
    "annotations": {},
    "spec": {"nodeSelector": {"pool": "general"}},
    "priority": 5,
    "requests": {"cpu": 500},
    "workload": {"kind": "Deployment", "name": "web"},
    "scheduled": True,
    "node": NODE,
    "reasons": [],
    "preempts": [],
    "source": {"file": "web.yaml", "line": 1},
}
RESULT = {
    "pods": {"total": 3, "scheduled": 2, "pending": 1},
    "pendingByReason": {},
    "nodesByZone": {"eu-1a": 1},
    "preemptions": 0,
    "headroom": {"cpu": 3000},
}
WORKLOAD = {
    "kind": "Deployment",
    "namespace": "shop",
    "name": "web",
    "labels": {},
    "annotations": {},
    "replicas": 2,
    "pods": [POD, {**POD, "name": "web-1", "priority": 7}],
    "ready": 2,
    "pending": 0,
    "zones": {"eu-1a": 2},
    "nodes": {"n-1": 2},
    "source": {"file": "web.yaml", "line": 1},
}
VALUES = {"pod": POD, "workload": WORKLOAD, "node": NODE, "result": RESULT, "baseline": RESULT}


def policy(expression, *, scope=documents.Scope.POD, message="", made="", variables=(), conditions=(), params=None):
    validation = documents.Validation(
        documents.Expression(expression), message, documents.Expression(made) if made else None
    )
    check = documents.Check(
        "c",
        scope=scope,
        validations=(validation,),
        conditions=tuple(documents.Condition("", documents.Expression(each)) for each in conditions),
    )
    named = tuple(documents.Variable(name, documents.Expression(text)) for name, text in variables)
    return documents.CheckPolicy("p", (check,), variables=named, params=params or {})


def problems(expression, **more):
    return [(problem.message, problem.hint) for problem in compile_policy(policy(expression, **more))]


def verdict(expression, values=None, **more):
    written = policy(expression, **more)
    assert compile_policy(written) == []
    programs = Programs(PolicyExpressions(written))
    check = written.checks[0]
    return programs.judgement(check.scope, values or VALUES).judge(check)


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("!pod.scheduled || pod.node.zone == 'eu-1a'", id="a field of the node"),
        pytest.param("pod.node.labels.?lifecycle.orValue('') == 'spot'", id="an optional key"),
        pytest.param("pod.requests[?'nvidia.com/gpu'].orValue(0) == 0", id="an optional index"),
        pytest.param("'nvidia.com/gpu' in pod.node.allocatable", id="a key"),
        pytest.param("pod.node != null", id="null"),
        pytest.param("pod.spec.nodeSelector.pool == 'general'", id="the spec as it is written"),
        pytest.param("has(pod.spec.nodeSelector) && !has(pod.spec.affinity)", id="has"),
        pytest.param("workload.pods.all(p, p.scheduled)", id="all"),
        pytest.param("workload.pods.exists(p, p.priority > 6)", id="exists"),
        pytest.param("workload.zones.all(zone, workload.zones[zone] > 1)", id="keys of a map"),
        pytest.param("sum(workload.pods.map(p, p.priority)) == 12", id="sum"),
        pytest.param("workload.pods.map(p, p.priority).max() == 7", id="max as a method"),
        pytest.param("min([1.5, 2.5]) == 1.5", id="min of numbers with a point"),
        pytest.param("percent(1, 3) > 33", id="percent and a whole number"),
        pytest.param("percent(pod.priority, 8) == 62.5", id="percent and a number with a point"),
        pytest.param("labelMatch('app in (web, api),!spot', pod.labels)", id="a selector"),
        pytest.param("labelMatch({'app': 'web'}, pod.labels)", id="a selector as a map"),
        pytest.param("quantity('500m').milliValue() <= pod.requests.cpu", id="a quantity in millicores"),
        pytest.param("quantity('1Gi').isGreaterThan(quantity('1G'))", id="a comparison of quantities"),
        pytest.param("quantity('1Gi').add(quantity('1k')).sub(24).asInteger() == 1073742800", id="arithmetic"),
        pytest.param("quantity('1k') == quantity('1000') && quantity('1').compareTo(quantity('2')) == -1", id="equal"),
        pytest.param("quantity('0.5').asApproximateFloat() == 0.5 && !quantity('0.5').isInteger()", id="half"),
        pytest.param("isQuantity('2Gi') && !isQuantity('2 Gi') && quantity('-1').sign() == -1", id="no quantity"),
        pytest.param("pod.name.split('-')[1] == '0'", id="functions of texts"),
        pytest.param("cel.bind(x, pod.priority, x + 1 == 6)", id="bind"),
        pytest.param("result.pods.pending <= baseline.pods.pending", id="before and after"),
        pytest.param("dyn(pod.priority) < 5.5", id="numbers of two types"),
    ],
)
def test_an_expression_compiles_and_holds(expression):
    assert verdict(expression) == PASSED


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        pytest.param("pod.schedueld", 'unknown field "schedueld" in pod', 'did you mean "scheduled"?', id="a field"),
        pytest.param(
            "pod.node.lables.x == ''", 'unknown field "lables" in node', 'did you mean "labels"?', id="further in"
        ),
        pytest.param(
            "workload.pods.all(p, p.nme == '')",
            'unknown field "nme" in pod',
            'did you mean "name"?',
            id="in a macro",
        ),
        pytest.param("pood.scheduled", 'unknown variable or function "pood"', 'did you mean "pod"?', id="a variable"),
        pytest.param(
            "percnt(1, 2) > 1", 'unknown variable or function "percnt"', 'did you mean "percent"?', id="a function"
        ),
        pytest.param(
            "node.name == ''",
            '"node" is not available in the scope pod',
            "it is available in the scope node; available here: pod, workload, namespaceObject, result, baseline,"
            " params, variables",
            id="a variable of another scope",
        ),
        pytest.param("variables.x", 'unknown variable "x"', "none is defined", id="a variable of nobody"),
        pytest.param("params.y == 3", 'unknown param "y"', "expected one of limit", id="a param of nobody"),
        pytest.param("pod.name == 1", '"==" does not take (string, int)', "", id="two types"),
        pytest.param(
            "pod.priority > 1.5",
            '">" does not take (int, double)',
            "an int and a double cannot be combined: write double(...) around the int",
            id="two types of numbers",
        ),
        pytest.param(
            "quantity('1') < quantity('2')",
            '"<" does not take (quantity, quantity)',
            "compare quantities with isLessThan, isGreaterThan or compareTo",
            id="quantities by a sign",
        ),
        pytest.param(
            "pod.priority", "expected an expression that is true or false; this is a number", "", id="a number"
        ),
        pytest.param("pod.node", "expected an expression that is true or false; this is a node", "", id="a record"),
        pytest.param("", "the expression is empty", "", id="nothing"),
    ],
)
def test_a_compile_error_has_a_message_and_a_hint(expression, message, hint):
    assert problems(expression, params={"limit": 3}) == [(message, hint)]


def test_a_syntax_error_has_the_words_of_the_engine():
    ((message, _),) = problems("1 +")
    assert message.startswith("syntax error: mismatched input '<EOF>'")


def test_a_message_must_be_text():
    assert problems("true", made="1 + 1") == [("expected an expression that is text; this is a number", "")]


@pytest.mark.parametrize("scope", documents.Scope)
def test_a_scope_has_its_variables_and_no_others(scope):
    for root in ROOTS:
        wrong = problems(f"{root} == {root}", scope=scope)
        assert bool(wrong) == (root not in IN_SCOPE[scope]), root


def test_every_field_has_the_type_it_is_given():
    shown = {"string": "''", "int": "1", "bool": "true"}
    for root, written in ROOTS.items():
        scope = next(scope for scope, names in IN_SCOPE.items() if root in names)
        record = written.removeprefix("list<").removesuffix(">")
        one = root if record == written else f"{root}[0]"
        for field, kind in RECORDS[record].items():
            if kind in shown:
                assert problems(f"{one}.{field} == {shown[kind]}", scope=scope) == []
                other = "1" if kind != "int" else "''"
                assert problems(f"{one}.{field} == {other}", scope=scope) != []


# -- variables -----------------------------------------------------------------------


def test_variables_see_those_above_them():
    assert verdict("variables.b", variables=[("a", "pod.priority > 3"), ("b", "variables.a")]) == PASSED
    assert problems("variables.a == 1", variables=[("a", "variables.b"), ("b", "1")]) == [
        ('the variable "b" is not defined yet', "a variable can use only the variables above it")
    ]


def test_a_variable_has_the_type_of_its_expression():
    assert problems("variables.a > 'x'", variables=[("a", "pod.priority")]) == [('">" does not take (int, string)', "")]


def test_a_variable_that_is_used_must_compile_in_the_scope():
    ((message, _),) = problems("variables.a == ''", variables=[("a", "pod.name")], scope=documents.Scope.RUN)
    assert message == '"pod" is not available in the scope run'


def test_a_variable_that_is_not_used_must_compile_in_some_scope():
    assert problems("true", variables=[("a", "pod.name")], scope=documents.Scope.RUN) == []
    assert len(problems("true", variables=[("a", "pod.name + node.name")], scope=documents.Scope.RUN)) == 1


def test_a_variable_that_fails_matters_where_it_is_used_only():
    failing = [("a", "pod.spec.nope == 3"), ("b", "variables.a")]
    assert verdict("pod.priority > 3 || variables.a", variables=failing) == PASSED
    for name in "ab":
        found = verdict(f"pod.priority < 3 || variables.{name}", variables=failing)
        assert found.outcome is CheckOutcome.INCONCLUSIVE
        assert found.message == 'the expression of the variable "a" cannot be evaluated: no key "nope"'
        assert found.reasons == ("expression: pod.spec.nope == 3",)


def test_variables_are_worked_out_once_for_an_object(monkeypatch):
    written = policy("variables.a && variables.b && variables.a", variables=[("a", "true"), ("b", "variables.a")])
    programs = Programs(PolicyExpressions(written))
    seen = []
    real = programs.program
    monkeypatch.setattr(programs, "program", lambda text, scope: seen.append(text) or real(text, scope))
    assert programs.judgement(documents.Scope.POD, VALUES).judge(written.checks[0]) == PASSED
    assert sorted(seen) == ["true", "variables.a", "variables.a && variables.b && variables.a"]


# -- verdicts ------------------------------------------------------------------------


def test_conditions_say_which_objects_a_check_is_about():
    assert verdict("false", conditions=["true", "pod.priority > 100"]) is None
    assert verdict("false", conditions=["pod.spec.nope", "false"]) is None, "one that is false is enough"
    assert verdict("true", conditions=["pod.spec.nope"]).outcome is CheckOutcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("more", "message"),
    [
        pytest.param({"made": "'pod ' + pod.name"}, "pod web-0", id="the one that is made"),
        pytest.param({"message": "no"}, "no", id="the one that is written"),
        pytest.param({"message": "no", "made": "pod.spec.nope"}, "no", id="the one that is written else"),
        pytest.param({"made": "pod.spec.nope"}, "does not hold: pod.priority < 5", id="the expression in the end"),
        pytest.param({"message": "no", "made": "' '"}, "no", id="nothing is no message"),
        pytest.param({"message": "no", "made": "'a\\nb'"}, "no", id="nor are two lines"),
    ],
)
def test_the_message_of_a_violation(more, message):
    found = verdict("pod.priority < 5", **more)
    assert (found.outcome, found.message) == (CheckOutcome.VIOLATED, message)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        pytest.param("pod.spec.nope == 1", 'no key "nope"', id="no key"),
        pytest.param("pod.priority / 0 == 1", "divide by zero", id="zero"),
        pytest.param("percent(1, 0) > 1", "percent of nothing", id="percent of nothing"),
        pytest.param("max([]) > 1", "max of an empty list", id="nothing is the largest of none"),
        pytest.param("quantity('5x').asInteger() == 1", '"5x" is not a quantity', id="no quantity"),
        pytest.param(
            "quantity('1e400').asApproximateFloat() > 1.0",
            "the quantity is too large for a double",
            id="no double holds it",
        ),
        pytest.param(
            "quantity('1e30').asInteger() > 1",
            "the quantity is not an integer of 64 bits",
            id="no integer holds it",
        ),
        pytest.param("quantity('1e30').milliValue() > 1", "integer overflow", id="nor a thousand times of it"),
        pytest.param("labelMatch('=(', pod.labels)", 'cannot read the selector "=("', id="no selector"),
        pytest.param("pod.spec", "expected true or false, got a map", id="neither true nor false"),
        pytest.param(
            "workload.pods.all(p, workload.pods.all(q, q.name != p.labels.x))",
            "it takes more than 10,000 steps",
            id="long",
        ),
    ],
)
def test_an_expression_that_fails_is_inconclusive(expression, message):
    many = {**VALUES, "workload": {**WORKLOAD, "pods": [POD] * 120}}
    found = verdict(expression, many)
    assert found.outcome is CheckOutcome.INCONCLUSIVE
    assert found.message == f"the expression cannot be evaluated: {message}"
    assert found.reasons == (f"expression: {expression}",)


def test_a_pod_without_a_node_has_no_field_of_one():
    found = verdict("pod.node.zone == 'a'", {**VALUES, "pod": {key: POD[key] for key in POD if key != "node"}})
    assert found.message == "the expression cannot be evaluated: the pod has no node"
    assert found.hints == ("check `pod.scheduled` or `has(pod.node)` first",)


def test_a_violation_goes_before_an_expression_that_fails():
    validations = tuple(
        documents.Validation(documents.Expression(text)) for text in ("pod.spec.nope", "pod.priority < 5", "true")
    )
    written = documents.CheckPolicy("p", (documents.Check("c", scope=documents.Scope.POD, validations=validations),))
    programs = Programs(PolicyExpressions(written))
    found = programs.judgement(documents.Scope.POD, VALUES).judge(written.checks[0])
    assert (found.outcome, found.message) == (CheckOutcome.VIOLATED, "does not hold: pod.priority < 5")
    assert any("nope" in reason for reason in found.reasons)


def test_only_the_variables_that_expressions_read_are_needed():
    texts = PolicyExpressions(policy("variables.a", variables=[("a", "pod.scheduled")]))
    assert texts.roots(documents.Scope.POD) == {"pod"}
    assert texts.roots(documents.Scope.NODE) == frozenset()


def test_a_reason_names_the_place_of_the_expression():
    expression = documents.Expression("pod.spec.nope", Location(file="p.yaml", line=7, column=9))
    written = documents.CheckPolicy(
        "p", (documents.Check("c", scope=documents.Scope.POD, validations=(documents.Validation(expression),)),)
    )
    programs = Programs(PolicyExpressions(written))
    found = programs.judgement(documents.Scope.POD, VALUES).judge(written.checks[0])
    assert found.reasons == ("expression: pod.spec.nope (p.yaml:7:9)",)


def test_a_policy_without_expressions_needs_no_engine():
    code = (
        "import sys; from schedctl.policy import evaluations, reading\n"
        "policy = b'apiVersion: schedctl.dev/v1alpha1\\nkind: CheckPolicy\\nmetadata: {name: p}\\n'\n"
        "policy += b'spec: {checks: [{name: fits, builtin: schedulable}]}'\n"
        "assert [len(found) for found in reading.policies_in(policy, 'p.yaml')] == [1, 0]\n"
        "assert not [name for name in sys.modules if name.startswith(('cel_expr', 'google', 'schedctl.cel'))]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
