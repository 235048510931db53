"""The search for devices that satisfy a pod's claims on one node: depth first, the first solution counts.

Claims are satisfied in order, and so are the requests of each, and the devices of each request are chosen in the order
of the node's pools: without permutations, since for the next device of a request only later ones are looked at. What
fits is taken and the search goes on behind it; when nothing fits, the last one taken is given back. This is the order
of ``structured/internal/incubating`` (KEP-4381), on which the choice of devices rests.

A device for which all that follows has failed stands for all later ones of its kind (`_kinds`): swapping the two would
change nothing, and the later one has fewer companions left. So a node full of equal devices is given up at once, where
kube-scheduler tries every combination until its time is over; solutions and errors stay the same. The exception are
claims with constraints that want all devices of something, where the order of trying shows in an error.

`Search` is written as recursion, but each call is a generator that a loop runs (`_run`): pods with many claims go
deeper than Python's stack. A *step* is one device looked at or one call; the number of them depends on nothing but
what the node sees, what is taken and what is asked, so a budget of steps is exceeded always or never.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from schedctl.api.devices import DeviceClass, DeviceSelector, ResourceClaim
from schedctl.api.meta import Quantity, key_of
from schedctl.api.quantities import Amount, canonical
from schedctl.devices.allocated import AllocatedState, Use
from schedctl.devices.capacity import CapacityError, Misfit, Portion, portions
from schedctl.devices.constraints import Constraint, attribute_of
from schedctl.devices.counters import Counters
from schedctl.devices.pools import DeviceModel, Offer, PooledDevice
from schedctl.devices.requests import ALL, EXACT_COUNT, Request, requests_of
from schedctl.devices.selectors import SelectorError, compile_selector
from schedctl.devices.shortages import JudgedDevice, Refusal, Shortage, Why

MOST_DEVICES = 32
"""How many devices a claim can hold."""


class AllocationError(Exception):
    """Something is wrong with a claim, class or pool that ends the whole cycle; the text is kube-scheduler's."""


class NodeAllocationError(Exception):
    """Claims cannot be allocated on this node, and something is wrong with it; the text is kube-scheduler's."""


class BudgetExceeded(Exception):
    """The search took more steps than it was given; whether the claims can be allocated is not known."""


class Pick(NamedTuple):
    """A device chosen for a request.

    Attributes:
        request: what for.
        device: its place among the devices of the offer.
        share: whether it is a share.
        consumed: what a share takes of each capacity.
    """

    request: Request
    device: int
    share: bool
    consumed: tuple[tuple[str, Quantity], ...] = ()


class _Outcome(Enum):
    FOUND = auto()
    NOT_FOUND = auto()
    TOO_MANY = auto()
    """The claim would hold more devices than it can; other alternatives of a request may need fewer."""


_Calls = Generator["_Calls", _Outcome, _Outcome]


class _Wanted:
    """A request on its way through one search.

    Attributes:
        request: the request.
        device_class: its class.
        count: how many devices it needs.
        every: the places of the devices it needs, where it needs all.
        verdicts: by number of the model, the first selector that is not true of it, None where all are.
        portions: by number of the model, what a device has to give.
    """

    __slots__ = ("count", "device_class", "every", "portions", "request", "verdicts")

    def __init__(self, request: Request, device_class: DeviceClass) -> None:
        self.request = request
        self.device_class = device_class
        self.count = request.count
        self.every: list[int] = []
        self.verdicts: dict[int, tuple[Why, int] | None] = {}
        self.portions: dict[int, tuple[Portion, ...] | Misfit] = {}


class _Taken(NamedTuple):
    """What taking a device changed."""

    claim: int
    wanted: _Wanted
    device: int
    counted: bool
    constraints: int
    portions: tuple[Portion, ...] | None


class _Stuck(NamedTuple):
    """How far the search came: claim, request, and the shortage of each alternative with how many were found."""

    claim: int
    request: int
    shortages: dict[int, Shortage]


