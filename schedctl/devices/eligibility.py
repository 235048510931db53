"""Which devices a request could have, whatever is in use: selectors, reach, capacity; and errors of a claim.

Nothing here changes while `search` tries one combination after the other, so the answers are kept for each model of
device. The texts of errors are kube-scheduler's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from schedctl.api.devices import DeviceClass, DeviceSelector, ResourceClaim
from schedctl.api.meta import key_of
from schedctl.devices.capacity import CapacityError, Misfit, Portion, portions
from schedctl.devices.features import DeviceFeatures
from schedctl.devices.pools import DeviceModel, Offer, PooledDevice
from schedctl.devices.requests import ALL, EXACT_COUNT, Request, requests_of
from schedctl.devices.selectors import SelectorError, compile_selector, with_hint
from schedctl.devices.shortages import Why

MOST_DEVICES = 32
"""How many devices a claim can hold."""

Room = Callable[[int, Sequence[Portion]], bool]


class AllocationError(Exception):
    """Something is wrong with a claim, class or pool that ends the whole cycle; the text is kube-scheduler's."""


class CheckedRequest:
    """A request without errors, and what is known of the devices that it could have.

    Attributes:
        request: the request.
        where: the claim and the request, as errors name them.
        device_class: its class.
        count: how many devices it needs.
        required: the places of the devices it needs, where it needs all.
    """

    __slots__ = (
        "_claim", "_features", "_matches", "_portions", "_verdicts",
        "count", "device_class", "request", "required", "where",
    )  # fmt: skip

    def __init__(
        self,
        claim: str,
        request: Request,
        device_class: DeviceClass,
        matches: dict[tuple[str, int], bool],
        features: DeviceFeatures,
    ) -> None:
        self.request = request
        self._features = features
        self.where = f"claim {claim}, request {request.name}"
        self.device_class = device_class
        self.count = request.count
        self.required: list[int] = []
        self._claim = claim
        self._matches = matches
        self._verdicts: dict[int, tuple[Why, int] | None] = {}  # by number of the model
        self._portions: dict[int, tuple[Portion, ...] | Misfit] = {}  # likewise

    def failing_selector(self, device: PooledDevice) -> tuple[Why, int] | None:
        """Return the first selector that is not true of a device: whose it is, and its number; None if all are."""
        number = device.model.number
        if number not in self._verdicts:
            self._verdicts[number] = self._first_failing(device)
        return self._verdicts[number]

    def portions_of(self, model: DeviceModel) -> tuple[Portion, ...] | Misfit:
        """Return what a device has to give.

        Raises:
            CapacityError: that cannot be worked out.
        """
        if not self._features.shares:
            return ()
        known = self._portions.get(model.number)
        if known is None:
            known = self._portions[model.number] = portions(
                self.request.capacity, model.device.capacity, self._features
            )
        return known

    def judge_like(self, other: CheckedRequest) -> None:
        """Take over what is known of another request's devices."""
        self._verdicts = other._verdicts

    def require_all(self, offer: Offer, room: Room) -> None:
        """Find the devices that a request for all of them needs.

        Those in use are among them: such a request fails when one that it needs is taken, it does not make do without.
        """
        whole = self._features.whole_requests
        places = iter(range(len(offer.devices)))
        for pool in offer.pools:
            # Unlike for a number of devices, where such pools are passed over: nobody knows what "all" of one would be.
            if not pool.sound:
                condition = "being updated" if pool.incomplete else "invalid"
                raise AllocationError(
                    f"{self.where}: asks for all devices, but resource pool {pool.id} is currently {condition}"
                )
            for device, place in zip(pool.devices, places, strict=False):
                if self.failing_selector(device) is not None or not is_reachable(device):
                    continue
                try:
                    needed = self.portions_of(device.model)
                except CapacityError as error:
                    if not self._features.capacity_errors:
                        continue
                    # Without driver and pool, which kube-scheduler names in the same error during the search.
                    raise AllocationError(
                        f"{self.where}: checking capacity for device {device.id.device}: {error}"
                    ) from None
                if isinstance(needed, Misfit) or any(each.taken > each.available for each in needed):
                    continue
                if whole or room(place, needed):
                    self.required.append(place)
        self.count = len(self.required)

    def _first_failing(self, device: PooledDevice) -> tuple[Why, int] | None:
        if device.device.binding_conditions and not self._features.conditions:
            return Why.CONDITIONS, 0
        for index, selector in enumerate(self.device_class.spec.selectors or ()):
            if not self._is_match(f"class {self.request.class_name}", index, selector, device):
                return Why.CLASS, index
        for index, selector in enumerate(self.request.selectors):
            if not self._is_match(f"claim {self._claim}", index, selector, device):
                return Why.REQUEST, index
        return None

    def _is_match(self, whose: str, index: int, selector: DeviceSelector, device: PooledDevice) -> bool:
        expression = expression_of(selector)
        key = expression, device.model.number
        matched = self._matches.get(key)
        if matched is None:
            program = compile_selector(expression)
            # Not noticed before a device is looked at: a bad selector hurts nobody where there are no devices.
            if program.error:
                raise AllocationError(f"{whose}: selector #{index}: CEL compile error: {program.error}")
            try:
                matched = self._matches[key] = program.matches(device.model.view)
            except SelectorError as error:
                where = f" on device {device.id}" if self._features.named_errors else ""
                text = with_hint(error) if self._features.named_errors else str(error)
                raise AllocationError(f"{whose}: selector #{index}{where}: CEL runtime error: {text}") from None
        return matched


