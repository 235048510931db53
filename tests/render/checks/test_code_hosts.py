"""Reports keep to what code hosts document that they take: a reader of each, written from its documentation alone."""

from __future__ import annotations

import gzip
import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from schedctl.render.checks import junit
from schedctl.reports.checks import CheckOutcome, Severity
from tests.render.checks.builders import RELATIVE_REPORTS, REPORTS, of_the_run, report, result, written

LAW = settings(max_examples=60, deadline=None)


def ingest_sarif(text):
    """Read a file as code scanning documents it: required properties that are not empty, limits of sizes and counts."""
    assert len(gzip.compress(text.encode())) <= 10_000_000
    log = json.loads(text)
    assert log["version"] == "2.1.0"
    assert log["$schema"].startswith("https://")
    assert 1 <= len(log["runs"]) <= 20
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        assert len(driver["rules"]) <= 25_000
        assert len(run["results"]) <= 25_000
        for rule in driver["rules"]:
            assert rule["id"]
            assert 0 < len(rule["name"]) <= 255
            assert 0 < len(rule["shortDescription"]["text"]) <= 1024
            assert 0 < len(rule["fullDescription"]["text"]) <= 1024
            assert rule["help"]["text"]
            assert rule["help"]["markdown"]
            assert rule["defaultConfiguration"]["level"] in ("note", "warning", "error")
            assert len(rule["properties"]["tags"]) <= 10  # of 20 that it takes it keeps as many
            assert rule["properties"]["precision"] in ("very-high", "high", "medium", "low")
            assert rule["properties"]["problem.severity"] in ("error", "warning", "recommendation")
        ids = [rule["id"] for rule in driver["rules"]]
        for each in run["results"]:
            assert ids[each["ruleIndex"]] == each["ruleId"]
            assert each["message"]["text"]
            assert len(each["locations"]) <= 10
            assert each["partialFingerprints"]["primaryLocationLineHash"]
            for location in each["locations"]:
                if "physicalLocation" in location:
                    _ingest_place(location["physicalLocation"])
        hashes = [each["partialFingerprints"]["primaryLocationLineHash"] for each in run["results"]]
        assert len(set(hashes)) == len(hashes)
    return log


def _ingest_place(place):
    assert place["artifactLocation"]["uri"]
    region = place["region"]
    assert all(region[name] >= 1 for name in ("startLine", "startColumn", "endLine", "endColumn"))
    assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])


@given(REPORTS)
@LAW
def test_code_scanning_takes_any_report(document):
    ingest_sarif(written(document, "sarif"))


@given(REPORTS)
@LAW
def test_the_help_of_a_rule_has_no_element_and_no_link_but_ours(document):
    for rule in json.loads(written(document, "sarif"))["runs"][0]["tool"]["driver"]["rules"]:
        shown = MarkdownIt("commonmark", {"html": True}).render(rule["help"]["markdown"])
        tags = {tag.lower() for tag in re.findall(r"<\s*/?\s*([A-Za-z][A-Za-z0-9]*)", shown)}
        assert tags <= {"p", "pre", "code", "strong", "a"}
        assert shown.count("<a ") == shown.count('<a href="http') <= 1


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://a b", "https://a)[b](c", "ftp://a", "https://"])
def test_what_is_no_page_is_no_link(url):
    document = report(result())
    (policy,) = document.policies
    check = type(policy.checks[0])(name="three-zones", severity=Severity.ERROR, url=url)
    document = type(document)(
        summary=document.summary,
        results=document.results,
        policies=[type(policy)(name=policy.name, source=policy.source, checks=[check])],
    )
    (rule,) = ingest_sarif(written(document, "sarif"))["runs"][0]["tool"]["driver"]["rules"]
    shown = MarkdownIt("commonmark").render(rule["help"]["markdown"])
    assert [link for link in re.findall(r'<a href="([^"]*)"', shown) if not link.startswith("https://a")] == []


def test_every_finding_that_is_in_some_file_has_a_location_that_code_scanning_can_show():
    document = report(result(), of_the_run(), result(CheckOutcome.INCONCLUSIVE, kind="Node", namespace="", name="a"))
    for each in ingest_sarif(written(document, "sarif"))["runs"][0]["results"]:
        assert "physicalLocation" in each["locations"][0]


@given(REPORTS)
@LAW
def test_a_step_has_ten_annotations_of_a_level_at_most(document):
    lines = written(document, "github").splitlines()
    for command in ("error", "warning", "notice"):
        of_level = [line for line in lines if line.startswith(f"::{command} ")]
        assert len(of_level) <= 10
        assert all(len(line.encode()) <= 65_536 for line in of_level)


