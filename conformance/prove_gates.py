#!/usr/bin/env python3
"""Ask the oracle of every release about fresh cases with one feature gate set otherwise than by default, and ourselves.

What comes out is ``gates`` of `proof.json`, which ``schedctl version --gates`` reads: for each release and gate how it
was set, the families, and the number of cases, of those whose answer the gate changes, and of differences. Gates that
no case can show, since they govern the queue or the API server, are not in it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from families import case
from families.cases import Manifest
from families.gates import FAMILIES_OF_GATES
from prove import AGAIN, PROOF
from record import HERE, answers
from schedctl.releases import RELEASES, Release, gates_of

SYNCHRONOUS = {"SchedulerAsyncPreemption": False, "SchedulerAsyncAPICalls": False}
"""What the oracle sets by itself, unless it is told the gates."""


def switches_of(release: Release, gate: str) -> dict[str, bool]:
    """How a gate is set otherwise than by default, with those that it needs or that need it."""
    gates = gates_of(release.version)
    on = not gates[gate].default
    switches = {gate: on}
    for other in gates.values():
        if on and other.name in gates[gate].requires and not other.default:
            switches[other.name] = True
        elif not on and gate in other.requires and other.default:
            switches[other.name] = False
    return switches


def option(switches: dict[str, bool]) -> str:
    """The gates as ``--feature-gates`` takes them."""
    return ",".join(f"{name}={str(value).lower()}" for name, value in switches.items())


def ask(oracle: str, cases: list[Manifest], switches: dict[str, bool]) -> list[Manifest]:
    """The oracle's answers with some gates set."""
    return [answer for _, answer in answers(oracle, cases, refused=True, gates=option(SYNCHRONOUS | switches))]


def proved(oracle: str, release: Release, gate: str, seeds: range) -> dict[str, Any]:
    """What comparing the cases of one gate in one release gives."""
    from schedctl.conformance.answers import answer_as_json
    from schedctl.conformance.differences import differences

    switches = switches_of(release, gate)
    families = FAMILIES_OF_GATES[gate]
    cases = [case(family, seed) for family in families for seed in seeds]
    numbers = {"set": option(switches), "families": list(families), "cases": len(cases), "changed": 0, "differences": 0}
    set_so = release.with_gates(switches)
    for question, theirs, usual in zip(cases, ask(oracle, cases, switches), ask(oracle, cases, {}), strict=True):
        ours = answer_as_json(question, set_so)
        numbers["changed"] += theirs != usual
        found = list(differences(theirs, ours))
        if found and all(list(differences(other, ours)) for other in ask(oracle, [question] * AGAIN, switches)):
            numbers["differences"] += len(found)
            for difference in found:
                print(release.version, gate, difference, flush=True)
    return numbers


def settable(release: Release) -> list[str]:
    """The gates of a release that cases can show and that can be set, by name."""
    gates = gates_of(release.version)
    return sorted(
        name for name in FAMILIES_OF_GATES if name in gates and gates[name].modelled and not gates[name].locked
    )


def main() -> None:
    """Compare what was asked for; the exit code is 1 when there are differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gate", action="append", choices=sorted(FAMILIES_OF_GATES), help="repeatable; only these")
    parser.add_argument("--kube-version", action="append", help="repeatable; only these minor versions, e.g. 1.36")
    parser.add_argument("--seeds", default="15000:15020", help="FROM:TO, half open; of each family")
    parser.add_argument("--jobs", type=int, default=2, help="gates compared at once")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    document = json.loads(PROOF.read_text())
    found: dict[str, dict[str, Any]] = document.get("gates", {})
    with ProcessPoolExecutor(options.jobs) as pool:
        tasks = []
        for release in RELEASES:
            minor = "{}.{}".format(*release.minor)
            if options.kube_version and minor not in options.kube_version:
                continue
            built = [HERE / "oracle/build", minor]
            oracle = subprocess.run(built, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
            tasks += [
                (release, gate, pool.submit(proved, oracle, release, gate, range(first, last)))
                for gate in settable(release)
                if not options.gate or gate in options.gate
            ]
        for release, gate, task in tasks:
            found.setdefault(release.version, {})[gate] = task.result() | {"seeds": options.seeds}
            print(f"{release.version} {gate:48} {task.result()}", flush=True)
            # each at once: all of them take long
            document["gates"] = {version: dict(sorted(gates.items())) for version, gates in sorted(found.items())}
            PROOF.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(numbers["differences"] for gates in found.values() for numbers in gates.values()))


if __name__ == "__main__":
    main()
