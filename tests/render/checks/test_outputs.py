"""What each output of a check says, where, and how much of it."""

from __future__ import annotations

import gzip
import html
import json
import re
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest
from msgspec.structs import replace

from schedctl.errors import UsageError
from schedctl.render import check_outputs
from schedctl.render.checks import markdown, sarif
from schedctl.render.terminals import Terminal
from schedctl.reports.checks import Acceptance, CheckOutcome, Location, Severity
from schedctl.reports.metadata import Metadata
from tests.render.checks.builders import exempted, of_the_run, report, result, written

NOW = datetime(2026, 11, 20, 13, 0, tzinfo=UTC)
TAKEN = Metadata(state_taken="2026-11-20T10:00:00Z")
ZONES = "2 zones, needs 3 (eu-1a 4, eu-1b 2, eu-1c 0)"
PASSED = CheckOutcome.PASSED


def names(count, **more):
    return [result(name=f"web-{number:05}", **more) for number in range(count)]


# -- the front door ----------------------------------------------------------------


def test_without_a_form_it_is_the_text_for_people():
    assert check_outputs.parse("") == "text"


@pytest.mark.parametrize("text", ["", "sarif", "sarif=", "=a", "pdf=a"])
def test_a_report_is_a_form_and_a_file(text):
    with pytest.raises(UsageError):
        check_outputs.target(text)


def test_the_file_of_a_report_may_have_an_equals_sign():
    assert check_outputs.target("junit=a=b.xml") == ("junit", "a=b.xml")


def test_what_is_no_form_is_refused_with_those_there_are():
    with pytest.raises(UsageError) as refused:
        check_outputs.parse("wide")
    assert "markdown" in refused.value.hint


# -- text --------------------------------------------------------------------------


def test_a_violation_reads_like_an_error_of_a_compiler():
    violated = result(
        message=ZONES,
        reasons=["eu-1c: 4 nodes rejected: 3 insufficient memory, 1 taint dedicated=gpu:NoSchedule"],
        hints=["fits in eu-1c if memory request <= 1638Mi"],
    )
    document = report(violated, result(PASSED, name="api"), exempted(name="nightly", check="fits"), metadata=TAKEN)
    assert written(document, "text", now=NOW) == (
        f"deploy/web.yaml:14:7: error [three-zones] Deployment shop/web: {ZONES}\n"
        "    eu-1c: 4 nodes rejected: 3 insufficient memory, 1 taint dedicated=gpu:NoSchedule\n"
        "    hint: fits in eu-1c if memory request <= 1638Mi\n"
        "exempted [fits] Deployment shop/nightly: 2 zones, needs 3"
        " (exempted by the policy, until 2027-03-31: runs on a pool added at night)\n"
        "check: 3 results, 1 passed, 1 error, 0 warnings, 1 exempted, 0 inconclusive"
        " (policy payments-placement, kube-scheduler v1.37.1 rules, state 3h old)\n"
    )


@pytest.mark.parametrize(
    ("more", "beginning"),
    [
        pytest.param({"location": Location(file="a.yaml")}, "a.yaml: error", id="a template, without a line"),
        pytest.param({"location": Location(file="a.yaml", line=3)}, "a.yaml:3: error", id="no column"),
        pytest.param({"location": Location()}, "error", id="no file"),
        pytest.param({"severity": Severity.WARNING}, "deploy/web.yaml:14:7: warning", id="a warning"),
        pytest.param(
            {"outcome": CheckOutcome.INCONCLUSIVE}, "deploy/web.yaml:14:7: inconclusive", id="nobody can tell"
        ),
    ],
)
def test_a_line_begins_with_the_place_and_how_bad_it_is(more, beginning):
    assert written(report(result(**more)), "text").startswith(f"{beginning} [three-zones] Deployment shop/web: ")


def test_a_scenario_is_named_unless_nothing_is_changed():
    assert "Deployment shop/web (lose-zone=eu-1a): " in written(report(result(scenario="lose-zone=eu-1a")), "text")


