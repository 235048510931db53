"""Every output is accepted by a reader that nobody here wrote, whatever stands in a report, and steers nothing."""

from __future__ import annotations

import html
import io
import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest
import tap.parser
import xmlschema
import yaml
from hypothesis import given, settings
from junitparser import Error, Failure, JUnitXml, Skipped
from markdown_it import MarkdownIt

from schedctl.render import sanitise
from schedctl.render.checks import findings
from schedctl.reports.check_formats import CHECK_FORMATS
from schedctl.reports.checks import CheckOutcome, CheckReport
from schedctl.reports.schemas import schema_of
from tests.render.checks.builders import RELATIVE_REPORTS, REPORTS, exempted, of_the_run, report, result, written

SCHEMAS = Path(__file__).with_name("schemas")
SARIF = jsonschema.Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text()))
GITLAB = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "gitlab-code-quality.json").read_text()))
JENKINS = xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")
OURS = jsonschema.Draft202012Validator(schema_of(CheckReport))
COMMAND = re.compile(
    r"::(error|warning|notice) (?:(?:file=[^:,]+,(?:line=[1-9]\d*,(?:col=[1-9]\d*,)?)?)?title=[^:,]*)::[^\r\n]*"
)
LINKING = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
OWN_TAGS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "ul", "li"}

FULL = report(
    result(reasons=["eu-1c: 4 nodes rejected"], hints=["fits with memory <= 1638Mi"]),
    result(CheckOutcome.PASSED, name="api"),
    result(CheckOutcome.INCONCLUSIVE, name="db", check="fits"),
    result(CheckOutcome.BASELINED, name="old"),
    exempted(name="nightly"),
    of_the_run(),
    notes=["the exemption of fits for Job nightly-* ends in 3 days"],
)

LAW = settings(max_examples=60, deadline=None)


@given(REPORTS)
@LAW
def test_any_report_comes_out_in_every_form_without_signs_that_steer(document):
    for form in CHECK_FORMATS:
        text = written(document, form)
        assert text == sanitise_but_newlines(text), form
        assert text == written(document, form), form


def sanitise_but_newlines(text):
    return "\n".join(map(sanitise.text, text.split("\n")))


@given(REPORTS)
@LAW
def test_json_and_yaml_are_the_report_and_valid_by_its_schema(document):
    read = json.loads(written(document, "json"))
    OURS.validate(read)
    assert yaml.safe_load(written(document, "yaml")) == read
    assert msgspec.convert(read, CheckReport) == document


@given(REPORTS)
@LAW
def test_junit_is_read_by_junitparser_and_by_the_schema_of_jenkins(document):
    text = written(document, "junit")
    JENKINS.validate(text)
    suites = JUnitXml.fromstring(text.encode())
    cases = [case for suite in suites for case in suite]
    assert len(cases) == len(document.results) == suites.tests
    kinds = [type(outcome) for case in cases for outcome in case.result]
    outcomes = [each.outcome for each in document.results]
    assert kinds.count(Failure) == suites.failures == outcomes.count(CheckOutcome.VIOLATED)
    assert kinds.count(Error) == suites.errors == outcomes.count(CheckOutcome.INCONCLUSIVE)
    assert kinds.count(Skipped) == outcomes.count(CheckOutcome.EXEMPTED) + outcomes.count(CheckOutcome.BASELINED)


@pytest.mark.parametrize("suppressed", [False, True])
@given(document=REPORTS)
@LAW
def test_sarif_is_valid_by_its_schema(document, suppressed):
    log = json.loads(written(document, "sarif", suppressed=suppressed))
    SARIF.validate(log)
    (run,) = log["runs"]
    shown = len(findings.open_findings(document)) + (len(findings.accepted_results(document)) if suppressed else 0)
    assert len(run["results"]) == shown
    rules = run["tool"]["driver"]["rules"]
    for each in run["results"]:
        assert rules[each["ruleIndex"]]["id"] == each["ruleId"]
        assert "](" not in each["message"]["text"]


@given(RELATIVE_REPORTS)
@LAW
def test_gitlab_gets_what_it_requires_and_no_fingerprint_twice(document):
    read = json.loads(written(document, "gitlab"))
    GITLAB.validate(read)
    fingerprints = [each["fingerprint"] for each in read]
    shown = [each for each in read if each["check_name"] not in ("basis", "note", "not-judged")]
    assert len(shown) == len(findings.open_findings(document))
    assert len(set(fingerprints)) == len(fingerprints)


@given(REPORTS)
@LAW
def test_github_gets_one_well_formed_command_a_line(document):
    for text in written(document, "github").splitlines():
        assert COMMAND.fullmatch(text)
        assert "##[" not in text
        assert re.sub("%(25|0A|0D|3A|2C)", "", text).count("%") == 0


@given(REPORTS)
@LAW
def test_tap_is_read_by_tappy(document):
    parsed = list(tap.parser.Parser().parse(io.StringIO(written(document, "tap"))))
    assert parsed[0].version == 14
    assert parsed[1].expected_tests == len(document.results)
    lines = [each for each in parsed if each.category == "test"]
    assert {each.category for each in parsed[2:]} <= {"test", "diagnostic"}
    assert len(lines) == len(document.results)
    for number, (read, each) in enumerate(zip(lines, document.results, strict=True), 1):
        assert read.number == number
        assert read.ok == (each.outcome not in (CheckOutcome.VIOLATED, CheckOutcome.INCONCLUSIVE))
        assert read.skip == (each.outcome in (CheckOutcome.EXEMPTED, CheckOutcome.BASELINED))
        assert read.todo == (not read.ok and not findings.fails(document, each))
        if not read.ok:
            assert read.yaml_block["message"] == each.message


@given(REPORTS)
@LAW
def test_markdown_has_our_elements_only_and_every_text_means_itself(document):
    text = written(document, "markdown")
    tags = {tag.lower() for tag in re.findall(r"<\s*/?\s*([A-Za-z][A-Za-z0-9]*)", LINKING.render(text))}
    assert tags <= OWN_TAGS
    assert not re.search(r"@\w|(?<!&)#\d|https?:|www\.", text.replace("### schedctl", ""))
    # the empty comments are ours while a message that has one is escaped still
    shown = html.unescape(re.sub(r"<!-- -->", "", LINKING.render(text)))
    for each in findings.open_findings(document):
        assert sanitise.text(each.message).strip() in shown
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert all(row.count("|") == 6 for row in rows)


@pytest.mark.parametrize("form", CHECK_FORMATS)
def test_a_report_with_everything_is_the_same_every_time(form):
    assert len({written(FULL, form) for _ in range(3)}) == 1


@pytest.mark.parametrize("form", ["text", "junit", "sarif", "github", "gitlab", "markdown"])
def test_a_lone_surrogate_is_written_out(form):
    odd = report(result(name="\udcff", message="\udcff", fingerprint="sha256:x"))
    written(odd, form).encode()
