"""The changes to resource claims: requests that ask for fewer or other devices, and claims that give theirs back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from schedctl.api.devices import (
    DeviceClaim,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimStatus,
    ResourceSlice,
)
from schedctl.api.pods import Pod, PodResourceClaim
from schedctl.cache.cluster import Cluster
from schedctl.devices.selector_names import Named
from schedctl.explain.changes import Change
from schedctl.framework.wording import few, name_of, shorten
from schedctl.workloads.admission import generated_claims

_Asked = ExactDeviceRequest | DeviceSubRequest
_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True)
class RenameResourceClaim(Change):
    """A resource claim the pod names is not there, but one of a similar name is."""

    name: str
    meant: str

    kind: ClassVar[str] = "rename-resource-claim"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> str:
        """The claim."""
        return self.name

    @property
    def condition(self) -> str:
        """``it named resource claim training``."""
        return f"it named resource claim {self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Return the pod naming the other claim."""
        claims = [self._renamed(reference) for reference in pod.spec.resource_claims or ()]
        return _replace(pod, spec=_replace(pod.spec, resource_claims=claims or None))

    def _renamed(self, reference: PodResourceClaim) -> PodResourceClaim:
        wrong = reference.resource_claim_name == self.name
        return _replace(reference, resource_claim_name=self.meant) if wrong else reference


@dataclass(frozen=True, slots=True)
class MakeClaims(Change):
    """The claim controller has not made the pod's claims from their templates yet."""

    kind: ClassVar[str] = "make-resource-claims"
    effort: ClassVar[int] = 0

    @property
    def condition(self) -> str:
        """``its claims were made``."""
        return "its claims were made"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claims and return the pod whose status names them."""
        made, claims = generated_claims(pod, cluster)
        for claim in claims:
            cluster.put(claim)
        return made


@dataclass(frozen=True, slots=True)
class RenameTemplate(Change):
    """A claim template the pod names is not there, but one of a similar name is."""

    name: str
    meant: str

    kind: ClassVar[str] = "rename-resource-claim-template"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> str:
        """The template."""
        return self.name

    @property
    def condition(self) -> str:
        """``it named claim template h100``."""
        return f"it named claim template {self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claims of the other template and return the pod that has them."""
        claims = [self._renamed(reference) for reference in pod.spec.resource_claims or ()]
        return MakeClaims().apply(_replace(pod, spec=_replace(pod.spec, resource_claims=claims or None)), cluster)

    def _renamed(self, reference: PodResourceClaim) -> PodResourceClaim:
        wrong = reference.resource_claim_template_name == self.name
        return _replace(reference, resource_claim_template_name=self.meant) if wrong else reference


@dataclass(frozen=True, slots=True)
class UseDeviceClass(Change):
    """A request asks for a device class that is not there, or that has no device where the pod may run."""

    claim: str
    request: str
    device_class: str

    kind: ClassVar[str] = "use-device-class"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> tuple[str, str]:
        """The claim and the request."""
        return self.claim, self.request

    @property
    def condition(self) -> str:
        """``request gpu of claim training asked for class gpu.example.com``."""
        return f"{_named(self.claim, self.request)} asked for class {self.device_class}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the other class."""
        _change_request(
            cluster, self.claim, self.request, lambda asked: _replace(asked, device_class_name=self.device_class)
        )
        return pod


@dataclass(frozen=True, slots=True)
class DropSelector(Change):
    """The nearest device does not match a selector of the request."""

    claim: str
    request: str
    expression: str

    kind: ClassVar[str] = "drop-device-selector"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> tuple[str, str, str]:
        """The claim, the request and the selector."""
        return self.claim, self.request, self.expression

    @property
    def condition(self) -> str:
        """``request gpu of claim training did not want device.driver == "gpu.example.com"``."""
        return f"{_named(self.claim, self.request)} did not want {shorten(self.expression)}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim without the selector."""

        def without(asked: _Asked) -> _Asked:
            selectors = asked.selectors or ()
            kept = [each for each in selectors if each.cel is None or each.cel.expression != self.expression]
            return _replace(asked, selectors=kept or None)

        _change_request(cluster, self.claim, self.request, without)
        return pod


