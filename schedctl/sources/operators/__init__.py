"""What operators make of their custom resources: StatefulSets, Jobs, Services, claims, pods; a module per operator.

Each module names the version of the operator that was read and what it approximates. `sources.custom_workloads` asks
for the objects, and `workloads.expansion` makes pods of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from schedctl.sources.operators.fields import FieldError, Fields, Manifest

__all__ = ["FieldError", "Manifest", "objects_of"]


def objects_of(
    operator: str, resource: dict[str, Any], notes: list[str], company: Sequence[dict[str, Any]] = ()
) -> Iterator[Manifest]:
    """Yield the objects that an operator makes of a custom resource, in the order in which it makes them.

    Args:
        operator: the name of its module.
        resource: the custom resource.
        notes: what should be known about them is added here.
        company: the other resources that the operator looks at, those of other namespaces among them.

    Raises:
        FieldError: a field that decides about them has another type.
    """
    # A run reads the kinds of one or two operators: the others are not imported.
    fields = Fields(resource, company=[Fields(each) for each in company])
    yield from import_module(f"{__name__}.{operator}").objects_of(fields, notes)