LOST = [result(scenario=f"lose-zone=eu-1{zone}", reasons=[f"removed {zone}-1", "web[0]: pending"]) for zone in "abc"]
GROUPS = {
    "equal findings of one scenario are told once, with the values": (
        LOST,
        ["(in each of 3 scenarios, lose-zone=eu-1a, eu-1b, eu-1c)"],
    ),
    "of several scenarios with their names": (
        [result(scenario=scenario) for scenario in ("busy", "lose-zone=eu-1a")],
        ["(in each of 2 scenarios, busy, lose-zone=eu-1a)"],
    ),
    "what is found without a scenario has its own line": (
        [result(), result(scenario="busy", message="1 zone, needs 3")],
        ["", "(busy)"],
    ),
    "another message is another finding": (
        [result(scenario="a=1"), result(scenario="a=2", message="1 zone, needs 3")],
        ["(a=1)", "(a=2)"],
    ),
    "another outcome is another finding": (
        [result(scenario="a=1"), result(CheckOutcome.INCONCLUSIVE, scenario="a=2")],
        ["(a=1)", "(a=2)"],
    ),
    "of many scenarios some are named": (
        [result(scenario=f"lose={number}") for number in range(9)],
        ["(in each of 9 scenarios, lose=0, 1, 2, 3 and 5 more)"],
    ),
}


@pytest.mark.parametrize(("results", "scenarios"), GROUPS.values(), ids=GROUPS)
def test_findings_that_are_equal_in_several_scenarios_are_one(results, scenarios):
    text, markdown = (written(report(*results), form) for form in ("text", "markdown"))
    found = re.findall(r"\[three-zones\] Deployment shop/web(?: (\(.*?\)))?: ", text)
    assert found == scenarios
    table = [html.unescape(line) for line in markdown.splitlines() if line.startswith(("| ❌", "| ❔"))]
    assert [row.split(" | ")[2].removeprefix("Deployment shop/web").strip() for row in table] == scenarios
    assert f"{len(results)} results" in text


def test_where_reasons_differ_they_are_those_of_the_first_scenario():
    text = written(report(*LOST), "text")
    assert "    in lose-zone=eu-1a (-o json has the reasons in lose-zone=eu-1b, eu-1c):\n    removed a-1\n" in text
    assert "removed b-1" not in text


def test_the_worst_come_first_and_errors_before_what_nobody_can_tell():
    mixed = [
        result(severity=Severity.INFO, check="c"),
        result(severity=Severity.WARNING, check="b"),
        result(CheckOutcome.INCONCLUSIVE, check="a2"),
        result(check="a1"),
    ]
    lines = written(report(*mixed), "text").splitlines()
    assert [line.partition("[")[2].partition("]")[0] for line in lines[5 + 1 : 5 + 5]] == ["a1", "a2", "b", "c"]


def test_a_limit_shortens_the_list_and_not_the_numbers():
    text = written(report(*names(7)), "text", limit=2)
    assert text.count("error [") == 2
    assert "+5 more findings: --limit shows more\n" in text
    assert "7 errors" in text


@pytest.mark.parametrize(
    ("taken", "now", "age"),
    [
        pytest.param("2026-11-20T10:00:00Z", NOW, "state 3h old", id="hours"),
        pytest.param("2026-11-20T12:59:30Z", NOW, "state 30s old", id="seconds"),
        pytest.param("2026-11-10T10:00:00Z", NOW, "state 10d old", id="days"),
        pytest.param("2026-11-20T12:00:00+01:00", NOW, "state 2h old", id="another time zone"),
        pytest.param("2026-11-20T10:00:00Z", None, "state of 2026-11-20T10:00:00Z", id="nobody says what time it is"),
        pytest.param("2027-01-01T00:00:00Z", NOW, "state of 2027-01-01T00:00:00Z", id="of the future"),
        pytest.param("yesterday", NOW, "state of yesterday", id="no time"),
    ],
)
def test_how_old_the_state_is(taken, now, age):
    assert written(report(metadata=Metadata(state_taken=taken)), "text", now=now).endswith(
        f" (no policy, kube-scheduler v1.37.1 rules, {age})\n"
    )


def test_colour_is_added_and_changes_no_word():
    document = report(result(hints=["h"]), exempted())
    colored = written(document, "text", terminal=Terminal(color=True))
    assert "\x1b[" in colored
    plain = colored
    for code in {part.partition("m")[0] for part in colored.split("\x1b[")[1:]}:
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain == written(document, "text")


# -- GitHub ------------------------------------------------------------------------


