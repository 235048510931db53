"""With -v, every command that schedules says how often plugins were called, on standard error and in its report."""

from __future__ import annotations

import json

import jsonschema
import pytest

SHOP = ("-f", "fixtures/clusters/shop")
COMMANDS = {
    "explain": ("explain", "--all-pending", *SHOP),
    "explain a node": ("explain", "node", "general-a-1", *SHOP),
    "simulate": ("simulate", "fixtures/releases/spring", *SHOP),
    "drain": ("drain", "general-a-2", "--ignore-daemonsets", *SHOP),
    "capacity": ("capacity", "--like", "deploy/cart", "-n", "shop", *SHOP),
    "check": ("check", "fixtures/releases/spring", *SHOP),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_calls_stand_in_the_report_and_in_a_table(schedctl, command):
    ended = schedctl(*COMMANDS[command], "-o", "json", "-v")
    report = json.loads(ended.out)
    calls = report["metadata"]["pluginCalls"]
    assert {each["extensionPoint"] for each in calls} >= {"preFilter", "filter"}
    fit = next(each for each in calls if (each["extensionPoint"], each["plugin"]) == ("filter", "NodeResourcesFit"))
    assert fit["calls"] > 0
    assert fit["rows"] >= fit["calls"]
    assert fit["seconds"] > 0
    assert "POINT" in ended.err
    assert "NodeResourcesFit" in ended.err
    schema = json.loads(schedctl("schema", report["kind"]).out)
    jsonschema.validate(report, schema)


@pytest.mark.parametrize("command", COMMANDS)
def test_without_v_no_calls_are_counted(schedctl, command):
    ended = schedctl(*COMMANDS[command], "-o", "json")
    assert json.loads(ended.out)["metadata"]["pluginCalls"] is None
    assert "POINT" not in ended.err
