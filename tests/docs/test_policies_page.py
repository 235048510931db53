"""The page about policies has what the code has, and its examples are run.

``SCHEDCTL_UPDATE_GOLDEN=1 pytest tests/docs`` writes the tables into the page.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from docs._reference import policy_fields
from schedctl.cli.running import run
from schedctl.policy.documents import BUILTINS
from schedctl.policy.functions import LIBRARY
from schedctl.policy.variables import IN_SCOPE, RECORDS
from schedctl.session.schemas import SCHEMAS
from schedctl.simulation.what_if_syntax import WORDS, camel

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/policies.md"
TEXT = PAGE.read_text(encoding="utf-8")
TABLE = re.compile(r"^<!-- table: (\S+) -->\n(?:\n((?:\|.*\n)+))?", re.MULTILINE)
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
HEAD = {"apiVersion": "schedctl.dev/v1alpha1", "kind": "CheckPolicy", "metadata": {"name": "example"}}
LOSE_ZONE = {"name": "lose-zone", "changes": [{"lose": {"zone": "eu-1a"}}]}
FIXTURES = ROOT / "fixtures/policies"


def table(name):
    return policy_fields.record(name) if name in RECORDS else policy_fields.arguments(name)


def policy(example):
    """The policy that an example is a part of."""
    written = yaml.safe_load(example.replace("2027-03-31", "'2027-03-31'"))
    if isinstance(written, list):
        written = {"checks": written}
    if "kind" in written:
        return written
    return {
        **HEAD,
        "spec": {"scenarios": [LOSE_ZONE], "checks": [{"name": "fits", "builtin": "schedulable"}], **written},
    }


def test_tables_equal_the_code():
    made = TABLE.sub(lambda found: f"<!-- table: {found[1]} -->\n\n{table(found[1])}", TEXT)
    if os.environ.get("SCHEDCTL_UPDATE_GOLDEN"):
        PAGE.write_text(made, encoding="utf-8")
    else:
        assert made == TEXT


def test_every_built_in_record_function_and_word_is_there():
    tables = {found[1] for found in TABLE.finditer(TEXT)}
    assert tables >= {*RECORDS, *(name for name in BUILTINS if name != "no-regression")}
    assert set(re.findall(r"^### (\S+)$", TEXT, re.MULTILINE)) == set(BUILTINS)
    assert [each.function for each in LIBRARY if not re.search(rf"`(\w\.)?{each.function}[(`]", TEXT)] == []
    assert [word for word in map(camel, WORDS) if f"`{word}`" not in TEXT] == []
    for scope, roots in IN_SCOPE.items():
        assert re.search(rf"^\| `{scope}` \|[^|]*\| {', '.join(f'`{root}`' for root in roots)} \|$", TEXT, re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_matches_the_schema_and_selects_pods(example, tmp_path, monkeypatch, capsys):
    written = policy(example)
    jsonschema.validate(written, SCHEMAS["CheckPolicy"]())
    monkeypatch.chdir(tmp_path)
    Path("policy.json").write_text(json.dumps(written))
    manifests, state = str(FIXTURES / "all-fit/passes.yaml"), str(FIXTURES / "cluster.yaml")
    code = run(["check", manifests, "-f", state, "-p", "policy.json", "-o", "json"])
    if "namespaces: [shop, payments]" in example:
        assert code == 3
        return
    results = json.loads(capsys.readouterr().out)["results"]
    assert {each["check"] for each in results} == {each["name"] for each in written["spec"]["checks"]}
    fresh = {each["name"] for each in written["spec"]["checks"] if each.get("builtin") == "snapshot-fresh"}
    assert {each["check"] for each in results if each["outcome"] == "Inconclusive"} == fresh


@pytest.mark.parametrize(
    "check",
    [
        pytest.param({"builtin": "spread", "with": {"minDomain": 3}}, id="a misspelt argument"),
        pytest.param({"builtin": "spread", "with": {"minDomains": "3"}}, id="of another type"),
        pytest.param({"builtin": "schedulable", "with": {"minDomains": 3}}, id="of another built-in"),
        pytest.param({"builtin": "schedulabel"}, id="no built-in"),
    ],
)
def test_schema_and_reader_refuse_the_same(check):
    written = {**HEAD, "spec": {"checks": [{"name": "a", **check}]}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written, SCHEMAS["CheckPolicy"]())
