"""Every field of an operator's resource bears every type: pods, problems, but never another exception."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedctl.api.custom_kinds import CUSTOM_KINDS
from schedctl.sources import Terms, load_text
from schedctl.workloads.expansion import expand

RESOURCES = [*yaml.safe_load_all(Path(__file__).with_name("resources.yaml").read_text())]
BESIDE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "beside"}}
VALUES: list[Any] = [None, True, -1, 7, 1.5, "text", "", [], [None], ["a"], [{}], {}, {"a": None}, {"name": {"a": "b"}}]
MISSING = object()


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield from paths(inner, (*path, key))


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    result = copy.deepcopy(value)
    holder = result
    for step in path[:-1]:
        holder = holder[step]
    if to is MISSING:
        del holder[path[-1]]
    else:
        holder[path[-1]] = to
    return result


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: f"{resource['kind']} {resource['metadata']}")
def test_every_field_of_a_resource_bears_every_type(resource, cluster_of):
    cluster, terms = cluster_of(""), Terms(creating=True, custom_kinds=CUSTOM_KINDS)
    for path in paths(resource):
        for value in (*VALUES, MISSING):
            items = [changed(resource, path, value), BESIDE]
            manifests = load_text(
                json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode(), terms=terms
            )
            assert all(str(problem).isprintable() for problem in manifests.problems)
            expand(manifests.objects, cluster, manifests.ignored)
