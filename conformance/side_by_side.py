#!/usr/bin/env python3
"""Hold answers from memory against answers worked out anew, over long random sequences of changes.

Every world is lived in for a while: pods of a few templates come, are placed and go, nodes and objects change, forks
are opened and reverted, and every pod is asked about with what the scheduler remembers and without. `crowd` stands for
the worlds of `schedctl.testing.sandboxes`; the others are the families of cases, which bring storage, devices,
preemption and configurations. Same world, same steps: a difference is printed with the shortest sequence that shows it
and goes on being one under `--only`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from random import Random

import msgspec

from families import FAMILIES, case
from schedctl.conformance.cases import Case, cluster_of, configuration
from schedctl.scheduler import Scheduler
from schedctl.testing import sandboxes
from schedctl.testing.sandboxes import Sandbox
from schedctl.testing.sequences import AnswersDiffer, ChangeSequence, run_sequence, shorten

CROWD = "crowd"
"""The name of the sandboxes that are of no family."""


def sandbox(family: str, seed: int) -> Sandbox:
    """The sandbox of a family and a seed."""
    if family == CROWD:
        return sandboxes.draw_sandbox(seed)
    drawn_case = msgspec.convert(case(family, seed), Case)
    cluster, pods = cluster_of(drawn_case)
    random = Random(f"siblings {family} {seed}")
    siblings = [sandboxes.sibling(random, pod, random.choice(pods)) for pod in pods if random.random() < 0.5]
    return Sandbox(cluster, pods + siblings, lambda over: Scheduler(over, configuration(drawn_case)))


def sequences(families: list[str], seeds: range, steps: list[int]) -> Iterator[ChangeSequence]:
    """What was asked for, one seed of every family after the other."""

    def maker(family: str, seed: int) -> Callable[[], Sandbox]:
        return lambda: sandbox(family, seed)

    for seed in seeds:
        for family in families:
            yield ChangeSequence(f"{family} {seed}", maker(family, seed), steps)


def main() -> None:
    """Go through what was asked for; the exit code is 1 when there are differences."""
    known = [CROWD, *sorted(FAMILIES)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", choices=known, help="repeatable; all of them unless given")
    parser.add_argument("--seeds", default="0:20", help="FROM:TO, half open")
    parser.add_argument("--steps", type=int, default=100, help="how many steps a sequence has")
    parser.add_argument("--only", help="these steps instead: 3,8,19")
    parser.add_argument("--limit", type=int, default=5, help="after how many sequences with a difference to stop")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after how much processor time to stop")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    steps = [int(step) for step in options.only.split(",")] if options.only else list(range(options.steps))
    compared = gone_through = differing = 0
    for sequence in sequences(options.family or known, range(first, last), steps):
        if differing == options.limit or time.process_time() > options.seconds:
            break
        gone_through += 1
        try:
            compared += run_sequence(sequence)
        except AnswersDiffer as unequal:
            differing += 1
            print(unequal if options.only else shorten(unequal), end="\n\n", flush=True)
    print(f"{gone_through} sequences, {compared} answers compared in those without a difference, {differing} with one")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
