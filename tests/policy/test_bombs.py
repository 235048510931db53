"""Hostile policies: no expression takes the machine's time or memory, and each says where it stands."""

from __future__ import annotations

import cProfile

import pytest

from schedctl.policy import documents
from schedctl.policy.compilation import compile_policy
from schedctl.policy.documents import Location
from schedctl.policy.expressions import PolicyExpressions
from schedctl.policy.judgements import Programs
from schedctl.policy.verdicts import PASSED
from schedctl.reports.checks import CheckOutcome
from schedctl.testing.builders import cluster
from tests.effort import SOON, Effort
from tests.policy.evaluating import deployment, manifests_of, policy, report, zoned

LIMIT = "it reads or makes more than 1,000,000 elements or 16 MB of text"
POD = {
    "namespace": "shop",
    "name": "web-0",
    "labels": {"app": "web"},
    "spec": {"nodeSelector": {"pool": "general"}},
    "priority": 5,
    "scheduled": True,
}
WORKLOAD = {"name": "web", "replicas": 1, "pods": [POD]}
VALUES = {"pod": POD, "workload": WORKLOAD, "result": {}, "baseline": {}}


def grown(seed: str, step: str, times: int) -> list[tuple[str, str]]:
    """Variables v0, v1, ..., each made of the one before it, which `step` calls X."""
    rest = [(f"v{n}", step.replace("X", f"variables.v{n - 1}")) for n in range(1, times)]
    return [("v0", seed), *rest]


def doubled(times: int, seed: str = "'xxxxxxxx'") -> list[tuple[str, str]]:
    return grown(seed, "X + X", times)


def nested(times: int = 40) -> list[tuple[str, str]]:
    return grown("[1]", "[X, X]", times)


def judged(expression, variables=()):
    """The verdict of an expression, and the effort it took."""
    place = Location(file="p.yaml", line=7, column=9)
    made = tuple(documents.Variable(name, documents.Expression(text, place)) for name, text in variables)
    validation = documents.Validation(documents.Expression(expression, place))
    check = documents.Check("c", scope=documents.Scope.POD, validations=(validation,))
    hostile = documents.CheckPolicy("p", (check,), variables=made)
    assert compile_policy(hostile) == []
    with Effort() as effort:
        verdict = Programs(PolicyExpressions(hostile)).judgement(documents.Scope.POD, VALUES).judge(check)
    return verdict, effort