def test_the_longest_of_names_and_messages_still_fit():
    check, message = "c" * 5000, "m" * 100_000
    document = report(result(check=check, message=message, reasons=["r" * 100_000] * 20))
    ingest_sarif(written(document, "sarif"))
    line, _ = written(document, "github").splitlines()
    assert len(line.encode()) <= 65_536
    assert len(re.search("title=([^:]*)", line)[1]) <= 255


@given(RELATIVE_REPORTS)
@LAW
def test_gitlab_takes_any_report(document):
    seen = set()
    for each in json.loads(written(document, "gitlab")):
        assert each["description"]
        assert each["check_name"]
        assert each["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert each["location"]["path"]
        assert not each["location"]["path"].startswith(("/", "./"))
        assert each["location"]["lines"]["begin"] >= 1
        assert each["fingerprint"] not in seen
        seen.add(each["fingerprint"])


def ingest_junit(text):
    """Read a test report as GitLab documents it: a size, and cases of one name of which only the first counts."""
    assert len(text.encode()) < 30_000_000
    return ET.fromstring(text)


def test_a_test_report_that_is_too_large_leaves_out_reasons_then_what_passed_and_then_findings(monkeypatch):
    passed = [result(CheckOutcome.PASSED, name=f"p-{number}") for number in range(40)]
    failed = [result(name=f"f-{number}", reasons=["r" * 200]) for number in range(40)]
    document = report(*passed, *failed)

    def read(most):
        monkeypatch.setattr(junit, "MOST_BYTES", most)
        root = ET.fromstring(written(document, "junit"))
        cases = list(root.iter("testcase"))
        assert int(root.get("tests")) == len(cases)
        left_out = [each.get("value") for each in root.iter("property") if each.get("name") == "leftOut"]
        return len(cases), sum(len(each) for each in cases), "r" * 200 in ET.tostring(root).decode(), left_out

    behind = "what stands behind the findings"
    assert read(30_000_000) == (80, 40, True, [])
    assert read(20_000) == (80, 40, False, [behind])
    assert read(10_000) == (40, 40, False, [behind, "40 results of 80"])
    assert read(6_000) == (22, 22, False, [behind, "58 results of 80"])


@pytest.mark.slow
def test_the_findings_of_a_large_fleet_keep_to_every_limit():
    """More than code scanning takes, each with what stands behind it: 45 MB as JSON."""
    document = report(*(result(name=f"web-{number:05}", reasons=["r" * 1200]) for number in range(26_000)))
    log = ingest_sarif(written(document, "sarif"))
    assert 5_000 < len(log["runs"][0]["results"]) <= 25_000
    assert len(written(document, "github").splitlines()) == 11
    assert len(written(document, "markdown").encode()) <= 1 << 20
    assert len(list(ingest_junit(written(document, "junit")).iter("testcase"))) == 26_000
    assert len(json.loads(written(document, "gitlab"))) == 26_001


# -- notes of the check ---------------------------------------------------------------------

NOTES = ["workload shop/web is not judged: no check applies", "policy p matches nothing in the manifests"]


def test_github_shows_the_notes_of_a_check_as_one_notice():
    notes, _ = written(report(notes=NOTES), "github").splitlines()
    assert notes == f"::notice title=schedctl notes::{NOTES[0]}%0A{NOTES[1]}"


def test_notes_leave_a_place_among_the_ten_notices_of_github():
    found = [result(check=f"c{n}", severity=Severity.INFO) for n in range(30)]
    lines = written(report(*found, notes=NOTES), "github").splitlines()
    assert sum(line.startswith("::notice") for line in lines) <= 10
    assert lines[-2].startswith("::notice title=schedctl notes::")


def test_gitlab_has_each_note_as_a_finding_of_the_lowest_severity():
    entries = json.loads(written(report(notes=NOTES), "gitlab"))
    assert [(each["check_name"], each["severity"], each["description"]) for each in entries[:2]] == [
        ("note", "info", note) for note in NOTES
    ]
    assert len({each["fingerprint"] for each in entries}) == 3


# -- by whose rules -------------------------------------------------------------------------


def test_the_last_notice_of_github_names_the_version_with_and_without_findings():
    for document in (report(result()), report()):
        last = written(document, "github").splitlines()[-1]
        assert last.startswith("::notice title=schedctl::")
        assert f"kube-scheduler {document.metadata.kubernetes_version} rules" in last


def test_a_list_of_gitlab_that_has_anything_names_the_version_always_as_the_same_finding():
    empty, found, more = (
        json.loads(written(each, "gitlab")) for each in (report(), report(result()), report(notes=NOTES))
    )
    assert empty == []
    assert found[-1]["fingerprint"] == more[-1]["fingerprint"]
    assert found[-1]["check_name"] == "basis"
    assert "kube-scheduler v1.37.1 rules" in found[-1]["description"]
