"""The search for devices that satisfy a pod's claims on one node: depth first, and the first solution counts.

It takes the order of ``structured/internal/incubating`` (KEP-4381), on which the choice of devices rests: claims, their
requests and the node's devices each in the order given. Which devices a request could have at all, whatever is in use,
is decided in `eligibility`; who runs searches, and for which nodes, in `allocator`.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from schedctl.api.devices import DeviceClass, ResourceClaim
from schedctl.api.meta import Quantity, key_of
from schedctl.api.quantities import Amount, canonical
from schedctl.devices import eligibility
from schedctl.devices.allocated import AllocatedState, Use
from schedctl.devices.capacity import CapacityError, Misfit, Portion
from schedctl.devices.compatibility import CompatibilityGroups
from schedctl.devices.constraints import Constraint, attribute_of
from schedctl.devices.counters import Counters
from schedctl.devices.derived import DerivationError
from schedctl.devices.features import DeviceFeatures
from schedctl.devices.pools import Offer, Pool, PooledDevice
from schedctl.devices.requests import ALL, Request, requests_of
from schedctl.devices.shortages import JudgedDevice, Refusal, Shortage, Why


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


class _Taken(NamedTuple):
    """What taking a device changed.

    Attributes:
        claim: whose device it is now.
        request: and for which request.
        place: the device's place among those of the offer.
        counted: whether it drew on counters.
        constraints: how many of the claim's constraints count it in.
        portions: what a share takes, None where the device is held whole.
    """

    claim: int
    request: Request
    place: int
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
        features: how devices are allocated.
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
        features: DeviceFeatures,
        *,
        explain: bool = False,
    ) -> None:
        self._offer = offer
        self._features = features
        self._devices = offer.devices
        self._state = state
        self._classes = classes
        self._claims = claims
        self._matches = matches
        self._steps_left = budget
        self._explain = explain
        self._uses = _uses(offer, state)
        self._kinds = _kinds(offer, self._uses)
        self._invalid_pools = {} if features.whole_pools else _invalid_pools(offer)
        keeps = not features.clean_refusals and (features.partitions or features.shares)
        self._skips_equals = not keeps and not any(_order_shows(claim, features) for claim in claims)
        self._every_order = not features.one_order and not self._skips_equals
        self._counters = Counters(state, features)
        self._groups = CompatibilityGroups(state) if features.common_groups else None
        self._requests: list[list[list[eligibility.CheckedRequest]]] = []  # by claim, request and alternative
        self._constraints: list[list[Constraint]] = []  # by claim
        self._picks: list[list[Pick]] = [[] for _ in claims]
        self._chosen: dict[int, list[int]] = {}  # by place, the claims that hold all of it; several with admin access
        self._shares: dict[int, list[tuple[Portion, ...]]] = {}  # by place
        self._taken: list[_Taken] = []  # to be undone in reverse
        self._stuck: _Stuck | None = None

    def run(self) -> tuple[tuple[Pick, ...], ...] | None:
        """Return the devices chosen for each claim, None if there is no solution.

        Raises:
            AllocationError: see there.
            NodeAllocationError: there is none, and one of the pools is invalid.
            BudgetExceeded: it took too long.
        """
        # All claims are checked first: an error in the last one counts, even where the first cannot be satisfied.
        for claim in self._claims:
            checked = eligibility.check_requests(
                claim, self._offer, self._classes, self._matches, self._features, self._has_room
            )
            self._requests.append(checked)
            self._constraints.append(_constraints_of(claim, self._features))
        if self._run(self._request(0, 0)) is _Outcome.FOUND:
            return tuple(map(tuple, self._picks))
        # Only now: an invalid pool is no error as long as the sound ones are enough.
        if self._features.whole_pools and any(pool.invalid for pool in self._offer.pools):
            raise NodeAllocationError("invalid resource pools were encountered")
        return None

    @property
    def shortages(self) -> tuple[Shortage, ...]:
        """Where the search came farthest, each alternative of that request."""
        return tuple(self._stuck.shortages.values()) if self._stuck is not None else ()

    # -- the search --------------------------------------------------------------

    @staticmethod
    def _run(first: _Calls) -> _Outcome:
        """Run a call and those it makes; the outcome of each is sent to its caller.

        The search is written as recursion but run by this loop: pods with many claims go deeper than Python's stack.
        """
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
        # Steps, where kube-scheduler counts seconds: what is in the claims, the pools and in use decides alone whether
        # the budget is exceeded, so the same question has the same answer on any machine, and for nodes alike.
        self._steps_left -= 1
        if self._steps_left < 0:
            raise BudgetExceeded

    def _request(self, claim: int, index: int) -> _Calls:
        """Satisfy a request and all that follow."""
        self._step()
        if claim == len(self._claims):
            return _Outcome.FOUND
        requests = self._requests[claim]
        if index == len(requests):
            outcome = yield self._request(claim + 1, 0)
            # The limit is one of each claim: what is too much for the next claim says nothing about this one.
            return _Outcome.NOT_FOUND if outcome is _Outcome.TOO_MANY else outcome
        too_many = True
        for alternative in range(len(requests[index])):
            outcome = yield self._device(claim, index, alternative, 0, 0)
            if outcome is _Outcome.FOUND:
                return outcome
            too_many = too_many and outcome is _Outcome.TOO_MANY
        return _Outcome.TOO_MANY if too_many else _Outcome.NOT_FOUND

    def _device(self, claim: int, index: int, alternative: int, found: int, start: int) -> _Calls:
        """Find the next device of a request, none before the place `start`, and satisfy all that follows."""
        self._step()
        checked = self._requests[claim][index][alternative]
        takes_all = checked.request.mode == ALL
        # All of nothing is a failure, although no device is missing.
        if takes_all and not checked.required:
            self._note(claim, index, alternative, found, range(len(self._devices)), start)
            return _Outcome.NOT_FOUND
        if found >= checked.count:
            outcome = yield self._request(claim, index + 1)
            return outcome
        if checked.count - found > eligibility.MOST_DEVICES - len(self._picks[claim]):
            self._note(claim, index, alternative, found, range(0), start, limit=True)
            return _Outcome.TOO_MANY
        if takes_all:
            outcome = yield self._required_device(claim, index, alternative, found)
            return outcome
        failed_kinds: set[int] = set()
        for place in range(start, len(self._devices)):
            self._refuse_invalid_pool(place)
            # A device for which all that follows has failed stands for all later ones of its kind: to swap the two
            # would change nothing, and the later one has fewer companions. So a node full of equal devices is given
            # up at once, where kube-scheduler tries every combination until its time is over.
            kind = self._kinds[place] if self._skips_equals and self._is_untouched(place) else None
            if kind in failed_kinds:
                continue
            self._step()
            if self._is_eligible(claim, checked, place) and self._take(claim, checked, place, found, required=False):
                # Only later places from here on: the devices of one request are a set, their order does not matter,
                # unless something is kept in mind of those that were given up.
                following = 0 if self._every_order else place + 1
                outcome = yield self._device(claim, index, alternative, found + 1, following)
                if outcome is _Outcome.FOUND:
                    return outcome
                self._undo_last()
                # Another device here would leave just as many for the requests that follow.
                if outcome is _Outcome.TOO_MANY:
                    return outcome
            if kind is not None:
                failed_kinds.add(kind)
        self._refuse_invalid_pool(len(self._devices))
        self._note(claim, index, alternative, found, range(len(self._devices)), start)
        return _Outcome.NOT_FOUND

    def _refuse_invalid_pool(self, place: int) -> None:
        """Refuse to go on where the search comes to an invalid pool, as until v1.34.

        Raises:
            AllocationError: it does, at this place among the devices.
        """
        pool = self._invalid_pools.get(place)
        if pool is not None:
            raise eligibility.AllocationError(f"pool {pool.id.pool} is invalid: {pool.invalid}")

    def _required_device(self, claim: int, index: int, alternative: int, found: int) -> _Calls:
        """Take the next of all devices of a request; without it there is no solution."""
        checked = self._requests[claim][index][alternative]
        place = checked.required[found]
        if not self._take(claim, checked, place, found, required=True):
            self._note(claim, index, alternative, found, range(place, place + 1), 0)
            return _Outcome.NOT_FOUND
        # before v1.36 kube-scheduler loses from here on which alternative it is
        following = alternative if self._features.own_alternatives else 0
        outcome = yield self._device(claim, index, following, found + 1, 0)
        if outcome is not _Outcome.FOUND:
            self._undo_last()
        return outcome

    # -- one device --------------------------------------------------------------

    def _is_eligible(self, claim: int, checked: eligibility.CheckedRequest, place: int) -> bool:
        """Return whether a device is free and is what is asked for, as far as one can tell without taking it."""
        device = self._devices[place]
        # The order shows in errors: of a device in use no selector is evaluated, so none can fail on it.
        if self._is_held(claim, checked.request, place):
            return False
        if checked.failing_selector(device) is not None or not eligibility.is_reachable(device):
            return False
        try:
            return not isinstance(checked.portions_of(device.model), Misfit)
        except CapacityError as error:
            if not self._features.capacity_errors:
                return False
            raise eligibility.AllocationError(
                f"{checked.where}: checking capacity for device {device.id}: {error}"
            ) from None

    def _take(self, claim: int, checked: eligibility.CheckedRequest, place: int, found: int, *, required: bool) -> bool:
        """Take a device if that is possible, for a request that has found so many.

        Raises:
            AllocationError: a constraint forbids a device that the request must have, or kube-scheduler crashes.
        """
        device, request = self._devices[place], checked.request
        model = device.model
        if self._is_held(claim, request, place):
            return False
        if not device.operable or (device.device.consumes_counters and not self._features.partitions):
            return False
        portions = checked.portions_of(model)
        assert not isinstance(portions, Misfit)
        # It shows that this comes before counters, where those who are refused keep what they drew.
        if not required and self._scarce_portion(place, portions) is not None:
            return False
        counted = self._draws(place)
        if counted and required and not self._features.pool_of_all:
            raise eligibility.AllocationError(
                f"{checked.where}: asks for all devices, and {device.id} draws on counters, on which kube-scheduler"
                " crashes"
            )
        if counted and not self._reserve(device):
            return False
        joined = 0
        fits = all(request.tolerates(taint) for taint in model.taints)
        if fits:
            joined = self._join_constraints(claim, request, device)
            fits = joined == len(self._constraints[claim])
            # An error, where a taint on the same device is none: upstream's asymmetry. It ends the whole cycle, so
            # nothing needs to be undone.
            if required and not fits:
                raise eligibility.AllocationError(
                    f"{checked.where}: cannot add device {device.id} because a claim constraint would not be satisfied"
                )
        taken = _Taken(claim, request, place, counted, joined, portions if model.shareable else None)
        if not fits or self._lacks_capacity(checked, place, portions, found):
            self._refuse(taken, constrained=not fits)
            return False
        self._taken.append(taken)
        if taken.portions is None:
            self._chosen.setdefault(place, []).append(claim)
            self._picks[claim].append(Pick(request, place, share=False))
        else:
            self._shares.setdefault(place, []).append(taken.portions)
            consumed = tuple((portion.name, portion.quantity) for portion in taken.portions)
            self._picks[claim].append(Pick(request, place, share=True, consumed=consumed))
        return True

    def _reserve(self, device: PooledDevice) -> bool:
        """Draw on the counters of a device, if there is enough and those who draw on them already get along with it."""
        if self._groups is not None and not self._groups.reserve(device):
            return False
        drawn = self._counters.reserve(device)
        if self._groups is not None and not drawn:
            self._groups.release(device)
        return drawn

    def _join_constraints(self, claim: int, request: Request, device: PooledDevice) -> int:
        """Count a device in with the constraints of a claim until one forbids it; return how many did not.

        Raises:
            AllocationError: an attribute cannot be derived.
        """
        for joined, constraint in enumerate(self._constraints[claim]):
            try:
                if not constraint.add(request, device):
                    return joined
            except DerivationError as error:
                raise eligibility.AllocationError(str(error)) from None
        return len(self._constraints[claim])

    def _draws(self, place: int) -> bool:
        """Return whether a device draws on counters once it is taken: its first share does it for all that follow."""
        device = self._devices[place]
        if not device.device.consumes_counters:
            return False
        return self._features.every_share or not (device.model.shareable and self._has_shares(place))

    def _lacks_capacity(
        self, checked: eligibility.CheckedRequest, place: int, portions: Sequence[Portion], found: int
    ) -> bool:
        """Return whether there is not enough capacity left.

        Raises:
            AllocationError: kube-scheduler crashes.
        """
        if self._features.own_capacity or not self._features.shares:
            return self._scarce_portion(place, portions) is not None
        listing = self._devices[place].slice
        if found >= len(listing.spec.devices or ()):
            raise eligibility.AllocationError(
                f"{checked.where}: device number {found + 1} is in ResourceSlice {listing.metadata.name}, which has"
                f" only {len(listing.spec.devices or ())}, on which kube-scheduler crashes"
            )
        first = next(place for place, device in enumerate(self._devices) if device.slice is listing)
        try:
            other = checked.portions_of(self._devices[first + found].model)
        except CapacityError:
            return True
        return isinstance(other, Misfit) or self._scarce_portion(first + found, other) is not None

    def _refuse(self, taken: _Taken, *, constrained: bool) -> None:
        """Give a device up that was looked at, for a taint or a constraint, or for lack of capacity."""
        if self._features.clean_refusals:
            self._undo(taken)
        elif constrained:
            self._leave_constraints(taken)
        elif taken.portions is None:
            self._chosen.setdefault(taken.place, []).append(taken.claim)

    def _undo_last(self) -> None:
        """Undo the last `_take` that succeeded."""
        taken = self._taken.pop()
        self._picks[taken.claim].pop()
        if taken.portions is None:
            self._chosen[taken.place].pop()
        elif self._features.clean_refusals:
            self._shares[taken.place].pop()
        else:  # counters stay drawn on, and a share of nothing stays a share
            if taken.portions:
                self._shares[taken.place].pop()
            self._leave_constraints(taken)
            return
        self._undo(taken)

    def _undo(self, taken: _Taken) -> None:
        """Take a device out of constraints and counters."""
        self._leave_constraints(taken)
        if taken.counted:
            self._counters.release(self._devices[taken.place])
            if self._groups is not None:
                self._groups.release(self._devices[taken.place])

    def _leave_constraints(self, taken: _Taken) -> None:
        for constraint in self._constraints[taken.claim][: taken.constraints]:
            constraint.remove(taken.request)

    def _is_held(self, claim: int, request: Request, place: int) -> bool:
        """Return whether a device is in use; with admin access only the claim's own use of it counts."""
        chosen = self._chosen.get(place, ())
        if request.admin:
            return claim in chosen
        use = self._uses.get(place)
        return bool(chosen) or (use is not None and use.whole)

    def _is_untouched(self, place: int) -> bool:
        """Return whether the search has not taken anything of a device."""
        return not self._chosen.get(place) and not self._shares.get(place)

    def _has_shares(self, place: int) -> bool:
        use = self._uses.get(place)
        shared = use is not None and (use.shared if self._features.all_shares else bool(use.capacity))
        return shared or bool(self._shares.get(place))

    def _has_room(self, place: int, portions: Sequence[Portion]) -> bool:
        return self._scarce_portion(place, portions) is None

    def _scarce_portion(self, place: int, portions: Sequence[Portion]) -> tuple[Portion, int] | None:
        """Return the first portion that a device has not left, with what it has."""
        use, shares = self._uses.get(place), self._shares.get(place, ())
        held = dict(use.capacity) if use is not None else {}
        for index, portion in enumerate(portions):
            # All shares of a device list its capacities in the same order, by name.
            left = portion.available - sum(share[index].taken for share in shares)
            if portion.name in held:
                left -= held[portion.name].nano_units
            if portion.taken > left:
                return portion, left
        return None

    # -- explaining --------------------------------------------------------------

    def _note(
        self, claim: int, index: int, alternative: int, found: int, places: range, start: int, *, limit: bool = False
    ) -> None:
        """Note where the search is stuck, if it has come this far for the first time."""
        if not self._explain:
            return
        # Claims, then requests, are satisfied in order, so the greater pair is the farther one.
        if self._stuck is None or (claim, index) > (self._stuck.claim, self._stuck.request):
            self._stuck = _Stuck(claim, index, {})
        elif (claim, index) < (self._stuck.claim, self._stuck.request):
            return
        noted = self._stuck.shortages.get(alternative)
        if noted is None or noted.found < found:
            checked = self._requests[claim][index][alternative]
            # Right now: the reasons depend on what else is taken at this moment.
            judged = tuple(
                JudgedDevice(self._devices[place].id, self._refusals(claim, checked, place, tried=place < start))
                for place in places
            )
            request = checked.request
            self._stuck.shortages[alternative] = Shortage(
                key_of(self._claims[claim]), request.full_name, request.class_name, checked.count, found, limit, judged
            )

    def _refusals(
        self, claim: int, checked: eligibility.CheckedRequest, place: int, *, tried: bool
    ) -> tuple[Refusal, ...]:
        """Return every reason against a device, as things stand."""
        device, request = self._devices[place], checked.request
        model, holders = device.model, self._state.holders(device.id)
        refusals = []
        if self._is_held(claim, request, place):
            chosen = bool(self._chosen.get(place))
            refusals.append(Refusal(Why.CHOSEN) if chosen else Refusal(Why.HELD, holders=holders))
        unselected = _failing_selector(checked, device)
        if unselected is not None:
            why, index = unselected
        if unselected is not None and why is Why.CONDITIONS:
            refusals.append(Refusal(why))
        elif unselected is not None:
            selectors = checked.device_class.spec.selectors if why is Why.CLASS else request.selectors
            refusals.append(Refusal(why, index, eligibility.expression_of((selectors or ())[index])))
        if not eligibility.is_reachable(device):
            refusals.append(Refusal(Why.UNREACHED))
        if not device.operable:
            refusals.append(Refusal(Why.OPERATIONS))
        refusals += self._capacity_refusals(checked, place, holders)
        if device.device.consumes_counters and not self._features.partitions:
            refusals.append(Refusal(Why.PARTITION))
        elif self._draws(place):
            for (counter_set, counter), (needed, left) in self._counters.missing_counters(device).items():
                subject = f"{counter_set}/{counter}"
                refusals.append(Refusal(Why.COUNTERS, -1, subject, _quantity_text(needed), _quantity_text(left)))
            if self._groups is not None and not self._groups.admits(device):
                refusals.append(Refusal(Why.GROUPS))
        for taint in model.taints:
            if not request.tolerates(taint):
                refusals.append(Refusal(Why.TAINT, subject=f"{taint.key}={taint.value}:{taint.effect}"))
        refusals += self._constraint_refusals(claim, request, device)
        if tried and not refusals:
            refusals.append(Refusal(Why.TRIED))
        return tuple(refusals)

    def _constraint_refusals(self, claim: int, request: Request, device: PooledDevice) -> Iterator[Refusal]:
        for index, constraint in enumerate(self._constraints[claim]):
            try:
                allowed = constraint.allows(request, device)
                lacks = attribute_of(request, device, constraint.attribute) is None
            except DerivationError:
                # The search stops before it comes to all devices, and has not met this one: no error of the cycle.
                continue
            if not allowed:
                yield Refusal(Why.ATTRIBUTE if lacks else Why.CONSTRAINT, index, constraint.attribute)

    def _capacity_refusals(
        self, checked: eligibility.CheckedRequest, place: int, holders: tuple[str, ...]
    ) -> list[Refusal]:
        try:
            portions = checked.portions_of(self._devices[place].model)
        except CapacityError:
            # The search looks at fewer devices than an explanation and has not met this one: no error of the cycle.
            return []
        if isinstance(portions, Misfit):
            needed = (checked.request.capacity or {}).get(portions.name, "")
            return [Refusal(Why.CAPACITY, -1, portions.name, str(needed))]
        scarce = self._scarce_portion(place, portions)
        if scarce is None:
            return []
        portion, left = scarce
        return [Refusal(Why.CAPACITY, -1, portion.name, _quantity_text(portion.taken), _quantity_text(left), holders)]


