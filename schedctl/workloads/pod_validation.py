"""What the API server finds wrong with a pod once admission has filled it in: what is requested, beside the limits.

A default of a LimitRange may be less than what a container requests, and containers may request more than their pod
says. Both are refused before the plugins that only look (bounds, quotas) are asked; what is wrong as it is written is
told with its line by `schedctl.sources`.
"""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.api.field_errors import invalid
from schedctl.api.pods import Container, PodSpec, ResourceRequirements
from schedctl.workloads.amounts import AmountList, amounts_of, container_totals


def violations(spec: PodSpec) -> list[str]:
    """Return what is wrong with the requests and limits of a pod, in the API server's words and order.

    Args:
        spec: as admission has completed it.
    """
    found: list[str] = []
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers or ()):
            if container.resources is not None:
                found += _above_limits(container.resources, f"spec.{field}[{index}].resources")
    if spec.resources is not None:
        found += _of_pod(spec, spec.resources)
    return found


def _above_limits(resources: ResourceRequirements, path: str) -> Iterator[str]:
    limits = amounts_of(resources.limits)
    for name, amount in sorted(amounts_of(resources.requests).items()):
        limit = limits.get(name)
        if limit is not None and amount.more_than(limit):
            most = f"must be less than or equal to {name} limit of {limit}"
            yield invalid(f"{path}.requests", str(amount), most)


def _of_pod(spec: PodSpec, resources: ResourceRequirements) -> Iterator[str]:
    """Yield what is wrong with what a pod requests as a whole, and its containers beside it (KEP-2837)."""
    yield from _above_limits(resources, "spec.resources")
    requests, limits = amounts_of(resources.requests), amounts_of(resources.limits)
    yield from _below_containers(requests, container_totals(spec, "requests"), "requests")
    # containers may use more of cpu and memory together than their pod, each at its time; pages are set aside
    pages = {name: amount for name, amount in limits.items() if name.startswith("hugepages-")}
    yield from _below_containers(pages, container_totals(spec, "limits"), "limits")
    for index, container in enumerate(spec.containers or ()):
        for name, amount in sorted(_limits_of(container).items()):
            most = limits.get(name)
            if most is not None and amount.more_than(most):
                where = f"spec.resources.containers[{index}][{name}].limits"
                yield invalid(where, str(amount), f"must be less than or equal to pod limits of {most}")


def _below_containers(stated: AmountList, totals: AmountList, side: str) -> Iterator[str]:
    for name, amount in sorted(stated.items()):
        total = totals.get(name)
        if total is not None and total.more_than(amount):
            least = f"must be greater than or equal to aggregate container {side} of {total}"
            yield invalid(f"spec.resources.{side}[{name}]", str(amount), least)


def _limits_of(container: Container) -> AmountList:
    return amounts_of(container.resources.limits if container.resources is not None else None)