def test_an_annotation():
    assert written(report(result(message=ZONES)), "github") == (
        f"::error file=deploy/web.yaml,line=14,col=7,title=schedctl three-zones::Deployment shop/web: {ZONES}\n"
        "::notice title=schedctl::1 result, 0 passed, 1 error, 0 warnings, 0 exempted, 0 inconclusive"
        " (policy payments-placement, kube-scheduler v1.37.1 rules)\n"
    )


@pytest.mark.parametrize(
    ("location", "properties"),
    [
        pytest.param(Location(file="charts/a.yaml"), "file=charts/a.yaml,title", id="a template, without a line"),
        pytest.param(Location(file="./a/../b.yaml", line=2), "file=b.yaml,line=2,title", id="as git names it"),
        pytest.param(Location(file="a,b:c%.yaml", line=2), "file=a%2Cb%3Ac%25.yaml,line=2,title", id="escaped"),
        pytest.param(Location(file="<stdin>", line=2), "file=policies/payments-placement.yaml,title", id="stdin"),
        pytest.param(Location(), "file=policies/payments-placement.yaml,title", id="the run: where it is demanded"),
    ],
)
def test_the_file_of_an_annotation(location, properties):
    assert written(report(result(location=location)), "github").startswith(
        f"::error {properties}=schedctl three-zones::"
    )


def test_an_annotation_without_any_file_has_none():
    assert written(report(of_the_run(), policies=[]), "github").startswith("::error title=schedctl no-new-pending::")


@pytest.mark.parametrize(("count", "shown", "more"), [(10, 10, ""), (11, 9, "2 more"), (40, 9, "31 more")])
def test_the_tenth_annotation_of_a_level_says_how_many_more_there_are(count, shown, more):
    document = report(*names(count), *names(3, severity=Severity.WARNING, check="w"))
    lines = written(document, "github").splitlines()
    errors = [line for line in lines if line.startswith("::error ")]
    assert len(errors) == 10
    assert sum("title=schedctl three-zones" in line for line in errors) == shown
    assert more in errors[-1]
    assert len(lines) - len(errors) == 3 + 1


def test_annotations_are_shared_out_so_that_no_rule_hides_another():
    many = names(400, check="requests")
    document = report(*many, *names(3, check="zones"), result(check="fits", name="a"))
    lines = written(document, "github").splitlines()
    titles = [line.partition("title=")[2].partition("::")[0] for line in lines]
    assert (len(lines), titles.count("schedctl zones"), titles.count("schedctl fits")) == (10 + 1, 3, 1)
    assert lines[-2] == "::error title=schedctl::395 more findings of this level not shown here: 395 of requests"


def test_reasons_are_lines_of_the_annotation():
    assert written(report(result(reasons=["100% full"])), "github").splitlines()[0].endswith("needs 3%0A100%25 full")


@pytest.mark.parametrize(("on", "command"), [("fail", "error"), ("warn", "warning"), ("ignore", "notice")])
def test_inconclusive_results_are_as_bad_as_the_run_makes_them(on, command):
    document = report(result(CheckOutcome.INCONCLUSIVE), summary={"on_inconclusive": on})
    assert written(document, "github").startswith(f"::{command} ")


# -- GitLab ------------------------------------------------------------------------


def test_a_code_quality_entry():
    entry, _ = json.loads(written(report(result(message=ZONES)), "gitlab"))
    assert entry == {
        "description": f"Deployment shop/web: {ZONES}",
        "check_name": "payments-placement/three-zones",
        "fingerprint": "sha256:three-zones-web",
        "severity": "major",
        "location": {"path": "deploy/web.yaml", "lines": {"begin": 14}},
    }


def test_where_line_or_file_is_unknown_gitlab_gets_what_it_takes():
    document = report(result(location=Location(file="a.yaml")), of_the_run(), of_the_run(policy="built-in"))
    stated, built_in = document.policies
    document = replace(document, policies=[stated, replace(built_in, source="")])
    entries = json.loads(written(document, "gitlab"))
    assert [(each["location"]["path"], each["location"]["lines"]["begin"]) for each in entries] == [
        ("a.yaml", 1),
        ("policies/payments-placement.yaml", 1),
        ("-", 1),
        ("-", 1),
    ]