def _failing_selector(checked: eligibility.CheckedRequest, device: PooledDevice) -> tuple[Why, int] | None:
    """Return the first selector that is not true of a device, None also where one fails."""
    try:
        return checked.failing_selector(device)
    except eligibility.AllocationError:
        # The search evaluates no selectors on a device that is held, and has not met this one: no error of the cycle.
        return None


def _constraints_of(claim: ResourceClaim, features: DeviceFeatures) -> list[Constraint]:
    constraints = claim.spec.devices.constraints or ()
    for number, constraint in enumerate(constraints):
        if constraint.match_attribute is None and (constraint.distinct_attribute is None or not features.amounts):
            raise eligibility.AllocationError(
                f"claim {key_of(claim)}, constraint #{number}: empty constraint (unsupported constraint type?)"
            )
    return [Constraint(constraint, features) for constraint in constraints]


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


def _invalid_pools(offer: Offer) -> dict[int, Pool]:
    """The invalid pools, by the place of the first device behind them."""
    invalid: dict[int, Pool] = {}
    place = 0
    for pool in offer.pools:
        if pool.invalid:
            invalid.setdefault(place, pool)
        place += len(pool.devices)
    return invalid


def _kinds(offer: Offer, uses: Mapping[int, Use]) -> list[int]:
    """A number for each device, equal for devices that a search could swap without noticing."""
    numbers: dict[Hashable, int] = {}
    kinds = []
    # Whoever draws on counters competes with the devices of its own pool only, so equal devices of two pools differ.
    for place, device in enumerate(offer.devices):
        pool = device.pool.id if device.device.consumes_counters else None
        kind = device.model.number, device.reached, device.operable, uses.get(place), pool
        kinds.append(numbers.setdefault(kind, len(numbers)))
    return kinds


def _order_shows(claim: ResourceClaim, features: DeviceFeatures) -> bool:
    """Return whether it may show in which order equal devices are tried.

    It does in an error about all devices under constraints, and where constraints forget in between what was chosen.
    """
    # Of two equal devices that a request for all needs, the first being taken is no error (it is held), but the second
    # being taken may be: the first is then free, and an error where a constraint forbids it.
    takes_all = any(each.mode == ALL for alternatives in requests_of(claim, derivations=False) for each in alternatives)
    return (takes_all or features.forgets) and bool(claim.spec.devices.constraints)


def _quantity_text(units: int) -> str:
    """An amount in nano-units, for reading."""
    return canonical(Amount(units, -9), "BinarySI")