@pytest.mark.parametrize(
    ("expression", "variables"),
    [
        pytest.param("size(variables.v39) > 0", doubled(40), id="a text that doubles in each variable"),
        pytest.param("size(variables.v39) > 0", doubled(40, "[1]"), id="a list that doubles"),
        pytest.param("variables.v39 == variables.v39", nested(), id="a list of lists is compared"),
        pytest.param("variables.v39 != variables.v38", nested(), id="a list of lists differs"),
        pytest.param(
            "variables.v39 == variables.v39", grown("{'a': 1}", "{'a': X, 'b': X}", 40), id="a map of maps is compared"
        ),
        pytest.param("variables.v39 in [variables.v39]", nested(), id="a list of lists is looked for"),
        pytest.param("'%s'.format([variables.v39]) != ''", nested(), id="a list of lists is printed"),
        pytest.param("size([?dyn(variables.v39)]) > 0", nested(), id="a list of lists is printed by an error"),
        pytest.param("size(variables.v39.flatten(60)) > 0", nested(), id="a list of lists is flattened"),
        pytest.param(
            "".join(f"cel.bind(b{n}, [b{n - 1}, b{n - 1}], " if n else "cel.bind(b0, [1], " for n in range(30))
            + "b29 == b29"
            + ")" * 30,
            (),
            id="cel.bind doubles",
        ),
        pytest.param(
            "size('aaaaaaaaaa'" + ".replace('a', 'aaaaaaaaaa')" * 12 + ") > 0", (), id="replace after replace"
        ),
        pytest.param("size('a'.replace('', variables.v16, 5).split('')) > 0", doubled(17), id="split into letters"),
        pytest.param("size('%.999999999f'.format([1.5])) > 0", (), id="a precision without end"),
        pytest.param("size([variables.v19, 'a'].join(variables.v19)) > 0", doubled(20), id="join with a long text"),
        pytest.param("lists.range(1000000).distinct().size() > 0", (), id="distinct of a million"),
        pytest.param("lists.range(1000000).map(x, lists.range(1000000)).size() > 0", (), id="ranges in a range"),
        pytest.param("lists.range(9999).map(x, variables.v12 + 'a').size() > 0", doubled(13), id="texts in a loop"),
        pytest.param("lists.range(9999).map(x, lists.range(9999) + [x]).size() > 0", (), id="lists in a loop"),
        pytest.param("sum(lists.range(9999).map(x, variables.v6)) != ''", doubled(7), id="a sum of texts"),
        pytest.param("size(sum(lists.range(9999).map(x, [x, x]))) > 0", (), id="a sum of lists"),
        pytest.param("lists.range(9999).all(x, variables.l.indexOf(-1) < 0)", [("l", "lists.range(9999)")], id="find"),
        pytest.param("sets.equivalent(lists.range(9000), lists.range(9000).reverse())", (), id="sets of thousands"),
        pytest.param("variables.v14.lastIndexOf('b' + variables.v13) < 0", doubled(15), id="a search from the end"),
        pytest.param(
            "lists.range(9999).all(x, !'aaa'.matches('((a{1,10}){1,10}){1,9}b' + string(x)))", (), id="many patterns"
        ),
        pytest.param("size(variables.v11.findAll('a.*b|x')) > 0", doubled(12), id="matches that look at all the rest"),
        pytest.param(
            f"lists.range(9999).all(x, {' && '.join(['pod.scheduled'] * 700)})", (), id="a loop with a long body"
        ),
        pytest.param("size(variables.v39) > 0", doubled(40, "b'xxxxxxxx'"), id="bytes that double"),
        pytest.param("lists.range(9999).all(x, variables.v14.upperAscii() != 'a')", doubled(15), id="upper case"),
        pytest.param("lists.range(9999).all(x, variables.v14.trim() != 'a')", doubled(15), id="trim in a loop"),
        pytest.param("lists.range(9999).all(x, variables.v16.reverse() != 'a')", doubled(17), id="reverse in a loop"),
        pytest.param("lists.range(9999).all(x, variables.v16.substring(1) != 'a')", doubled(17), id="substrings"),
        pytest.param("size(variables.v12.findAll('.')) > 0", doubled(13), id="every letter is found"),
        pytest.param(
            "lists.range(9999).sortBy(x, variables.v10 + string(x)).size() > 0", doubled(11), id="sort by long texts"
        ),
        pytest.param(
            "lists.range(9000).map(x, string(x) + variables.v8).sort().size() > 0", doubled(9), id="sort long texts"
        ),
        pytest.param("lists.range(9999).all(x, lists.range(99999).slice(1, 9).size() > 0)", (), id="slices of ranges"),
        pytest.param(
            "lists.range(9999).all(x, variables.l.reverse().size() > 0)",
            [("l", "lists.range(9999)")],
            id="lists turned",
        ),
        pytest.param(
            "lists.range(9999).all(x, math.greatest(variables.l) > -x)", [("l", "lists.range(9999)")], id="the greatest"
        ),
        pytest.param(
            "lists.range(9999).all(x, quantity('1' + variables.v7).sign() > 0)", doubled(8, "'00000000'"), id="amounts"
        ),
        pytest.param("lists.range(9999).all(x, !isIP(variables.v12))", doubled(13), id="addresses"),
        pytest.param(
            "lists.range(9999).all(x, duration(variables.v12 + 's') < duration('1s'))",
            doubled(13, "'00000000'"),
            id="durations",
        ),
        pytest.param(
            "lists.range(9999).all(x, double(variables.v13) > 0.0)", doubled(14, "'99999999'"), id="doubles of digits"
        ),
        pytest.param(
            "lists.range(3000).all(x, variables.l.exists(y, y + 'a' == string(x)))",
            [*doubled(11), ("l", "lists.range(3000).map(x, variables.v10 + string(x))")],
            id="long texts are filed to find one",
        ),
        pytest.param("size(variables.v18.replace('', variables.v2)) > 0", doubled(19), id="replace of nothing"),
        pytest.param(
            "size(variables.v17.split('').join('xx').split('').join('xx')) > 0", doubled(18), id="split and join"
        ),
        pytest.param(
            "lists.range(9999).all(x, variables.v12.charAt(x) != 'z' && variables.v12.indexOf('z') < 0)",
            doubled(13),
            id="a search in a loop",
        ),
        pytest.param(
            "lists.range(3000).all(x, !([x] in variables.l))",
            [("l", "lists.range(3000).map(x, [-x - 1])")],
            id="lists in",
        ),
        pytest.param(
            "variables.v199",
            grown("lists.range(9999).all(x, x >= 0)", "lists.range(9999).all(x, x >= 0) && X", 200),
            id="many loops",
        ),
    ],
)
def test_a_hostile_expression_ends_soon_and_is_inconclusive(expression, variables):
    verdict, effort = judged(expression, variables)
    assert verdict.outcome is CheckOutcome.INCONCLUSIVE
    assert verdict.message.endswith(f"cannot be evaluated: {LIMIT}")
    assert verdict.reasons[0].endswith("(p.yaml:7:9)"), "the expression's place"
    assert verdict.hints == ("do not build long lists and texts, and do not compare lists with each other",)
    assert effort.turns < SOON


