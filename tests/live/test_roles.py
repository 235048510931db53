"""The roles that ship allow what the code asks for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from schedctl.api import autoscalers
from schedctl.api.kinds import KINDS
from schedctl.live.scheduler_configurations import CONFIG_MAPS

DEPLOY = Path(__file__).parents[2] / "deploy"
ROLES = [
    each
    for file in sorted(DEPLOY.glob("*.yaml"))
    for each in yaml.safe_load_all(file.read_text())
    if each["kind"] in ("Role", "ClusterRole")
]


def rights(name):
    """Every group, resource and verb that a role of this name allows."""
    return [
        (group, resource, verb)
        for role in ROLES
        if role["metadata"]["name"] == name
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def test_reader_role_equals_the_listed_kinds():
    asked = {
        (version.rpartition("/")[0], kind.resource)
        for kind in (*KINDS, *autoscalers.KINDS)
        if not kind.only
        for version in (kind.api_version, *kind.served)
    }
    expected = [(group, resource, verb) for group, resource in asked for verb in ("get", "list", "watch")]
    assert sorted(rights("schedctl-reader")) == sorted([*expected, ("", "configmaps", "list")])


def test_reader_role_allows_one_config_map_by_its_name():
    (reader,) = [role for role in ROLES if role["metadata"]["name"] == "schedctl-reader"]
    (rule,) = [rule for rule in reader["rules"] if "configmaps" in rule["resources"]]
    assert rule["resourceNames"] == [each.only.rpartition("/")[2] for each in autoscalers.KINDS if each.only]


def test_role_names_the_requested_config_maps():
    allowed = [
        (role["metadata"]["namespace"], name)
        for role in ROLES
        if role["kind"] == "Role"
        for rule in role["rules"]
        for name in rule["resourceNames"]
    ]
    assert sorted(allowed) == sorted(CONFIG_MAPS)
    assert set(rights("schedctl-scheduler-config")) == {("", "configmaps", "get")}


def test_roles_use_only_namespaces_that_always_exist():
    roles = yaml.safe_load_all((DEPLOY / "clusterrole.yaml").read_text())
    assert {role["metadata"].get("namespace", "kube-system") for role in roles} == {"kube-system"}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: "{kind} {metadata[name]}".format(**role))
def test_no_role_grants_secrets_or_wildcards(role):
    values = {one for rule in role["rules"] for field in rule.values() for one in field}
    assert not values & {"*", "secrets"}


def test_only_the_binder_role_and_the_one_for_kubectl_to_write_reports_change_anything():
    changing = {
        role["metadata"]["name"]
        for role in ROLES
        for rule in role["rules"]
        if set(rule["verbs"]) - {"get", "list", "watch"}
    }
    assert changing == {"schedctl-binder", "schedctl-reports"}
    assert {(group, verb) for group, _, verb in rights("schedctl-reports")} == {
        ("openreports.io", verb) for verb in ("get", "create", "patch")
    }
