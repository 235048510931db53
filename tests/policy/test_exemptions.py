"""What makes a finding not count: exemptions, annotations, baselines; and what only looks as if it did."""

from __future__ import annotations

from datetime import date

import msgspec
import pytest

from schedctl import sources
from schedctl.api.selectors import compile_labels
from schedctl.errors import ConfigError
from schedctl.policy import baselines
from schedctl.policy.documents import BUILT_IN_POLICY, CheckPolicy, Exemption, Match
from schedctl.policy.exemptions import Acceptances
from schedctl.policy.fingerprints import fingerprint, rule_and_object
from schedctl.render import machine
from schedctl.reports import checks

TODAY = date(2026, 11, 20)
WEB = b"""
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {of: object}, annotations: {ANNOTATION}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {TEMPLATE}}
    spec: {containers: [{name: a, image: a}]}
"""


def deployment(annotation="", template=""):
    text = WEB.replace(b"{ANNOTATION}", f"{{{annotation}}}".encode()).replace(b"{TEMPLATE}", f"{{{template}}}".encode())
    return sources.load_text(text).objects[0].object


def result(check="fits", outcome=checks.CheckOutcome.VIOLATED, scenario="baseline", name="web", violates=None, **more):
    known_by = {"policy": "p", "check": check, "scenario": scenario, "kind": "Deployment", "namespace": "shop"}
    return checks.CheckResult(
        **known_by,
        name=name,
        severity=checks.Severity.ERROR,
        outcome=outcome,
        subject=f"Deployment shop/{name}",
        message="2 of 3 pods on a node",
        fingerprint=fingerprint(**known_by, group="apps", name=name, violates=violates or ()),
        violates=violates or {},
        **more,
    )


def policy(**exemption):
    fields = {"checks": ("fits",), "match": Match(), "reason": "why", **exemption}
    return CheckPolicy("p", BUILT_IN_POLICY.checks, exemptions=(Exemption(**fields),))


@pytest.mark.parametrize(
    ("match", "accepted"),
    [
        pytest.param(Match(), True, id="everything"),
        pytest.param(Match(kinds=("Deployment",), names=("w*",), namespaces=("shop",)), True, id="by kind and name"),
        pytest.param(Match(labels=compile_labels({"app": "web"})), True, id="by the labels of its pods"),
        pytest.param(Match(labels=compile_labels({"of": "object"})), False, id="not by its own labels"),
        pytest.param(Match(kinds=("Job",)), False, id="another kind"),
        pytest.param(Match(names=("api",)), False, id="another name"),
        pytest.param(Match(namespaces=("default",)), False, id="another namespace"),
    ],
)
def test_an_exemption_is_of_what_it_selects(match, accepted):
    found = Acceptances(TODAY).acceptance(policy(match=match), result(), [deployment()])
    assert found == (checks.Acceptance(by="policy", reason="why") if accepted else None)


@pytest.mark.parametrize(
    ("exempted", "accepted"),
    [
        pytest.param(("fits",), True, id="its name"),
        pytest.param(("other", "f?t*"), True, id="a wildcard among others"),
        pytest.param(("*",), True, id="all"),
        pytest.param(("fit",), False, id="the beginning of its name"),
        pytest.param(("*-fits",), False, id="a wildcard of others"),
    ],
)
def test_an_exemption_is_of_the_checks_it_names(exempted, accepted):
    found = Acceptances(TODAY).acceptance(policy(checks=exempted), result("fits"), [deployment()])
    assert found == (checks.Acceptance(by="policy", reason="why") if accepted else None)


def test_an_exemption_of_a_workload_is_of_its_pods():
    pod = msgspec.structs.replace(result(), kind="Pod", name="web-0", subject="Pod shop/web-0")
    found = Acceptances(TODAY).acceptance(
        policy(match=Match(kinds=("Deployment",), names=("web",))), pod, [deployment()]
    )
    assert found is not None


def test_an_exemption_holds_on_its_last_day_and_is_noted_as_expired_thereafter():
    dated = policy(expires=date(2026, 11, 20), location=checks.Location(file="p.yaml", line=9, column=7))
    acceptances = Acceptances(TODAY, [dated])
    assert acceptances.acceptance(dated, result(), []) == checks.Acceptance(
        by="policy", reason="why", expires="2026-11-20"
    )
    assert acceptances.notes() == []
    acceptances = Acceptances(date(2026, 11, 21), [dated])
    assert acceptances.acceptance(dated, result(), []) is None
    assert acceptances.notes() == [
        "the exemption of fits in policy p (p.yaml:9) expired on 2026-11-20 and is ignored: why",
    ]


