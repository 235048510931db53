"""What the claims for devices of a pod get wrong: claims, templates, classes and attributes that are nowhere.

Most claims are made from a template, and nobody looks at them; so it is the template that is told. An attribute that
no device of the cluster has makes a selector fail, or refuse everything, and no constraint on it can be met.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api import devices
from schedctl.cache.cluster import Cluster
from schedctl.cache.nodes import ClusterView
from schedctl.cache.pod_info import PodInfo
from schedctl.devices.selector_names import ATTRIBUTES, CAPACITY, Named, names_in
from schedctl.errors import NotModelled
from schedctl.explain import typo_remedies
from schedctl.explain.typo_remedies import Typo
from schedctl.framework.claim_remedies import use_device_class
from schedctl.framework.commands import kubectl
from schedctl.framework.similar import absence, closest_name, did_you_mean, in_namespace
from schedctl.framework.wording import few

_MOST_NAMES = 8
"""How many names of attributes are listed."""
_KINDS = {ATTRIBUTES: "attribute", CAPACITY: "capacity"}


def device_typos(pod: PodInfo, cluster: Cluster) -> Iterator[Typo]:
    """Yield what is wrong with the pod's claims for devices, in the order of its spec."""
    claims = cluster.every(devices.ResourceClaim)
    made = {each.name: each.resource_claim_name for each in pod.pod.status.resource_claim_statuses or ()}
    for reference in pod.pod.spec.resource_claims or ():
        template = reference.resource_claim_template_name
        if template is not None and reference.name not in made:
            yield _without_claim(pod, reference.name, template, cluster)
            continue
        name = reference.resource_claim_name or made.get(reference.name)
        key = f"{pod.namespace}/{name}"
        if name is not None and key in claims:
            written = f"claim template {template}" if template else f"claim {name}"
            yield from _in_claim(claims[key], key, written, cluster)
        elif name is not None:
            other = closest_name(name, in_namespace(pod.namespace, claims)) if not template else ""
            remedy = typo_remedies.rename_resource_claim(name, other) if other else None
            fact = absence("resource claim", name, pod.namespace, claims, other)
            yield Typo(fact, remedy, typo_remedies.RENAME_RESOURCE_CLAIM)


def _without_claim(pod: PodInfo, reference: str, template: str, cluster: Cluster) -> Typo:
    templates = cluster.every(devices.ResourceClaimTemplate)
    if f"{pod.namespace}/{template}" in templates:
        command = kubectl("describe", "pod", pod.pod.metadata.name, namespace=pod.namespace)
        fact = f'the claim controller has not made claim "{reference}" from template {template} yet'
        fact += f" (`{command}`)" if command else ""
        return Typo(fact, typo_remedies.make_claims(), typo_remedies.MAKE_CLAIMS)
    other = closest_name(template, in_namespace(pod.namespace, templates))
    fact = absence("resource claim template", template, pod.namespace, templates, other)
    remedy = typo_remedies.rename_template(template, other) if other else None
    return Typo(fact, remedy, typo_remedies.RENAME_TEMPLATE)


def _in_claim(claim: devices.ResourceClaim, key: str, written: str, cluster: Cluster) -> Iterator[Typo]:
    """Yield what is wrong inside a claim that is not allocated; `written` is where people can change it."""
    if claim.status.allocation is not None:
        return
    classes, known = cluster.every(devices.DeviceClass), cluster.derive(_attributes, devices.ResourceSlice)
    for request, body in _requests(claim):
        name = body.device_class_name
        if name not in classes:
            other = closest_name(name, classes)
            remedy = use_device_class(key, request, other) if other else None
            fact = f'device class "{name}" of resource {written} is not in the cluster{did_you_mean(other)}'
            yield Typo(fact, remedy, typo_remedies.USE_DEVICE_CLASS)
        else:
            yield from _in_selectors(classes[name].spec.selectors or (), f"device class {name}", ("", "", name), known)
        where = f"request {request} of {written}"
        yield from _in_selectors(body.selectors or (), where, (key, request, ""), known)
    for constraint in claim.spec.devices.constraints or ():
        name = constraint.match_attribute or constraint.distinct_attribute or ""
        attributes = {f"{each.domain}/{each.name}" for each in known if each.kind == ATTRIBUTES}
        if attributes and name not in attributes:
            other = closest_name(name, attributes)
            fact = f"no device has attribute {name}, which a constraint of {written} names{did_you_mean(other)}"
            remedy = typo_remedies.rename_constraint(key, name, other) if other else None
            yield Typo(fact, remedy, typo_remedies.RENAME_CONSTRAINT)


def _requests(
    claim: devices.ResourceClaim,
) -> Iterator[tuple[str, devices.ExactDeviceRequest | devices.DeviceSubRequest]]:
    """Yield the requests of a claim by full name, which is ``request/alternative`` where it has several."""
    for request in claim.spec.devices.requests or ():
        if request.exactly is not None:
            yield request.name, request.exactly
        for each in request.first_available or ():
            yield f"{request.name}/{each.name}", each


def _in_selectors(
    selectors: Sequence[devices.DeviceSelector], where: str, whose: tuple[str, str, str], known: frozenset[Named]
) -> Iterator[Typo]:
    for number, selector in enumerate(selectors):
        expression = selector.cel.expression if selector.cel is not None else ""
        if not _compiles(expression):
            fact = f"selector #{number} of {where} does not compile; the API server would refuse it"
            yield Typo(fact, None, "mend-device-selector")
        for named in names_in(expression) if known else ():  # without any slice, drivers may not have published yet
            if named not in known:
                yield _unknown(named, where, whose, known)


def _unknown(named: Named, where: str, whose: tuple[str, str, str], known: frozenset[Named]) -> Typo:
    kind = _KINDS[named.kind]
    here = sorted(each.name for each in known if each[:2] == named[:2])
    if here:
        other = closest_name(named.name, here)
        right = named._replace(name=other)
        fact = f"no device has {kind} {named.domain}/{named.name}, only {few(here, _MOST_NAMES)}"
    else:
        domains = {each.domain for each in known if each.kind == named.kind}
        alike = {each.domain for each in known if (each.kind, each.name) == (named.kind, named.name)}
        other = closest_name(named.domain, alike) or closest_name(named.domain, domains)
        right = named._replace(domain=other)
        fact = f'no device has {kind} {named.name} of "{named.domain}", only of {few(sorted(domains), _MOST_NAMES)}'
    remedy = typo_remedies.rename_attribute(*whose, named, right) if other else None
    return Typo(f"{where}: {fact}{did_you_mean(other)}", remedy, typo_remedies.RENAME_ATTRIBUTE)


def _compiles(expression: str) -> bool:
    from schedctl.devices.selectors import compile_selector  # CEL, for the few pods whose claims have selectors

    try:
        return not compile_selector(expression).error
    except NotModelled:  # it may well compile for the API server
        return True


def _attributes(cluster: ClusterView) -> frozenset[Named]:
    """Return the attributes and capacities that devices have, each with its domain."""
    found: set[Named] = set()
    for each in cluster.every(devices.ResourceSlice).values():
        for device in each.spec.devices or ():
            found |= _attributes_of(device, each.spec.driver)
    return frozenset(found)


def _attributes_of(device: devices.Device, driver: str) -> set[Named]:
    found = set()
    for kind, names in ((ATTRIBUTES, device.attributes), (CAPACITY, device.capacity)):
        for written in names or ():
            domain, slash, name = written.rpartition("/")
            found.add(Named(kind, domain if slash else driver, name))
    return found