@dataclass(frozen=True, slots=True)
class RenameAttribute(Change):
    """A selector asks for an attribute or capacity that no device has, but one of a similar name is there.

    Attributes:
        claim, request: whose selector it is, "" for that of a class.
        device_class: the class whose selector it is, "" for a request's own.
        named, meant: what it names and what may have been meant.
    """

    claim: str
    request: str
    device_class: str
    named: Named
    meant: Named

    kind: ClassVar[str] = "rename-device-attribute"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> tuple[str, str, str, Named]:
        """The claim, the request, the class and what is named."""
        return self.claim, self.request, self.device_class, self.named

    @property
    def condition(self) -> str:
        """``request gpu of claim training asked for gpu.example.com/productName``."""
        whose = _named(self.claim, self.request) if self.claim else f"class {self.device_class}"
        return f"{whose} asked for {self.meant.domain}/{self.meant.name}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim, or the class, with the other name in its selectors."""
        if not self.device_class:
            _change_request(
                cluster,
                self.claim,
                self.request,
                lambda asked: _replace(asked, selectors=[self._renamed(each) for each in asked.selectors or ()]),
            )
            return pod
        before = cluster.every(DeviceClass)[self.device_class]
        selectors = [self._renamed(each) for each in before.spec.selectors or ()]
        cluster.put(_replace(before, spec=_replace(before.spec, selectors=selectors)))
        return pod

    def _renamed(self, selector: DeviceSelector) -> DeviceSelector:
        if selector.cel is None:
            return selector
        text = re.sub(rf"(?<!\w){re.escape(self.named.name)}(?!\w)", self.meant.name, selector.cel.expression)
        text = re.sub(rf"""(["']){re.escape(self.named.domain)}\1""", rf"\g<1>{self.meant.domain}\g<1>", text)
        return _replace(selector, cel=_replace(selector.cel, expression=text))


@dataclass(frozen=True, slots=True)
class RenameConstraint(Change):
    """A constraint is on an attribute that no device has, but one of a similar name is there."""

    claim: str
    attribute: str
    meant: str

    kind: ClassVar[str] = "rename-device-constraint"
    effort: ClassVar[int] = 0

    @property
    def subject(self) -> tuple[str, str]:
        """The claim and the attribute."""
        return self.claim, self.attribute

    @property
    def condition(self) -> str:
        """``claim training had its constraint on gpu.example.com/numaNode``."""
        return f"claim {name_of(self.claim)} had its constraint on {self.meant}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the other attribute in its constraints."""

        def renamed(constraint: DeviceConstraint) -> DeviceConstraint:
            if constraint.match_attribute == self.attribute:
                return _replace(constraint, match_attribute=self.meant)
            wrong = constraint.distinct_attribute == self.attribute
            return _replace(constraint, distinct_attribute=self.meant) if wrong else constraint

        _change_devices(
            cluster,
            self.claim,
            lambda devices: _replace(devices, constraints=[renamed(each) for each in devices.constraints or ()]),
        )
        return pod


@dataclass(frozen=True, slots=True)
class LowerCount(Change):
    """A request asks for more devices than any suitable node has to give, but some have a few."""

    claim: str
    request: str
    most: int

    kind: ClassVar[str] = "lower-device-count"
    effort: ClassVar[int] = 2

    @property
    def subject(self) -> tuple[str, str]:
        """The claim and the request."""
        return self.claim, self.request

    @property
    def condition(self) -> str:
        """``request gpu of claim training asked for 1 device``."""
        devices = f"{self.most} device{'' if self.most == 1 else 's'}"
        return f"{_named(self.claim, self.request)} asked for {devices}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the smaller count."""
        _change_request(cluster, self.claim, self.request, lambda asked: _replace(asked, count=self.most))
        return pod


@dataclass(frozen=True, slots=True)
class LowerDeviceCapacity(Change):
    """A request asks for more of a capacity than the nearest device has left."""

    claim: str
    request: str
    capacity: str
    most: str

    kind: ClassVar[str] = "lower-device-capacity"
    effort: ClassVar[int] = 2

    @property
    def subject(self) -> tuple[str, str, str]:
        """The claim, the request and the capacity."""
        return self.claim, self.request, self.capacity

    @property
    def condition(self) -> str:
        """``request gpu of claim training asked for 40Gi of memory``."""
        return f"{_named(self.claim, self.request)} asked for {self.most} of {self.capacity}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with the smaller amount."""

        def lowered(asked: _Asked) -> _Asked:
            if asked.capacity is None:
                return asked
            amounts = {**(asked.capacity.requests or {}), self.capacity: self.most}
            return _replace(asked, capacity=_replace(asked.capacity, requests=amounts))

        _change_request(cluster, self.claim, self.request, lowered)
        return pod


@dataclass(frozen=True, slots=True)
class TolerateDevice(Change):
    """A taint keeps the request from a device that would do otherwise."""

    claim: str
    request: str
    key: str
    value: str
    effect: str

    kind: ClassVar[str] = "add-device-toleration"
    effort: ClassVar[int] = 2

    @property
    def subject(self) -> tuple[str, ...]:
        """The claim, the request and the taint."""
        return self.claim, self.request, self.key, self.value, self.effect

    @property
    def condition(self) -> str:
        """``request gpu of claim training tolerated gpu.example.com/faulty=ecc:NoSchedule``."""
        return f"{_named(self.claim, self.request)} tolerated {self.key}={self.value}:{self.effect}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim with a toleration of just this taint."""
        toleration = DeviceToleration(key=self.key, operator="Equal", value=self.value, effect=self.effect)
        _change_request(
            cluster,
            self.claim,
            self.request,
            lambda asked: _replace(asked, tolerations=[*(asked.tolerations or ()), toleration]),
        )
        return pod