class Search:
    """One attempt to satisfy claims with what a node sees.

    Args:
        offer: what the node sees.
        state: what is taken already.
        classes: device classes by name.
        claims: what has to be satisfied, in order.
        matches: which models, by number, expressions are true of, as far as is known; added to.
        budget: the most steps.
        explain: whether to note where it gets stuck, in `shortages`.
    """

    def __init__(
        self,
        offer: Offer,
        state: AllocatedState,
        classes: Mapping[str, DeviceClass],
        claims: Sequence[ResourceClaim],
        matches: dict[tuple[str, int], bool],
        budget: int,
        *,
        explain: bool = False,
    ) -> None:
        self._offer = offer
        self._devices = offer.devices
        self._state = state
        self._classes = classes
        self._claims = claims
        self._matches = matches
        self._steps_left = budget
        self._explain = explain
        self._uses = _uses(offer, state)
        self._kinds = _kinds(offer, self._uses)
        self._prunes = not any(_may_break(claim) for claim in claims)
        self._counters = Counters(state)
        self._wanted: list[list[list[_Wanted]]] = []
        self._constraints: list[list[Constraint]] = []
        self._picks: list[list[Pick]] = [[] for _ in claims]
        self._chosen: dict[int, list[int]] = {}
        self._shares: dict[int, list[tuple[Portion, ...]]] = {}
        self._taken: list[_Taken] = []
        self._stuck: _Stuck | None = None

    def run(self) -> tuple[tuple[Pick, ...], ...] | None:
        """Return the devices chosen for each claim, None if there is no solution.

        Raises:
            AllocationError: see there.
            NodeAllocationError: there is none, and one of the pools is invalid.
            BudgetExceeded: it took too long.
        """
        self._prepare()
        if self._run(self._request(0, 0)) is _Outcome.FOUND:
            return tuple(map(tuple, self._picks))
        if any(pool.invalid for pool in self._offer.pools):
            raise NodeAllocationError("invalid resource pools were encountered")
        return None

    @property
    def shortages(self) -> tuple[Shortage, ...]:
        """Where the search came farthest, each alternative of that request."""
        return tuple(self._stuck.shortages.values()) if self._stuck is not None else ()

    # -- what is wanted ----------------------------------------------------------

    def _prepare(self) -> None:
        """Check all claims, and find out how many devices each request needs."""
        for claim in self._claims:
            key = key_of(claim)
            least = 0
            wanted: list[list[_Wanted]] = []
            self._wanted.append(wanted)
            for alternatives in requests_of(claim):
                wanted.append([self._want(claim, request) for request in alternatives])
                fewest = min(each.count for each in wanted[-1])
                if fewest > MOST_DEVICES - least:
                    written = alternatives[0].parent
                    raise AllocationError(
                        f"claim {key}, request {written}: adding {fewest} devices exceeds the claim limit of"
                        f" {MOST_DEVICES}, with {least} already accounted for"
                    )
                least += fewest
            constraints = claim.spec.devices.constraints or ()
            for number, constraint in enumerate(constraints):
                if constraint.match_attribute is None and constraint.distinct_attribute is None:
                    raise AllocationError(
                        f"claim {key}, constraint #{number}: empty constraint (unsupported constraint type?)"
                    )
            self._constraints.append([Constraint(constraint) for constraint in constraints])

    def _want(self, claim: ResourceClaim, request: Request) -> _Wanted:
        where = f"claim {key_of(claim)}, request {request.name}"
        if request.derives:
            raise AllocationError(f"{where}: cannot handle request with derived attributes, the feature is disabled")
        for number, selector in enumerate(request.selectors):
            if selector.cel is None:
                raise AllocationError(f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)")
        if not request.class_name:
            raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
        device_class = self._classes.get(request.class_name)
        if device_class is None:
            raise AllocationError(
                f"{where}: could not retrieve device class {request.class_name}:"
                f' deviceclass.resource.k8s.io "{request.class_name}" not found'
            )
        wanted = _Wanted(request, device_class)
        if request.mode == ALL:
            self._want_all(claim, wanted, where)
        elif request.mode != EXACT_COUNT:
            raise AllocationError(f"{where}: unsupported count mode {request.mode}")
        return wanted

    def _want_all(self, claim: ResourceClaim, wanted: _Wanted, where: str) -> None:
        """Find the devices that a request for all of them needs; whether they are in use is not asked yet."""
        places = iter(range(len(self._devices)))
        for pool in self._offer.pools:
            if not pool.sound:
                condition = "being updated" if pool.incomplete else "invalid"
                raise AllocationError(
                    f"{where}: asks for all devices, but resource pool {pool.id} is currently {condition}"
                )
            for device, place in zip(pool.devices, places, strict=False):
                if self._failing_selector(claim, wanted, device) is not None or not self._is_reachable(device):
                    continue
                try:
                    given = self._portions(wanted, device.model)
                except CapacityError as error:
                    raise AllocationError(
                        f"{where}: checking capacity for device {device.id.device}: {error}"
                    ) from None
                if not isinstance(given, Misfit) and all(each.taken <= each.available for each in given):
                    wanted.every.append(place)
        wanted.count = len(wanted.every)

    # -- the search --------------------------------------------------------------

    @staticmethod
    def _run(first: _Calls) -> _Outcome:
        """Run a call and those it makes; the outcome of each is sent to its caller."""
        calls = [first]
        outcome: _Outcome | None = None
        while True:
            try:
                calls.append(calls[-1].send(outcome))  # type: ignore[arg-type]
                outcome = None
            except StopIteration as done:
                calls.pop()
                outcome = done.value
                if not calls:
                    assert outcome is not None
                    return outcome

    def _step(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise BudgetExceeded

    def _request(self, claim: int, index: int) -> _Calls:
        """Satisfy a request and all that follow."""
        self._step()
        if claim == len(self._claims):
            return _Outcome.FOUND
        wanted = self._wanted[claim]
        if index == len(wanted):
            outcome = yield self._request(claim + 1, 0)
            return _Outcome.NOT_FOUND if outcome is _Outcome.TOO_MANY else outcome
        too_many = True
        for alternative in range(len(wanted[index])):
            outcome = yield self._device(claim, index, alternative, 0, 0)
            if outcome is _Outcome.FOUND:
                return outcome
            too_many = too_many and outcome is _Outcome.TOO_MANY
        return _Outcome.TOO_MANY if too_many else _Outcome.NOT_FOUND

    def _device(self, claim: int, index: int, alternative: int, found: int, start: int) -> _Calls:
        """Find the next device of a request, none before the place `start`, and satisfy all that follows."""
        self._step()
        wanted = self._wanted[claim][index][alternative]
        must = wanted.request.mode == ALL
        if must and not wanted.every:
            self._note(claim, index, alternative, found, range(len(self._devices)), start)
            return _Outcome.NOT_FOUND
        if found >= wanted.count:
            outcome = yield self._request(claim, index + 1)
            return outcome
        if wanted.count - found > MOST_DEVICES - len(self._picks[claim]):
            self._note(claim, index, alternative, found, range(0), start, limit=True)
            return _Outcome.TOO_MANY
        if must:
            outcome = yield self._must(claim, index, alternative, found)
            return outcome
        in_vain: set[int] = set()
        for place in range(start, len(self._devices)):
            kind = self._kinds[place] if self._prunes and self._fresh(place) else None
            if kind in in_vain:
                continue
            self._step()
            if self._usable(claim, wanted, place) and self._take(claim, wanted, place, must=False):
                outcome = yield self._device(claim, index, alternative, found + 1, place + 1)
                if outcome is _Outcome.FOUND:
                    return outcome
                self._give_back()
                if outcome is _Outcome.TOO_MANY:
                    return outcome
            if kind is not None:
                in_vain.add(kind)
        self._note(claim, index, alternative, found, range(len(self._devices)), start)
        return _Outcome.NOT_FOUND

    def _must(self, claim: int, index: int, alternative: int, found: int) -> _Calls:
        """Take the next of all devices of a request; without it there is no solution."""
        wanted = self._wanted[claim][index][alternative]
        place = wanted.every[found]
        if not self._take(claim, wanted, place, must=True):
            self._note(claim, index, alternative, found, range(place, place + 1), 0)
            return _Outcome.NOT_FOUND
        outcome = yield self._device(claim, index, alternative, found + 1, 0)
        if outcome is not _Outcome.FOUND:
            self._give_back()
        return outcome

    # -- one device --------------------------------------------------------------

    def _usable(self, claim: int, wanted: _Wanted, place: int) -> bool:
        """Return whether a device is free and is what is asked for, as far as one can tell without taking it."""
        device = self._devices[place]
        if self._is_held(claim, wanted.request, place):
            return False
        if self._failing_selector(self._claims[claim], wanted, device) is not None or not self._is_reachable(device):
            return False
        try:
            return not isinstance(self._portions(wanted, device.model), Misfit)
        except CapacityError as error:
            where = f"claim {key_of(self._claims[claim])}, request {wanted.request.name}"
            raise AllocationError(f"{where}: checking capacity for device {device.id}: {error}") from None

    def _take(self, claim: int, wanted: _Wanted, place: int, *, must: bool) -> bool:
        """Take a device if that is possible.

        Raises:
            AllocationError: a constraint forbids a device that the request must have.
        """
        device, request = self._devices[place], wanted.request
        model = device.model
        if self._is_held(claim, request, place):
            return False
        counted = bool(model.consumes) and not (model.shareable and self._has_shares(place))
        if counted and not self._counters.reserve(device):
            return False
        constraints = self._constraints[claim]
        joined = 0
        fits = all(request.tolerates(taint) for taint in model.taints)
        if fits:
            for constraint in constraints:
                if not constraint.add(request, model):
                    break
                joined += 1
            fits = joined == len(constraints)
            if must and not fits:
                raise AllocationError(
                    f"claim {key_of(self._claims[claim])}, request {request.name}: cannot add device {device.id}"
                    " because a claim constraint would not be satisfied"
                )
        given = self._portions(wanted, model)
        assert not isinstance(given, Misfit)
        shares = given if model.shareable else None
        self._taken.append(_Taken(claim, wanted, place, counted, joined, shares))
        if not fits or self._scarce(place, given) is not None:
            self._undo(self._taken.pop(), placed=False)
            return False
        if shares is None:
            self._chosen.setdefault(place, []).append(claim)
            self._picks[claim].append(Pick(request, place, share=False))
        else:
            self._shares.setdefault(place, []).append(shares)
            consumed = tuple((portion.name, portion.quantity) for portion in shares)
            self._picks[claim].append(Pick(request, place, share=True, consumed=consumed))
        return True

    def _give_back(self) -> None:
        """Undo the last `_take` that succeeded."""
        self._undo(self._taken.pop(), placed=True)

    def _undo(self, taken: _Taken, *, placed: bool) -> None:
        if placed:
            self._picks[taken.claim].pop()
            if taken.portions is None:
                self._chosen[taken.device].pop()
            else:
                self._shares[taken.device].pop()
        for constraint in self._constraints[taken.claim][: taken.constraints]:
            constraint.remove(taken.wanted.request)
        if taken.counted:
            self._counters.release(self._devices[taken.device])

    def _is_held(self, claim: int, request: Request, place: int) -> bool:
        """Return whether a device is in use; with admin access only the claim's own use of it counts."""
        chosen = self._chosen.get(place, ())
        if request.admin:
            return claim in chosen
        use = self._uses.get(place)
        return bool(chosen) or (use is not None and use.whole)

    def _fresh(self, place: int) -> bool:
        """Return whether the search has not taken anything of a device."""
        return not self._chosen.get(place) and not self._shares.get(place)

    def _has_shares(self, place: int) -> bool:
        use = self._uses.get(place)
        return (use is not None and use.shared) or bool(self._shares.get(place))

    def _scarce(self, place: int, given: Sequence[Portion]) -> tuple[Portion, int] | None:
        """Return the first portion that a device has not left, with what it has."""
        use, shares = self._uses.get(place), self._shares.get(place, ())
        held = dict(use.capacity) if use is not None else {}
        for index, portion in enumerate(given):
            left = portion.available - sum(share[index].taken for share in shares)
            if portion.name in held:
                left -= held[portion.name].nano_units
            if portion.taken > left:
                return portion, left
        return None

    def _failing_selector(self, claim: ResourceClaim, wanted: _Wanted, device: PooledDevice) -> tuple[Why, int] | None:
        """Return which selector is not true of a device: whose it is, and its number."""
        number = device.model.number
        if number not in wanted.verdicts:
            wanted.verdicts[number] = self._select(claim, wanted, device)
        return wanted.verdicts[number]

    def _select(self, claim: ResourceClaim, wanted: _Wanted, device: PooledDevice) -> tuple[Why, int] | None:
        in_class = wanted.device_class.spec.selectors or ()
        for index, selector in enumerate(in_class):
            if not self._matches_selector(f"class {wanted.request.class_name}", index, selector, device):
                return Why.CLASS, index
        for index, selector in enumerate(wanted.request.selectors):
            if not self._matches_selector(f"claim {key_of(claim)}", index, selector, device):
                return Why.REQUEST, index
        return None

    def _matches_selector(self, whose: str, index: int, selector: DeviceSelector, device: PooledDevice) -> bool:
        expression = _expression(selector)
        key = expression, device.model.number
        matched = self._matches.get(key)
        if matched is None:
            program = compile_selector(expression)
            if program.error:
                raise AllocationError(f"{whose}: selector #{index}: CEL compile error: {program.error}")
            try:
                matched = self._matches[key] = program.matches(device.model.view)
            except SelectorError as error:
                raise AllocationError(
                    f"{whose}: selector #{index} on device {device.id}: CEL runtime error: {error}"
                ) from None
        return matched

    def _is_reachable(self, device: PooledDevice) -> bool:
        if isinstance(device.reached, str):
            raise AllocationError(device.reached)
        return device.reached

    def _portions(self, wanted: _Wanted, model: DeviceModel) -> tuple[Portion, ...] | Misfit:
        given = wanted.portions.get(model.number)
        if given is None:
            given = wanted.portions[model.number] = portions(wanted.request.capacity, model.device.capacity)
        return given

    # -- explaining --------------------------------------------------------------

    def _note(
        self, claim: int, index: int, alternative: int, found: int, places: range, start: int, *, limit: bool = False
    ) -> None:
        """Note where the search is stuck, if it has come this far for the first time."""
        if not self._explain:
            return
        if self._stuck is None or (claim, index) > (self._stuck.claim, self._stuck.request):
            self._stuck = _Stuck(claim, index, {})
        elif (claim, index) < (self._stuck.claim, self._stuck.request):
            return
        noted = self._stuck.shortages.get(alternative)
        if noted is None or noted.found < found:
            wanted = self._wanted[claim][index][alternative]
            judged = tuple(
                JudgedDevice(self._devices[place].id, self._refusals(claim, wanted, place, tried=place < start))
                for place in places
            )
            request = wanted.request
            self._stuck.shortages[alternative] = Shortage(
                key_of(self._claims[claim]), request.full_name, request.class_name, wanted.count, found, limit, judged
            )

    def _refusals(self, claim: int, wanted: _Wanted, place: int, *, tried: bool) -> tuple[Refusal, ...]:
        """Return every reason against a device, as things stand."""
        device, request = self._devices[place], wanted.request
        model, holders = device.model, self._state.holders(device.id)
        refusals = []
        if self._is_held(claim, request, place):
            chosen = bool(self._chosen.get(place))
            refusals.append(Refusal(Why.CHOSEN) if chosen else Refusal(Why.HELD, holders=holders))
        unselected = self._failing_selector(self._claims[claim], wanted, device)
        if unselected is not None:
            why, index = unselected
            selectors = wanted.device_class.spec.selectors if why is Why.CLASS else request.selectors
            refusals.append(Refusal(why, index, _expression((selectors or ())[index])))
        if not self._is_reachable(device):
            refusals.append(Refusal(Why.UNREACHED))
        refusals += self._capacity_refusals(wanted, place, holders)
        if model.consumes and not (model.shareable and self._has_shares(place)):
            for (counter_set, counter), (needed, left) in self._counters.missing_counters(device).items():
                subject = f"{counter_set}/{counter}"
                refusals.append(Refusal(Why.COUNTERS, -1, subject, _quantity_text(needed), _quantity_text(left)))
        for taint in model.taints:
            if not request.tolerates(taint):
                refusals.append(Refusal(Why.TAINT, subject=f"{taint.key}={taint.value}:{taint.effect}"))
        for index, constraint in enumerate(self._constraints[claim]):
            if not constraint.allows(request, model):
                lacks = attribute_of(model, constraint.attribute) is None
                refusals.append(Refusal(Why.ATTRIBUTE if lacks else Why.CONSTRAINT, index, constraint.attribute))
        if tried and not refusals:
            refusals.append(Refusal(Why.TRIED))
        return tuple(refusals)

    def _capacity_refusals(self, wanted: _Wanted, place: int, holders: tuple[str, ...]) -> list[Refusal]:
        model = self._devices[place].model
        asked = wanted.request.capacity or {}
        try:
            given = self._portions(wanted, model)
        except CapacityError:
            return []
        if isinstance(given, Misfit):
            return [Refusal(Why.CAPACITY, -1, given.name, str(asked.get(given.name, "")))]
        scarce = self._scarce(place, given)
        if scarce is None:
            return []
        portion, left = scarce
        return [Refusal(Why.CAPACITY, -1, portion.name, _quantity_text(portion.taken), _quantity_text(left), holders)]


def _uses(offer: Offer, state: AllocatedState) -> dict[int, Use]:
    """How the devices of an offer are in use, by place."""
    uses: dict[int, Use] = {}
    place = 0
    for pool in offer.pools:
        used = state.pools.get(pool.id)
        if used:
            for index, device in enumerate(pool.devices):
                use = used.get(device.id.device)
                if use is not None:
                    uses[place + index] = use
        place += len(pool.devices)
    return uses


def _kinds(offer: Offer, uses: Mapping[int, Use]) -> list[int]:
    """A number for each device, equal for devices that a search could swap without noticing."""
    numbers: dict[Hashable, int] = {}
    kinds = []
    for place, device in enumerate(offer.devices):
        pool = device.pool.id if device.model.consumes else None
        kinds.append(numbers.setdefault((device.model.number, device.reached, uses.get(place), pool), len(numbers)))
    return kinds


def _may_break(claim: ResourceClaim) -> bool:
    """Return whether the order in which devices are tried may show in an error: all of them, under constraints."""
    wants_all = any(each.mode == ALL for alternatives in requests_of(claim) for each in alternatives)
    return wants_all and bool(claim.spec.devices.constraints)


def _expression(selector: DeviceSelector) -> str:
    return selector.cel.expression if selector.cel is not None else ""


def _quantity_text(units: int) -> str:
    """An amount in nano-units, for reading."""
    return canonical(Amount(units, -9), "BinarySI")
