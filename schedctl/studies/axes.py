"""The scenarios of a study: every combination of what its axes have, of which none is made before it is run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, overload

import msgspec

from schedctl.api import topology
from schedctl.cache.cluster import Cluster
from schedctl.errors import UsageError
from schedctl.studies import forms
from schedctl.studies.node_losses import Loss, losses_of

STATE, VERSION, GATES, CONFIGURATION = "state", "version", "featureGates", "configuration"
WEIGHTS, LOSE, SEED, SCALE = "weights", "lose", "seed", "scale"
NOTHING = "nothing"
"""What is lost where nothing is."""
MANY = 10_000_000
"""More scenarios than that are a slip of the finger."""


class AxisValue(msgspec.Struct, frozen=True):
    """One of the values of an axis.

    Attributes:
        label: how results and people call it.
        value: what is done with it.
    """

    label: str | int
    value: Any


@dataclass(frozen=True, slots=True)
class _Seeds(Sequence[AxisValue]):
    """Seeds as values of an axis, of which there may be millions."""

    seeds: range

    def __len__(self) -> int:
        return len(self.seeds)

    @overload
    def __getitem__(self, place: int) -> AxisValue: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[AxisValue]: ...
    def __getitem__(self, place: int | slice) -> AxisValue | Sequence[AxisValue]:
        if isinstance(place, slice):
            return _Seeds(self.seeds[place])
        return AxisValue(self.seeds[place], self.seeds[place])


class Axis(msgspec.Struct, frozen=True):
    """Something that differs from scenario to scenario."""

    name: str
    values: Sequence[AxisValue]


class Scenario(msgspec.Struct, frozen=True):
    """One combination.

    Attributes:
        number: from 0.
        values: by axis.
    """

    number: int
    values: dict[str, AxisValue]

    @property
    def labels(self) -> dict[str, str | int]:
        """How it is called, by axis."""
        return {name: each.label for name, each in self.values.items()}

    def value(self, axis: str, otherwise: Any = None) -> Any:
        """Return what an axis has here."""
        found = self.values.get(axis)
        return otherwise if found is None else found.value

    @property
    def what_ifs(self) -> tuple[tuple[str, str], ...]:
        """What is changed in the cluster, in words of the command line and their texts."""
        changes = [each.value for name, each in self.values.items() if name.startswith(f"{SCALE}/")]
        return (*changes, *self.value(LOSE, ()))


class Grid(msgspec.Struct, frozen=True):
    """All scenarios of a study, the last axis fastest."""

    axes: Sequence[Axis]

    def __len__(self) -> int:
        return prod(len(axis.values) for axis in self.axes)

    def __getitem__(self, number: int) -> Scenario:
        left, chosen = number, list[tuple[str, AxisValue]]()
        for axis in reversed(self.axes):
            left, place = divmod(left, len(axis.values))
            chosen.append((axis.name, axis.values[place]))
        return Scenario(number, dict(reversed(chosen)))


def grid_of(axes: forms.AxesForm, cluster: Cluster | None) -> Grid:
    """Return the scenarios of a study.

    Args:
        axes: as they are written.
        cluster: whose nodes are lost; None where there is none.

    Raises:
        UsageError: no node has the label by which they are to be lost; or there are too many scenarios.
    """
    found = [
        Axis(STATE, [*_files(axes.states)]),
        Axis(VERSION, [AxisValue(each, each) for each in axes.versions]),
        Axis(GATES, [AxisValue(each or "default", each) for each in axes.feature_gates]),
        Axis(CONFIGURATION, [*_files(axes.configurations)]),
    ]
    if axes.weights is not None:
        _check_size(prod(map(len, axes.weights.grid.values())))  # before they are made
        found.append(Axis(WEIGHTS, [*_weights(axes.weights)]))
    for name, numbers in axes.scale.items():
        found.append(Axis(f"{SCALE}/{name}", [AxisValue(each, (SCALE, f"{name}={each}")) for each in numbers]))
    if axes.lose is not None and cluster is not None:
        found.append(Axis(LOSE, [*_losses(axes.lose, cluster)]))
    if axes.seeds is not None:
        _check_size(axes.seeds.count)
        found.append(Axis(SEED, _Seeds(range(axes.seeds.first, axes.seeds.first + axes.seeds.count))))
    kept = [axis for axis in found if axis.values]
    _check_size(prod(len(axis.values) for axis in kept))  # `len` of a grid cannot be as large as this
    return Grid(kept)


def _check_size(scenarios: int) -> None:
    if scenarios > MANY:
        raise UsageError(f"{scenarios:,} scenarios are more than {MANY:,}", "draw some, or split the study")


def _files(paths: Sequence[str]) -> Iterator[AxisValue]:
    """Yield files by their names without folder and extension, where these tell them apart."""
    names = [Path(path).name.partition(".")[0] for path in paths]
    distinct = len(set(names)) == len(names)
    for path, name in zip(paths, names, strict=True):
        yield AxisValue(name if distinct else path, path)


def _weights(form: forms.WeightsForm) -> Iterator[AxisValue]:
    if form.grid:
        for weights in product(*form.grid.values()):
            yield _weighted(dict(zip(form.grid, weights, strict=True)))
        return
    draws = random.Random(form.seed)
    for _ in range(form.count):
        yield _weighted({name: draws.randint(*ends) for name, ends in form.draw.items()})


def _weighted(weights: dict[str, int]) -> AxisValue:
    return AxisValue(" ".join(f"{name}={weight}" for name, weight in weights.items()), weights)


def _losses(form: forms.LoseForm, cluster: Cluster) -> Iterator[AxisValue]:
    if form.nothing:
        yield AxisValue(NOTHING, ())
    losses = losses_to_choose_from(form, cluster)
    if form.together == 1:
        for each in losses:
            yield AxisValue(_named(each), (_word(each),))
        return
    draws = random.Random(form.seed)
    for _ in range(form.count):
        together = sorted(draws.sample(losses, form.together), key=lambda each: each.name)
        yield AxisValue(" + ".join(map(_named, together)), tuple(map(_word, together)))


def losses_to_choose_from(form: forms.LoseForm, cluster: Cluster) -> list[Loss]:
    """Return the nodes, zones or groups that are lost alone or several at once, by name.

    Raises:
        UsageError: no node has the label, or fewer are there than are to be lost at once.
    """
    losses = sorted(losses_of(cluster, [form.each]), key=lambda each: each.name)
    if form.together > len(losses):
        raise UsageError(f"{form.together} of {len(losses)} cannot be lost at once: {form.each}")
    return losses


def _named(loss: Loss) -> str:
    return f"{loss.by.rpartition('/')[2]} {loss.name}"


def _word(loss: Loss) -> tuple[str, str]:
    """Return the what-if that loses nodes, as on a command line."""
    if loss.by == "node":
        return "remove-node", loss.name
    return "lose", f"{'zone' if loss.by == topology.ZONE else loss.by}={loss.name}"
