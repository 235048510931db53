"""A check that cannot be made leaves reports that say so, in place of the green ones of an earlier run."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from schedctl.render import check_outputs
from tests.cli.test_check import CONFIG, FITS, NODE, POLICY, STATE, WEB

FORMATS = list(check_outputs.CHECK_FORMATS)


@pytest.fixture
def check(schedctl, tmp_path, monkeypatch):
    """``schedctl check`` in a repository with a node, a Deployment, and files that are broken."""
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"
    files = {
        "settings": settings,
        "node": NODE,
        "web": WEB,
        "broken": "a: [\n",
        "policy": POLICY + FITS,
        "typo": POLICY + "    - {nam: x}\n",
    }
    for name, text in files.items():
        Path(f"{name}.yaml").write_text(text)
    return lambda *arguments: schedctl("check", *arguments)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("web.yaml", *STATE, "-p", "typo.yaml"), 2, id="a broken policy"),
        pytest.param(("web.yaml", *STATE, "--fail-on", "errors"), 2, id="an option that is misspelt"),
        pytest.param(("web.yaml",), 2, id="no state"),
        pytest.param(("broken.yaml", *STATE), 3, id="broken manifests"),
        pytest.param(("none.yaml", *STATE), 3, id="no manifests"),
        pytest.param(("settings.yaml", *STATE), 3, id="nothing to check"),
    ],
)
def test_a_report_is_written_also_where_nothing_could_be_judged(check, form, arguments, code):
    Path("out").write_text("the green one of yesterday")
    ended = check(*arguments, "--report", f"{form}=out")
    assert ended.code == code
    text = Path("out").read_text()
    assert "nothing was judged" in text
    assert "yesterday" not in text


def test_it_says_what_is_wrong_and_where(check):
    check("web.yaml", *STATE, "-p", "typo.yaml", "--report", "json=out.json", "--report", "junit=out.xml")
    report = json.loads(Path("out.json").read_text())
    assert (report["summary"]["exitCode"], report["summary"]["inconclusive"]) == (2, len(report["results"]))
    assert {result["location"]["file"] for result in report["results"]} == {"typo.yaml"}
    assert all(result["outcome"] == "Inconclusive" for result in report["results"])
    assert int(ET.parse("out.xml").getroot().attrib["errors"]) == len(report["results"])


def test_broken_settings_are_in_the_reports_of_the_command_line(check):
    Path(".schedctl.yaml").write_text(CONFIG + "chek: {}\n")
    assert check("web.yaml", *STATE, "--report", "json=out").code == 2
    assert "chek" in Path("out").read_text()


def test_the_reports_of_the_settings_are_written_too(check):
    Path(".schedctl.yaml").write_text(CONFIG + "check: {reports: [tap=out]}\n")
    assert check("none.yaml", *STATE).code == 3
    assert "nothing was judged" in Path("out").read_text()


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        pytest.param(("broken.yaml", *STATE), "broken.yaml", id="manifests"),
        pytest.param((".", *STATE), "broken.yaml", id="a file in a folder"),
        pytest.param(("web.yaml", *STATE, "-p", "typo.yaml"), "typo.yaml", id="a policy"),
        pytest.param(("none.yaml", *STATE), "node.yaml", id="the state"),
        pytest.param(("none.yaml", *STATE, "--baseline", "broken.yaml"), "broken.yaml", id="a baseline"),
        pytest.param(("none.yaml", *STATE, "--write-baseline", "web.yaml"), "web.yaml", id="a baseline to be written"),
    ],
)
def test_no_input_is_written_over(check, arguments, file):
    before = Path(file).read_text()
    assert check(*arguments, "--report", f"json={file}").code in (2, 3)
    assert Path(file).read_text() == before