def test_an_absolute_path_below_the_folder_is_made_relative(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    entry, _ = json.loads(written(report(result(location=Location(file=f"{tmp_path}/a.yaml"))), "gitlab"))
    assert entry["location"]["path"] == "a.yaml"


def test_nothing_found_is_an_empty_list():
    assert written(report(result(PASSED), exempted()), "gitlab") == "[]\n"


# -- SARIF -------------------------------------------------------------------------


def run_of(text):
    (run,) = json.loads(text)["runs"]
    return run


def test_a_sarif_result():
    (found,) = run_of(written(report(result(message=ZONES)), "sarif"))["results"]
    assert found == {
        "ruleId": "payments-placement/three-zones",
        "ruleIndex": 0,
        "kind": "fail",
        "level": "error",
        "message": {"text": f"Deployment shop/web: {ZONES}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "deploy/web.yaml", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 14, "startColumn": 7, "endLine": 14, "endColumn": 11},
                },
                "logicalLocations": [{"fullyQualifiedName": "shop/Deployment/web"}],
            }
        ],
        "partialFingerprints": {
            "primaryLocationLineHash": "sha256:three-zones-web:1",
            "schedctl/v1": "sha256:three-zones-web",
        },
        "properties": {"policy": "payments-placement", "scenario": "baseline"},
    }


def test_a_clean_run_has_results_and_rules():
    run = run_of(written(report(result(PASSED)), "sarif"))
    assert run["results"] == []
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["help"]["text"] == (
        "every workload covers 3 zones (policy payments-placement, policies/payments-placement.yaml)\n\n"
        "Built-in check: spread"
    )


def test_a_file_without_a_line_is_annotated_at_its_top():
    (found,) = run_of(written(report(result(location=Location(file="a b.yaml"))), "sarif"))["results"]
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
    }


def test_a_region_ends_behind_the_key_of_the_field():
    path = "spec.template.spec.topologySpreadConstraints"
    (found,) = run_of(written(report(result(location=Location(file="a.yaml", line=9, column=7, path=path))), "sarif"))[
        "results"
    ]
    assert found["locations"][0]["physicalLocation"]["region"]["endColumn"] == 7 + len("topologySpreadConstraints")