@pytest.mark.parametrize(
    ("expression", "variables", "message"),
    [
        pytest.param("int(variables.v14) > 0", doubled(15, "'99999999'"), "type conversion", id="an int of digits"),
        pytest.param("quantity(variables.v14).sign() > 0", doubled(15, "'99999999'"), "4000 digits", id="a quantity"),
        pytest.param("variables.v5000 == []", grown("[1]", "[X]", 5001), "nested too deeply", id="a deep list"),
        pytest.param("{'a': 1}[variables.v16] == 1", doubled(17), 'no key "xxx', id="a long key"),
    ],
)
def test_an_expression_that_fails_on_hostile_values_says_so_briefly(expression, variables, message):
    verdict, effort = judged(expression, variables)
    assert verdict.outcome is CheckOutcome.INCONCLUSIVE
    assert message in verdict.message
    assert len(verdict.message) < 300
    assert effort.turns < SOON


def test_a_message_that_is_too_long_is_not_used():
    made = documents.Expression("'a'.replace('', 'aaaaaaaaaa').replace('a', 'aaaaaaaaaa').replace('a', 'aaaaaaaaaa')")
    validation = documents.Validation(documents.Expression("pod.priority < 5"), "too high", made)
    check = documents.Check("c", scope=documents.Scope.POD, validations=(validation,))
    programs = Programs(PolicyExpressions(documents.CheckPolicy("p", (check,))))
    verdict = programs.judgement(documents.Scope.POD, VALUES).judge(check)
    assert (verdict.outcome, verdict.message) == (CheckOutcome.VIOLATED, "too high")
    assert verdict.reasons == ("messageExpression cannot be used: it makes more than 2,000 characters",)


def pod_check(text: str, name: str = "c", line: int = 0) -> documents.Check:
    validation = documents.Validation(documents.Expression(text, Location(file="policy.yaml", line=line, column=7)))
    return documents.Check(name, scope=documents.Scope.POD, validations=(validation,))