@pytest.mark.parametrize("where", ["annotation", "template"])
def test_an_annotation_with_a_reason_accepts(where):
    obj = deployment(**{where: "schedctl.dev/ignore.fits: it is a test"})
    assert Acceptances(TODAY).acceptance(BUILT_IN_POLICY, result(), [obj]) == checks.Acceptance(
        by="object", reason="it is a test"
    )
    assert Acceptances(TODAY).acceptance(BUILT_IN_POLICY, result("other"), [obj]) is None
    assert Acceptances(TODAY, inline=False).acceptance(BUILT_IN_POLICY, result(), [obj]) is None


def test_an_annotation_without_a_reason_accepts_nothing_and_is_noted():
    acceptances = Acceptances(TODAY)
    assert acceptances.acceptance(BUILT_IN_POLICY, result(), [deployment("schedctl.dev/ignore.fits: ' '")]) is None
    assert acceptances.notes() == [
        "the annotation schedctl.dev/ignore.fits of Deployment shop/web has no reason and is ignored"
    ]


def test_an_exemption_that_accepts_nothing_is_noted():
    located = policy(match=Match(names=("wbe",)), location=checks.Location(file="p.yaml", line=9, column=7))
    acceptances = Acceptances(TODAY, [located])
    assert acceptances.acceptance(located, result(), [deployment()]) is None
    assert acceptances.notes() == ["the exemption of fits in policy p (p.yaml:9) accepts nothing: why"]


@pytest.mark.parametrize("where", ["annotation", "template"])
@pytest.mark.parametrize("used", [True, False])
def test_an_annotation_that_accepts_nothing_is_noted(where, used):
    obj = deployment(**{where: "schedctl.dev/ignore.schedulable: it is a test"})
    acceptances = Acceptances(TODAY, [BUILT_IN_POLICY])
    if used:
        acceptances.acceptance(BUILT_IN_POLICY, result("schedulable"), [obj])
    noted = ["the annotation schedctl.dev/ignore.schedulable of Deployment shop/web accepts nothing"]
    assert list(acceptances.annotation_notes([obj])) == ([] if used else noted)


def test_annotations_of_many_objects_that_accept_nothing_are_one_note():
    obj = deployment("schedctl.dev/ignore.schedulable: it is a test")
    objects = [
        msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, name=f"web-{number}"))
        for number in range(20)
    ]
    (note,) = Acceptances(TODAY, [BUILT_IN_POLICY]).annotation_notes(objects)
    assert note.startswith("the annotation schedctl.dev/ignore.schedulable of Deployment shop/web-0, ")
    assert note.endswith(" more accepts nothing")


# -- baselines -----------------------------------------------------------------------

HEAD = "apiVersion: schedctl.dev/v1alpha1\nkind: CheckBaseline\n"


def test_a_fingerprint_is_of_the_rule_and_the_object_alone():
    known_by = dict.fromkeys(("policy", "check", "scenario", "group", "kind", "namespace", "name"), "a")
    same = fingerprint(**known_by)
    assert len(same) == 32
    assert {fingerprint(**{**known_by, part: "b"}) for part in known_by}.isdisjoint({same})
    assert len({fingerprint(**{**known_by, part: "b"}) for part in known_by}) == len(known_by)
    assert fingerprint(**{**known_by, "kind": "ab", "name": ""}) != fingerprint(
        **{**known_by, "kind": "a", "name": "b"}
    )


def test_a_fingerprint_has_what_is_violated_as_its_second_part():
    known_by = dict.fromkeys(("policy", "check", "scenario", "group", "kind", "namespace", "name"), "a")
    budget = fingerprint(**known_by, violates=["PodDisruptionBudget shop/web", "Pod shop/bare"])
    assert budget == fingerprint(**known_by, violates=["Pod shop/bare", "PodDisruptionBudget shop/web"])
    assert rule_and_object(budget) == fingerprint(**known_by)
    assert budget != fingerprint(**known_by, violates=["Pod shop/bare"]) != fingerprint(**known_by)


@pytest.mark.parametrize(
    ("accepted", "violated", "is_accepted"),
    [
        pytest.param({"pods pending": 4}, {"pods pending": 4}, True, id="the same"),
        pytest.param({"pods pending": 4}, {"pods pending": 3}, True, id="less of it"),
        pytest.param({"pods pending": 4}, {"pods pending": 50}, False, id="more of it"),
        pytest.param({"Pod shop/bare": 1}, {"PodDisruptionBudget shop/web": 1}, False, id="something else"),
        pytest.param({"Pod a/b": 1, "Pod a/c": 1}, {"Pod a/b": 1}, True, id="one of two"),
        pytest.param({"Pod a/b": 1}, {"Pod a/b": 1, "Pod a/c": 1}, False, id="another one besides"),
        pytest.param({}, {"pods pending": 1}, False, id="something where nothing was named"),
        pytest.param({"pods pending": 1}, {}, False, id="nothing named where something was"),
        pytest.param({}, {}, True, id="a rule that names nothing"),
    ],
)
def test_a_baseline_accepts_what_is_named_and_no_more_of_it(tmp_path, accepted, violated, is_accepted):
    file = tmp_path / "b.yaml"
    file.write_text(machine.yaml(baselines.baseline_of([result(violates=accepted)])))
    acceptances = Acceptances(TODAY, baseline=baselines.read(str(file)))
    by = checks.Acceptance(by="baseline") if is_accepted else None
    assert acceptances.acceptance(BUILT_IN_POLICY, result(violates=violated), []) == by