def test_findings_of_the_run_and_of_nodes_are_at_the_line_of_the_policy_that_states_the_check():
    document = report(of_the_run())
    (policy,) = document.policies
    (check,) = policy.checks
    stated = replace(check, location=Location(file=policy.source, line=12, column=7, path="spec.checks[0].name"))
    document = replace(document, policies=[replace(policy, checks=[stated])])
    (found,) = run_of(written(document, "sarif"))["results"]
    place = found["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == (policy.source, 12)
    assert written(document, "github").startswith(f"::error file={policy.source},line=12,col=7,")
    assert json.loads(written(document, "gitlab"))[0]["location"] == {"path": policy.source, "lines": {"begin": 12}}


def test_one_rule_tells_what_it_demands_the_expression_what_to_do_and_where_to_read_on():
    document = report(result())
    (policy,) = document.policies
    check = replace(
        policy.checks[0],
        builtin="",
        expressions=["workload.zones.size() >= 3"],
        remediation="add a topologySpreadConstraint",
        url="https://wiki.example/zones",
        tags=["availability"],
        location=Location(file=policy.source, line=12, column=7),
    )
    (rule,) = run_of(written(replace(document, policies=[replace(policy, checks=[check])]), "sarif"))["tool"]["driver"][
        "rules"
    ]
    assert rule["help"]["text"].splitlines()[::2] == [
        "every workload covers 3 zones (policy payments-placement, policies/payments-placement.yaml:12:7)",
        "Expression: workload.zones.size() >= 3",
        "What to do: add a topologySpreadConstraint",
        "See https://wiki.example/zones",
    ]
    assert "```cel\nworkload.zones.size() >= 3\n```" in rule["help"]["markdown"]
    assert "**What to do:** add a topologySpreadConstraint" in rule["help"]["markdown"]
    assert "[Read more](https://wiki.example/zones)" in rule["help"]["markdown"]
    assert rule["helpUri"] == "https://wiki.example/zones"
    assert rule["properties"]["tags"] == ["kubernetes", "scheduling", "availability"]


def test_inconclusive_is_open():
    (found,) = run_of(written(report(result(CheckOutcome.INCONCLUSIVE)), "sarif"))["results"]
    assert (found["kind"], found["level"]) == ("open", "none")
    assert found["message"]["text"].startswith("Deployment shop/web: inconclusive: ")


def test_what_is_accepted_is_left_out_unless_asked_for():
    ignored = exempted(name="b", acceptance=Acceptance(by="object", reason="a canary"))
    document = report(exempted(), ignored, result(CheckOutcome.BASELINED, name="c"))
    assert run_of(written(document, "sarif"))["results"] == []
    results = run_of(written(document, "sarif", suppressed=True))["results"]
    suppressions = [suppression for each in results for suppression in each["suppressions"]]
    assert [each["kind"] for each in suppressions] == ["external", "inSource", "external"]
    assert suppressions[1]["justification"] == "exempted by the object: a canary"


def test_the_id_of_a_rule_is_policy_and_check_whatever_other_policies_there_are():
    def ids(*results):
        return [each["ruleId"] for each in run_of(written(report(*results), "sarif"))["results"]]

    assert ids(result()) == ["payments-placement/three-zones"]
    assert ids(result(), result(policy="other")) == ["payments-placement/three-zones", "other/three-zones"]


def test_where_code_scanning_keeps_a_part_every_rule_has_some_of_it(monkeypatch):
    monkeypatch.setattr(sarif, "KEPT", 4)
    results = run_of(written(report(*names(9), result(check="fits", name="a")), "sarif"))["results"]
    assert "payments-placement/fits" in [each["ruleId"] for each in results[:4]]


def test_results_that_share_a_fingerprint_are_told_apart():
    results = run_of(written(report(result(), result()), "sarif"))["results"]
    assert len({each["partialFingerprints"]["primaryLocationLineHash"] for each in results}) == 2


def test_what_is_in_no_file_is_counted_since_code_scanning_does_not_show_it():
    document = report(of_the_run(), policies=[])
    (note,) = run_of(written(document, "sarif"))["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("1 result in no file, which code scanning does not show")


def test_code_scanning_gets_no_more_results_than_it_takes_and_a_notification(monkeypatch):
    monkeypatch.setattr(sarif, "MOST", 20)
    monkeypatch.setattr(sarif, "KEPT", 10)
    run = run_of(written(report(*names(30, severity=Severity.WARNING), result()), "sarif"))
    assert len(run["results"]) == 20
    assert run["results"][0]["level"] == "error", "the worst first"
    assert [each["message"]["text"] for each in run["invocations"][0]["toolExecutionNotifications"]] == [
        "11 of 31 results, the least severe, are left out: code scanning accepts no more",
        "code scanning keeps 10 of these 20 results, the most severe first",
    ]


def test_code_scanning_gets_no_larger_a_file_than_it_takes(monkeypatch):
    monkeypatch.setattr(sarif, "MOST_BYTES", 3000)
    text = written(report(*names(300)), "sarif")
    assert len(gzip.compress(text.encode())) <= 3000
    assert 0 < len(run_of(text)["results"]) < 300


# -- JUnit, TAP --------------------------------------------------------------------


def test_a_suite_for_each_policy_and_a_case_for_each_result():
    document = report(
        result(message=ZONES, reasons=["r"]), exempted(name="b"), result(PASSED, name="c", policy="other")
    )
    root = ET.fromstring(written(document, "junit"))
    assert [(suite.get("name"), suite.get("tests"), suite.get("skipped")) for suite in root] == [
        ("payments-placement", "2", "1"),
        ("other", "1", "0"),
    ]
    failed, skipped = root[0].iter("testcase")
    assert (failed.get("classname"), failed.get("name")) == ("payments-placement.three-zones", "Deployment shop/web")
    assert failed[0].attrib == {"type": "error", "message": ZONES}
    assert failed[0].text == f"deploy/web.yaml:14:7: {ZONES}\nr"
    assert "added at night" in skipped[0].get("message")
    properties = {each.get("name"): each.get("value") for each in root[0].iter("property")}
    assert properties["kubernetesVersion"] == "v1.37.1"


def test_the_names_of_cases_do_not_change_with_the_numbers():
    def cases(message):
        root = ET.fromstring(written(report(result(message=message)), "junit"))
        return [case.attrib for case in root.iter("testcase")]

    assert cases("2 zones") == cases("1 zone")


def test_the_case_of_pods_does_not_change_with_their_number_and_fails_while_one_does():
    def pods(name, **more):
        return result(kind="Pod", name=name, subject=f"Pod shop/{name}", workload="Deployment shop/web", **more)

    def cases(*results):
        root = ET.fromstring(written(report(*results), "junit"))
        return [(case.get("name"), [each.tag for each in case]) for case in root.iter("testcase")]

    few, many = pods("web[0..2]"), pods("web[0..3]")
    assert cases(few) == cases(many) == [("pods of Deployment shop/web", ["failure"])]
    assert cases(pods("web[0]"), pods("web[1..2]", outcome=PASSED)) == [
        ("pods of Deployment shop/web", ["failure"]),
        ("pods of Deployment shop/web #2", []),
    ]


def test_tap_is_not_ok_only_where_the_run_is_not():
    document = report(
        result(),
        result(PASSED, name="b"),
        result(name="c", severity=Severity.WARNING),
        exempted(name="d"),
        result(CheckOutcome.INCONCLUSIVE, name="e"),
        summary={"on_inconclusive": "warn"},
    )
    lines = [line for line in written(document, "tap").splitlines() if "ok " in line]
    assert lines == [
        "not ok 1 - payments-placement three-zones: Deployment shop/web",
        "ok 2 - payments-placement three-zones: Deployment shop/b",
        "not ok 3 - payments-placement three-zones: Deployment shop/c # TODO warning",
        "ok 4 - payments-placement three-zones: Deployment shop/d"
        " # SKIP exempted by the policy, until 2027-03-31: runs on a pool added at night",
        "not ok 5 - payments-placement three-zones: Deployment shop/e # TODO inconclusive",
    ]


# -- Markdown ----------------------------------------------------------------------


def test_a_summary_for_a_job():
    violated = result(message=ZONES, reasons=["eu-1c: 4 nodes rejected"])
    assert written(report(violated, exempted(name="b")), "markdown") == (
        "### schedctl check: failed\n\n"
        "2 results, 0 passed, 1 error, 0 warnings, 1 exempted, 0 inconclusive"
        " (policy payments-placement, kube-scheduler v1.37.1 rules)\n"
        "\n| | Check | Object | Finding | Where |\n| --- | --- | --- | --- | --- |\n"
        "| ❌ error | three-zones | Deployment shop/web | 2 zones, needs 3 (eu-1a 4, eu-1b 2, eu-1c 0)"
        " | deploy/web.yaml&#58;14&#58;7 |\n"
        "\n<details><summary>three-zones: Deployment shop/web</summary>\n\n"
        "- eu-1c&#58; 4 nodes rejected\n\n</details>\n"
        "\n<details><summary>1 accepted</summary>\n\n"
        "- three-zones&#58; Deployment shop/b&#58;"
        " exempted by the policy, until 2027-03-31&#58; runs on a pool added at night\n"
        "\n</details>\n"
    )


def test_a_reason_below_a_reason_stays_below_it():
    nested = result(reasons=["eu-1c: rejected", "    3 nodes: no room", "    1 node: a taint", "eu-1d: rejected"])
    assert (
        "- eu-1c&#58; rejected\n  - 3 nodes&#58; no room\n  - 1 node&#58; a taint\n- eu-1d&#58; rejected\n"
        in written(report(nested), "markdown")
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1. one", "1&#46; one"),
        ("12) one", "12&#41; one"),
        ("2 zones, needs 3.", "2 zones, needs 3."),
        ("- one", "&#45; one"),
        ("@team #1", "&#64;<!-- -->team &#35;<!-- -->1"),
        ("www.a.b https://a", "www&#46;a.b https&#58;//a"),
        ("a|b `c` <d> [e](f)", "a&#124;b &#96;c&#96; &#60;d&#62; &#91;e&#93;(f)"),
        ("a\nb\x1b", "a&#92;x0ab&#92;x1b"),
    ],
)
def test_what_could_be_markup_is_a_reference(text, shown):
    assert markdown.escape(text) == shown


def test_a_summary_keeps_to_the_size_that_github_takes():
    text = written(report(*names(9000, reasons=["r" * 900])), "markdown")
    assert len(text.encode()) <= markdown.MOST_BYTES
    assert text.count("<details>") == text.count("</details>") > 0
    assert "more are not shown: a summary has at most 1 MiB" in text