@dataclass(frozen=True, slots=True)
class DropConstraint(Change):
    """The devices there are do not have in common, or do not tell apart, what a constraint of the claim wants."""

    claim: str
    attribute: str

    kind: ClassVar[str] = "drop-device-constraint"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> tuple[str, str]:
        """The claim and the attribute."""
        return self.claim, self.attribute

    @property
    def condition(self) -> str:
        """``claim training had no constraint on resource.kubernetes.io/pcieRoot``."""
        return f"claim {name_of(self.claim)} had no constraint on {self.attribute}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Put the claim without the constraints on the attribute."""

        def without(devices: DeviceClaim) -> DeviceClaim:
            constraints = devices.constraints or ()
            kept = [c for c in constraints if self.attribute not in (c.match_attribute, c.distinct_attribute)]
            return _replace(devices, constraints=kept or None)

        _change_devices(cluster, self.claim, without)
        return pod


@dataclass(frozen=True, slots=True)
class FreeClaims(Change):
    """Claims hold devices that the pod needs, or are themselves what it needs, on a node where it may not run.

    Attributes:
        claims: the claims.
        users: the pods that use them.
    """

    claims: tuple[str, ...]
    users: tuple[str, ...] = ()

    kind: ClassVar[str] = "free-claims"
    effort: ClassVar[int] = 4

    @property
    def subject(self) -> tuple[str, ...]:
        """The claims."""
        return self.claims

    @property
    def condition(self) -> str:
        """``claim ml/training were no longer in use by pod ml/trainer``."""
        by = f" by pod{'s' if len(self.users) > 1 else ''} {few(self.users)}" if self.users else ""
        return f"claim{'s' if len(self.claims) > 1 else ''} {' and '.join(self.claims)} were no longer in use{by}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Remove the pods the claims are reserved for, and put the claims without an allocation."""
        table = cluster.pod_table
        for key in self.claims:
            claim = cluster.every(ResourceClaim)[key]
            users = {user.uid for user in claim.status.reserved_for or ()}
            for info in [info for info in table if info.uid in users]:
                cluster.remove_pod(info)
            cluster.put(_replace(claim, status=ResourceClaimStatus()))
        return pod


@dataclass(frozen=True, slots=True)
class CompletePools(Change):
    """Pools of a driver do not count because slices of theirs are missing."""

    driver: str

    kind: ClassVar[str] = "complete-device-pools"
    effort: ClassVar[int] = 3

    @property
    def subject(self) -> str:
        """The driver."""
        return self.driver

    @property
    def condition(self) -> str:
        """``the pools of driver gpu.example.com were complete``."""
        return f"the pools of driver {self.driver} were complete"

    @property
    def command(self) -> str:
        """``kubectl get resourceslices --field-selector spec.driver=gpu.example.com``."""
        return f"kubectl get resourceslices --field-selector spec.driver={self.driver}"

    def apply(self, pod: Pod, cluster: Cluster) -> Pod:
        """Let the slices that are there be all of their pool."""
        own = [each for each in cluster.every(ResourceSlice).values() if each.spec.driver == self.driver]
        published = Counter((each.spec.pool.name, each.spec.pool.generation) for each in own)
        for each in own:
            pool = each.spec.pool
            whole = _replace(pool, resource_slice_count=published[pool.name, pool.generation])
            cluster.put(_replace(each, spec=_replace(each.spec, pool=whole)))
        return pod


def asked_of(claim: ResourceClaim) -> Iterator[tuple[str, ExactDeviceRequest | DeviceSubRequest]]:
    """Yield the requests of a claim by full name, which is ``request/alternative`` where it has several."""
    for request in claim.spec.devices.requests or ():
        if request.exactly is not None:
            yield request.name, request.exactly
        for each in request.first_available or ():
            yield f"{request.name}/{each.name}", each


def _named(claim: str, request: str) -> str:
    return f"request {request} of claim {name_of(claim)}"


def _change_devices(cluster: Cluster, claim: str, change: Callable[[DeviceClaim], DeviceClaim]) -> None:
    before = cluster.every(ResourceClaim)[claim]
    cluster.put(_replace(before, spec=_replace(before.spec, devices=change(before.spec.devices))))


def _change_request(cluster: Cluster, claim: str, name: str, change: Callable[[Any], Any]) -> None:
    """Put a claim with one request changed, which is ``request/alternative`` where it has several."""
    wanted, _, alternative = name.partition("/")

    def changed(request: DeviceRequest) -> DeviceRequest:
        if request.name != wanted:
            return request
        if request.exactly is not None:
            return _replace(request, exactly=change(request.exactly))
        choices = [change(each) if each.name == alternative else each for each in request.first_available or ()]
        return _replace(request, first_available=choices or None)

    _change_devices(
        cluster, claim, lambda devices: _replace(devices, requests=[changed(each) for each in devices.requests or ()])
    )