def test_what_is_worse_than_in_the_baseline_is_noted(tmp_path):
    file = tmp_path / "b.yaml"
    file.write_text(machine.yaml(baselines.baseline_of([result(violates={"pods pending": 4})])))
    acceptances = Acceptances(TODAY, baseline=baselines.read(str(file)))
    acceptances.acceptance(BUILT_IN_POLICY, result(violates={"pods pending": 50}), [])
    assert acceptances.notes() == [
        "Deployment shop/web [fits] is worse than in the baseline: pods pending (50, 4 accepted)"
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["no mark", "a byte order mark"])
def test_a_baseline_may_have_been_saved_on_windows(tmp_path, ending, mark):
    text = machine.yaml(baselines.baseline_of([result(violates={"pods pending": 4})]))
    (tmp_path / "b.yaml").write_bytes(mark + text.replace("\n", ending).encode())
    acceptances = Acceptances(TODAY, baseline=baselines.read(str(tmp_path / "b.yaml")))
    assert acceptances.acceptance(BUILT_IN_POLICY, result(violates={"pods pending": 4}), []) is not None


@pytest.mark.parametrize("name", ["b.yaml", "b.json"])
def test_a_baseline_accepts_what_was_violated_when_it_was_written(tmp_path, name):
    old = [result(name="web"), result(name="api"), result(name="fine", outcome=checks.CheckOutcome.PASSED)]
    old.append(result(name="unclear", outcome=checks.CheckOutcome.INCONCLUSIVE))
    document = baselines.baseline_of(old)
    assert [entry.subject for entry in document.entries] == ["Deployment shop/api", "Deployment shop/web"]
    file = tmp_path / name
    file.write_text((machine.json if name.endswith("json") else machine.yaml)(document))
    acceptances = Acceptances(TODAY, baseline=baselines.read(str(file)))
    changed = msgspec.structs.replace(
        result(name="web"), message="1 of 3 pods on a node", location=checks.Location(line=99)
    )
    assert acceptances.acceptance(BUILT_IN_POLICY, changed, []) == checks.Acceptance(by="baseline")
    assert acceptances.acceptance(BUILT_IN_POLICY, result(name="new"), []) is None
    assert (
        acceptances.acceptance(BUILT_IN_POLICY, result(name="api", outcome=checks.CheckOutcome.INCONCLUSIVE), [])
        is None
    )
    assert acceptances.notes() == [
        "1 entry of the baseline occurs no longer: Deployment shop/api [fits];"
        " write it again with --write-baseline to keep it from coming back"
    ]


def test_a_new_baseline_has_what_an_old_one_accepts():
    document = baselines.baseline_of([result(outcome=checks.CheckOutcome.BASELINED), result(name="api")])
    assert len(document.entries) == 2


def test_a_baseline_may_be_long(tmp_path):
    document = baselines.baseline_of([result(name=f"web-{number}") for number in range(6000)])
    (tmp_path / "b.yaml").write_text(machine.yaml(document))
    assert len(baselines.read(str(tmp_path / "b.yaml")).entries) == 6000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(None, "b.yaml: cannot be read: no such file or directory", id="no file"),
        pytest.param("", "expected `object`, got `null`", id="nothing"),
        pytest.param("a: [", "b.yaml:2:1: did not find", id="no YAML"),
        pytest.param("{", "is not JSON", id="no JSON"),
        pytest.param(HEAD + "entris: []\n", "unknown field `entris`", id="a misspelt field"),
        pytest.param(HEAD.replace("Baseline", "Report"), "invalid enum value 'CheckReport'", id="another document"),
        pytest.param(HEAD + "entries: [{policy: a}]\n", "missing required field", id="half an entry"),
        pytest.param("{}", "missing required field `apiVersion`", id="an empty object"),
        pytest.param("[]", "expected `object`, got `array`", id="a list"),
        pytest.param("entries: []\n", "missing required field `apiVersion`", id="no head"),
        pytest.param(HEAD, "missing required field `entries`", id="no entries"),
        pytest.param(f"{HEAD}entries: []\n---\n{HEAD}entries: []\n", "b.yaml:5:1: expected one document", id="two"),
        pytest.param(b"\xff", "b.yaml", id="no text"),
    ],
)
def test_what_is_no_baseline_is_a_fault(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / "b.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as fault:
        baselines.read("b.yaml")
    assert message in str(fault.value)
