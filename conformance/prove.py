#!/usr/bin/env python3
"""Ask the oracle and ourselves about fresh cases of every family, and write down how often we differ.

What comes out is `proof.json`, which `schedctl plugins list` reads: for each family the number of
cases, cycles and differences, and for each plugin the number of cycles of each family in which kube-scheduler's plugin
had a say: refused something, or gave a score other than 0. A case that we answer differently is asked again, since
kube-scheduler leaves some things to chance (the README lists them). Where one of the oracle's answers is ours, the case
is named as one left to chance; else it counts as a difference.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from families import FAMILIES, case
from families.cases import Manifest
from record import HERE, answers, kubernetes_version

PROOF = HERE / "proof.json"


AGAIN = 40
"""How often the oracle is asked again about a case that we answer differently."""


def proved(oracle: str, family: str, seeds: range) -> tuple[dict[str, Any], Counter[str]]:
    """What comparing one family's cases gives: its numbers, and the cycles in which each plugin had a say."""
    from schedctl.conformance.answers import answer_as_json
    from schedctl.conformance.differences import differences, not_modelled

    numbers: dict[str, Any] = {"cases": 0, "cycles": 0, "differences": 0, "notModelled": 0, "chance": []}
    plugins: Counter[str] = Counter()
    for question, theirs in answers(oracle, (case(family, seed) for seed in seeds)):
        ours = answer_as_json(question)
        found = list(differences(theirs, ours))
        if found and any(not list(differences(other, ours)) for _, other in answers(oracle, [question] * AGAIN)):
            numbers["chance"].append(question["id"])
        else:
            numbers["differences"] += len(found)
            for difference in found:
                print(difference, flush=True)
        numbers["cases"] += 1
        numbers["cycles"] += len(theirs["cycles"])
        numbers["notModelled"] += len(not_modelled(ours))
        for cycle in theirs["cycles"]:
            plugins.update(set(_speakers(cycle)))
    return numbers, plugins


def _speakers(cycle: Manifest) -> Iterator[str]:
    """Yield the plugins that had a say in a cycle."""
    yield from cycle.get("matrix") or {}
    yield from cycle.get("unschedulablePlugins") or ()
    post_filter: dict[str, Any] = cycle.get("postFilter") or {}
    if post_filter.get("nominatedNode"):
        yield "DefaultPreemption"
    for status in (cycle.get("preEnqueue"), cycle.get("preFilter"), post_filter.get("status")):
        if status and status.get("plugin"):
            yield status["plugin"]
    for scores in (cycle.get("scores") or {}).values():
        yield from (plugin for plugin, score in scores.items() if score["raw"] or score["weighted"])


def main() -> None:
    """Compare what was asked for; the exit code is 1 when there are differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="the binary; built from oracle/ unless given")
    parser.add_argument(
        "--family", action="append", choices=sorted(FAMILIES), help="repeatable; only these are written anew"
    )
    parser.add_argument("--seeds", default="9000:9500", help="FROM:TO, half open")
    parser.add_argument("--into", type=Path, default=PROOF, help="the file to write")
    parser.add_argument("--jobs", type=int, default=2, help="families compared at once")
    options = parser.parse_args()
    built = [HERE / "oracle/build"]
    oracle = options.oracle or subprocess.run(built, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    first, last = map(int, options.seeds.split(":"))
    proof: dict[str, Any] = {"kubernetesVersion": kubernetes_version(), "seeds": options.seeds}
    before = json.loads(options.into.read_text()) if options.into.exists() else {}
    known = before if options.family else {}
    if options.family and {key: known[key] for key in proof} != proof:
        sys.exit(f"{options.into} is of {known['kubernetesVersion']} and seeds {known['seeds']}: write it as a whole")
    found: dict[str, dict[str, Any]] = known.get("families", {})
    plugins: dict[str, dict[str, int]] = known.get("plugins", {})
    families = options.family or sorted(FAMILIES)
    with ProcessPoolExecutor(options.jobs) as pool:
        tasks = [pool.submit(proved, oracle, family, range(first, last)) for family in families]
        for family, task in zip(families, tasks, strict=True):
            found[family], speakers = task.result()
            print(f"{family:20} {found[family]}", flush=True)
            for cycles in plugins.values():
                cycles.pop(family, None)
            for plugin, number in speakers.items():
                plugins.setdefault(plugin, {})[family] = number
    proof |= {
        "families": dict(sorted(found.items())),
        "plugins": {name: dict(sorted(cycles.items())) for name, cycles in sorted(plugins.items()) if cycles},
    }
    if "gates" in before:  # written by prove_gates.py
        proof["gates"] = before["gates"]
    options.into.write_text(json.dumps(proof, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(numbers["differences"] or numbers["notModelled"] for numbers in found.values()))


if __name__ == "__main__":
    main()
