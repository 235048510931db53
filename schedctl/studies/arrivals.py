"""Pods that arrive one after another: when they come, how long they stay, and how many of them there are.

An arrival process makes `Arrival` values of traced pods and a seed; the same seed makes the same arrivals everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from schedctl.cache.pod_info import PodInfo
from schedctl.studies.traces import TracedPod


class Arrival(msgspec.Struct, frozen=True):
    """A pod that comes.

    Attributes:
        at: when, in seconds.
        pod: the pod; its key is its own.
        lifetime: how many seconds it stays once it is bound, None for good.
    """

    at: float
    pod: PodInfo
    lifetime: float | None = None


def as_traced(pods: Iterable[TracedPod], *, lifetimes: bool = True) -> list[Arrival]:
    """Return the arrivals of a trace, in the order of their times.

    Args:
        pods: those of the trace.
        lifetimes: whether they go again.
    """
    return [
        Arrival(each.arrives, each.copy(each.name), each.lifetime if lifetimes else None)
        for each in sorted(pods, key=lambda each: each.arrives)
    ]


def at_once(pods: Sequence[TracedPod], seed: int | None = None, *, lifetimes: bool = False) -> list[Arrival]:
    """Return arrivals at the beginning, in the order given, or shuffled by a seed."""
    ordered = list(pods)
    if seed is not None:
        random.Random(seed).shuffle(ordered)
    return [Arrival(0.0, each.copy(each.name), each.lifetime if lifetimes else None) for each in ordered]


def poisson(
    pods: Sequence[TracedPod], seed: int, *, rate: float, count: int, lifetimes: bool = True
) -> Iterator[Arrival]:
    """Yield arrivals of pods drawn from a trace with replacement, at the times of a Poisson process.

    Args:
        pods: those of the trace.
        seed: of times and pods.
        rate: how many come in a second, on average.
        count: how many come.
        lifetimes: whether they go again.
    """
    draws, now = random.Random(seed), 0.0
    for number in range(count):
        now += draws.expovariate(rate)
        each = draws.choice(pods)
        yield Arrival(now, each.copy(f"{each.name}-{number}"), each.lifetime if lifetimes else None)


def inflated(
    pods: Sequence[TracedPod], seed: int, *, share: float, capacity: int, amount: Callable[[PodInfo], int]
) -> Iterator[Arrival]:
    """Yield a trace's pods, shuffled, and then copies of some drawn with replacement, until enough has arrived.

    A second is between any two of them, and none goes. The last is the last before the share would be passed.

    Args:
        pods: those of the trace.
        seed: of the order and the draws.
        share: how much of the capacity arrives in the end, 1 for all of it.
        capacity: what the nodes offer.
        amount: how much of that a pod asks for.
    """
    draws = random.Random(seed)
    ordered = sorted(pods, key=lambda each: each.name)
    draws.shuffle(ordered)
    most, arrived, number = share * capacity, 0, 0
    for each in ordered:
        arrived += amount(each.model)
        yield Arrival(float(number), each.copy(each.name))
        number += 1
    if not any(amount(each.model) for each in ordered):
        return  # nothing would ever be enough
    while (arrived := arrived + amount((each := draws.choice(ordered)).model)) <= most:
        yield Arrival(float(number), each.copy(f"{each.name}-{number}"))
        number += 1