def test_an_expression_that_is_too_much_work_for_all_pods_together_is_evaluated_for_no_more_pods():
    quadratic = pod_check("workload.pods.exists(p, p.name + pod.name == '')", "quadratic")
    pods = [{**POD, "name": f"web-{n}"} for n in range(1_000)]
    programs = Programs(PolicyExpressions(documents.CheckPolicy("p", (quadratic,))))
    with Effort() as effort:
        verdicts = [
            programs.judgement(
                documents.Scope.POD, {**VALUES, "pod": pod, "workload": {**WORKLOAD, "pods": pods}}
            ).judge(quadratic)
            for pod in pods
        ]
    assert effort.turns < 2 * SOON
    first, last = verdicts[0], verdicts[-1]
    assert first is not None
    assert last is not None
    assert first.outcome is CheckOutcome.VIOLATED
    assert last.outcome is CheckOutcome.INCONCLUSIVE
    assert "it was too much work for the " in last.message
    assert last.hints[0].startswith("find what many objects have in common")


def test_an_expression_that_was_too_much_work_is_evaluated_for_no_more_pods_of_the_situation():
    bomb = pod_check("lists.range(9999).map(x, lists.range(9999) + [pod.priority]).size() > 0")
    other = pod_check("pod.scheduled", "other")
    with Effort() as effort:
        found = report(cluster(*zoned(4)), manifests_of(deployment("web", 20, cpu="100m")), policy(bomb, other))
    assert effort.turns < SOON
    (of_bomb,) = [result for result in found.results if result.check == "c"]
    assert of_bomb.outcome is CheckOutcome.INCONCLUSIVE
    assert of_bomb.message == f"the expression cannot be evaluated: {LIMIT} (and 1 other message)"
    assert all(result.outcome is CheckOutcome.PASSED for result in found.results if result.check == "other")


# -- work that is shared -------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "variables"),
    [
        pytest.param("workload.pods.all(p, p.name != '')", (), id="a loop over the pods of the workload"),
        pytest.param("pod.name != '' && workload.pods.exists(p, p.name == 'none') == false", (), id="a loop in a part"),
        pytest.param("variables.names.all(n, n != '')", [("names", "workload.pods.map(p, p.name)")], id="a variable"),
        pytest.param("workload.pods.exists(p, p.name == pod.name)", (), id="a search for the pod itself"),
        pytest.param("workload.pods.filter(p, p.scheduled && pod.name == p.name).size() == 1", (), id="a filter by it"),
        pytest.param("workload.pods.all(p, p.name != pod.name || p.scheduled)", (), id="all of that name"),
        pytest.param("workload.pods.exists_one(p, p.name == pod.name)", (), id="the only one of that name"),
        pytest.param(
            "workload.pods.all(p, workload.pods.exists(q, q.name == p.name))", (), id="each pod among all of them"
        ),
        pytest.param("workload.pods == workload.pods", (), id="a comparison of all pods"),
        pytest.param("workload.pods.map(p, p.name).distinct().size() > 0", (), id="distinct names"),
        pytest.param("size(workload.pods) > 0", (), id="the number of pods"),
        pytest.param("pod.name in variables.names", [("names", "workload.pods.map(p, p.name)")], id="a name in a list"),
    ],
)
def test_an_expression_over_the_pods_of_a_workload_is_linear_in_them(expression, variables):
    def calls(replicas: int) -> int:
        made = tuple(documents.Variable(name, documents.Expression(text)) for name, text in variables)
        linear = documents.CheckPolicy("p", (pod_check(expression),), variables=made)
        programs, pods = Programs(PolicyExpressions(linear)), [{**POD, "name": f"web-{n}"} for n in range(replicas)]
        workload, judge = {**WORKLOAD, "pods": pods}, linear.checks[0]
        profiler = cProfile.Profile()
        with profiler:
            for pod in pods:
                data = {**VALUES, "pod": pod, "workload": workload}
                assert programs.judgement(documents.Scope.POD, data).judge(judge).outcome is CheckOutcome.PASSED
        return sum(entry.callcount for entry in profiler.getstats())

    # A quadratic one takes 64 times as many.
    assert calls(800) < 10 * calls(100)


