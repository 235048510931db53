"""``schedctl schema --write``: schemas for editors, and the line that names them."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml


def test_the_schemas_of_what_is_written_by_hand_are_written(schedctl, tmp_path):
    ended = schedctl("schema", "--write", str(tmp_path / "schemas"))
    kinds = ("CheckPolicy", "CheckPolicyTest", "Config", "NodeGroups", "Study")
    assert ended.code == 0
    assert [line.split(":")[0] for line in ended.out.splitlines()] == list(kinds)
    for kind, line in zip(kinds, ended.out.splitlines(), strict=True):
        file = tmp_path / "schemas" / f"{kind}.schema.json"
        assert line == f"{kind}: # yaml-language-server: $schema={file}"
        jsonschema.Draft202012Validator.check_schema(json.loads(file.read_text()))


@pytest.mark.parametrize("study", ["fgd", "packing"])
def test_the_written_schema_accepts_the_studies_of_the_examples(schedctl, tmp_path, study):
    schedctl("schema", "--write", str(tmp_path))
    schema = json.loads((tmp_path / "Study.schema.json").read_text())
    written = yaml.safe_load(Path(f"examples/studies/{study}/study.yaml").read_text())
    jsonschema.validate(written, schema)
    written["spec"]["axes"]["sedes"] = written["spec"]["axes"].pop("seeds")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(written, schema)


def test_the_written_schema_accepts_a_policy_of_ours_and_refuses_a_misspelt_one(schedctl, tmp_path):
    schedctl("schema", "--write", str(tmp_path))
    schema = json.loads((tmp_path / "CheckPolicy.schema.json").read_text())
    with open("fixtures/policies/zone-loss/policy.yaml", encoding="utf-8") as stream:  # noqa: PTH123
        policy = yaml.safe_load(stream)
    jsonschema.validate(policy, schema)
    policy["spec"]["cheks"] = policy["spec"].pop("checks")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(policy, schema)


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        pytest.param("NodeGroups", "fixtures/autoscalers/shop-groups.yaml", id="groups of nodes"),
        pytest.param("Study", "examples/studies/packing/study.yaml", id="a study"),
    ],
)
def test_the_written_schemas_accept_our_examples(schedctl, tmp_path, kind, file):
    schedctl("schema", "--write", str(tmp_path))
    schema = json.loads((tmp_path / f"{kind}.schema.json").read_text())
    with open(file, encoding="utf-8") as stream:  # noqa: PTH123
        jsonschema.validate(yaml.safe_load(stream), schema)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(("schema",), "no document kind given", id="nothing"),
        pytest.param(("schema", "Config", "--write", "x"), "KIND and --write were both given", id="both"),
        pytest.param(("schema", "--write", "no/such/folder"), "cannot be made", id="a folder that cannot be made"),
    ],
)
def test_what_is_wrong_is_said(schedctl, arguments, message):
    ended = schedctl(*arguments)
    assert ended.code == 2
    assert message in ended.err
