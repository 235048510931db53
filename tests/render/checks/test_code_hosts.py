"""Reports keep to what code hosts document that they take: a reader of each, written from its documentation alone."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

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
    (line,) = written(document, "github").splitlines()
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