def check_requests(
    claim: ResourceClaim,
    offer: Offer,
    classes: Mapping[str, DeviceClass],
    matches: dict[tuple[str, int], bool],
    features: DeviceFeatures,
    room: Room,
) -> list[list[CheckedRequest]]:
    """Return the claim's requests, each as its alternatives, and how many devices each needs.

    Args:
        claim: the claim.
        offer: what the node sees.
        classes: device classes by name.
        matches: which models, by number, expressions are true of, as far as is known; added to.
        features: how devices are allocated.
        room: whether a device, by its place, has left what a request takes.

    Raises:
        AllocationError: something is wrong with the claim, a class of it, or a pool of which it asks for all devices.
    """
    key = key_of(claim)
    least = 0
    checked: list[list[CheckedRequest]] = []
    for alternatives in requests_of(claim, derivations=features.known_derivations):
        _refuse_capacity(key, alternatives, features)
        checked.append(_check_all(key, alternatives, offer, classes, matches, features, room))
        # Even with the smallest alternative of each request the claim would hold too many. Where only larger ones
        # would, that shows during the search.
        fewest = min(each.count for each in checked[-1])
        if fewest > MOST_DEVICES - least and features.named_errors:
            raise AllocationError(
                f"claim {key}, request {alternatives[0].parent}: adding {fewest} devices exceeds the claim limit of"
                f" {MOST_DEVICES}, with {least} already accounted for"
            )
        least += fewest
    if least > MOST_DEVICES:
        raise AllocationError(
            f"claim {key}: number of requested devices {least} exceeds the claim limit of {MOST_DEVICES}"
        )
    return checked


def _check_all(
    claim: str,
    alternatives: Sequence[Request],
    offer: Offer,
    classes: Mapping[str, DeviceClass],
    matches: dict[tuple[str, int], bool],
    features: DeviceFeatures,
    room: Room,
) -> list[CheckedRequest]:
    """Return the alternatives of a request, each checked."""
    checked: list[CheckedRequest] = []
    for number, request in enumerate(alternatives):
        # Before v1.36 kube-scheduler finds the first alternative's matches where it looks for those of the second.
        lends = number == 1 and not features.own_alternatives and {request.mode, alternatives[0].mode} == {ALL}
        like = checked[0] if lends else None
        checked.append(_check(claim, request, offer, classes, matches, features, room, like))
    return checked


def _refuse_capacity(claim: str, alternatives: Sequence[Request], features: DeviceFeatures) -> None:
    for request in alternatives if features.amounts and not features.shares else ():
        if request.capacity is not None:
            is_exact = len(alternatives) == 1 and request.name == request.parent
            subject = f"subrequest {request.name}" if not is_exact and features.names_subrequests else ""
            raise AllocationError(
                f"claim {claim}, {subject or f'request {request.parent}'}: has capacity requests, but the"
                " DRAConsumableCapacity feature is disabled"
            )


def _check(
    claim: str,
    request: Request,
    offer: Offer,
    classes: Mapping[str, DeviceClass],
    matches: dict[tuple[str, int], bool],
    features: DeviceFeatures,
    room: Room,
    like: CheckedRequest | None,
) -> CheckedRequest:
    where = f"claim {claim}, request {request.name}"
    if request.derived and not features.derivations:
        raise AllocationError(f"{where}: cannot handle request with derived attributes, the feature is disabled")
    for number, selector in enumerate(request.selectors):
        if selector.cel is None:
            raise AllocationError(f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)")
    if request.names_admin and not features.admin:
        raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
    if not request.class_name:
        raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
    device_class = classes.get(request.class_name)
    if device_class is None:
        raise AllocationError(
            f"{where}: could not retrieve device class {request.class_name}:"
            f' deviceclass.resource.k8s.io "{request.class_name}" not found'
        )
    checked = CheckedRequest(claim, request, device_class, matches, features)
    if like is not None:
        checked.judge_like(like)
    if request.mode == ALL:
        checked.require_all(offer, room)
    elif request.mode != EXACT_COUNT:
        raise AllocationError(f"{where}: unsupported count mode {request.mode}")
    return checked


def is_reachable(device: PooledDevice) -> bool:
    """Return whether the node may use a device.

    Raises:
        AllocationError: finding out ends in an error.
    """
    if isinstance(device.reached, str):
        raise AllocationError(device.reached)
    return device.reached


def expression_of(selector: DeviceSelector) -> str:
    """Return the text of a selector, "" where it is of a type that is not known."""
    return selector.cel.expression if selector.cel is not None else ""
