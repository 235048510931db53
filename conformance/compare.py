#!/usr/bin/env python3
"""Ask the oracle of one release and ourselves about fresh cases, and print where we differ.

A case that we answer differently is asked again, as `prove.py` does: kube-scheduler leaves some things to chance. Where
one of the oracle's answers is ours, the case is named as one left to chance. The exit code is 1 when there are
differences. Nothing is written.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from families import FAMILIES, OF_PODS, case
from prove import AGAIN
from record import HERE, answers
from record_switched import ALWAYS
from schedctl.releases import Release, parse_gates, parse_release


def compared(oracle: str, release: Release, family: str, seeds: range, gates: str) -> dict[str, Any]:
    """What comparing the cases of one family in one release gives: its numbers, and the cases left to chance."""
    from schedctl.conformance.answers import answer_as_json
    from schedctl.conformance.differences import differences, not_modelled

    switches = f"{ALWAYS},{gates}" if gates else ""
    numbers: dict[str, Any] = {"cases": 0, "cycles": 0, "differences": 0, "notModelled": 0, "chance": []}
    for question, theirs in answers(oracle, (case(family, seed) for seed in seeds), refused=True, gates=switches):
        ours = answer_as_json(question, release)
        found = list(differences(theirs, ours))
        others = answers(oracle, [question] * AGAIN if found else [], refused=True, gates=switches)
        if any(not list(differences(other, ours)) for _, other in others):
            numbers["chance"].append(question["id"])
        else:
            numbers["differences"] += len(found)
            for difference in found:
                print(release.version, difference, flush=True)
        numbers["cases"] += 1
        numbers["cycles"] += len(theirs.get("cycles") or ())
        numbers["notModelled"] += len(not_modelled(ours))
    return numbers


def main() -> None:
    """Compare what was asked for; the exit code is 1 when there are differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-version", default="1.37", help="the minor version that answers, e.g. 1.36")
    parser.add_argument("--feature-gates", default="", help="A=true,B=false, beside the defaults of that version")
    parser.add_argument(
        "--family",
        action="append",
        choices=sorted(OF_PODS),
        help="repeatable; the families of the corpus unless given",
    )
    parser.add_argument("--seeds", default="20000:20020", help="FROM:TO, half open; of each family")
    parser.add_argument("--oracle", help="the binary; built from oracle/ unless given")
    parser.add_argument("--jobs", type=int, default=2, help="families compared at once")
    options = parser.parse_args()
    try:
        release = parse_release(options.kube_version).with_gates(parse_gates(options.feature_gates))
    except ValueError as error:
        parser.error(str(error))
    built = [HERE / "oracle/build", "{}.{}".format(*release.minor)]
    oracle = options.oracle or subprocess.run(built, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    first, last = map(int, options.seeds.split(":"))
    totals: Counter[str] = Counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        families = options.family or sorted(FAMILIES)
        tasks = [
            pool.submit(compared, oracle, release, family, range(first, last), options.feature_gates)
            for family in families
        ]
        for family, task in zip(families, tasks, strict=True):
            numbers = task.result()
            totals.update({key: len(value) if key == "chance" else value for key, value in numbers.items()})
            print(f"{family:20} {numbers}", flush=True)
    print(f"{release.version} {options.seeds}: {dict(totals)}")
    sys.exit(bool(totals["differences"] or totals["notModelled"]))


if __name__ == "__main__":
    main()