@pytest.mark.parametrize(
    ("expression", "answers"),
    [
        pytest.param("workload.pods.exists(p, p.name == pod.name)", [True, True, False], id="that reads the pod"),
        pytest.param("[pod].all(pod, pod.name == 'a')", [True, False, False], id="whose variable hides the pod"),
        pytest.param(
            "[pod.name].all(workload, [workload].exists(n, n == 'a'))", [True, False, False], id="in another loop"
        ),
        pytest.param("workload.pods.exists(p, p.name == 'c')", [False, False, True], id="of two workloads"),
        pytest.param("variables.mine.exists(n, n == 'a')", [True, False, False], id="over a variable of the pod"),
        pytest.param("variables.theirs.exists(n, n == 'c')", [False, False, True], id="over one of the workload"),
    ],
)
def test_a_loop_is_shared_only_by_pods_for_which_it_reads_the_same(expression, answers):
    variables = (
        documents.Variable("mine", documents.Expression("[pod.name]")),
        documents.Variable("theirs", documents.Expression("workload.pods.map(p, p.name)")),
    )
    programs = Programs(PolicyExpressions(documents.CheckPolicy("p", (pod_check(expression),), variables=variables)))
    of_two = {**WORKLOAD, "pods": [{**POD, "name": "a"}, {**POD, "name": "b"}]}
    of_another = {**WORKLOAD, "pods": [{**POD, "name": "c"}]}
    found = []
    for name, workload in (("a", of_two), ("b", of_two), ("c" if "pod.name)" not in expression else "d", of_another)):
        data = {**VALUES, "pod": {**POD, "name": name}, "workload": workload}
        verdict = programs.judgement(documents.Scope.POD, data).judge(pod_check(expression))
        found.append(verdict.outcome is CheckOutcome.PASSED)
    assert found == answers


def test_five_hundred_bombs_in_one_policy_end_in_bounded_time_each_inconclusive_with_its_place():
    placed = [
        pod_check(f"lists.range(9999).map(x, lists.range(9999)).size() > {n}", f"c{n}", line=n + 1) for n in range(500)
    ]
    programs = Programs(PolicyExpressions(documents.CheckPolicy("p", tuple(placed))))
    with Effort() as effort:
        verdicts = [programs.judgement(documents.Scope.POD, {**VALUES, "pod": POD}).judge(check) for check in placed]
    assert effort.turns < 5 * SOON
    for number, verdict in enumerate(verdicts):
        assert verdict is not None
        assert verdict.outcome is CheckOutcome.INCONCLUSIVE
        assert f"(policy.yaml:{number + 1}:7)" in verdict.reasons[0]
    assert verdicts[0].message != verdicts[-1].message
    assert "before it read or made more than 10,000,000 elements together" in verdicts[-1].message


def test_what_a_policy_has_spent_is_forgotten_in_the_next_situation():
    bombs = [pod_check(f"lists.range(9999).map(x, lists.range(9999)).size() > {n}", f"c{n}") for n in range(30)]
    light = pod_check("pod.priority >= 0", "light")
    programs = Programs(PolicyExpressions(documents.CheckPolicy("p", (*bombs, light))))
    for bomb in bombs:
        programs.judgement(documents.Scope.POD, {**VALUES, "pod": POD}).judge(bomb)
    spent = programs.judgement(documents.Scope.POD, {**VALUES, "pod": POD}).judge(light)
    assert spent is not None
    assert spent.outcome is CheckOutcome.INCONCLUSIVE
    programs.begin_situation()
    assert programs.judgement(documents.Scope.POD, {**VALUES, "pod": POD}).judge(light) == PASSED
