#!/usr/bin/env python3
"""Record what releases answer with feature gates switched, one gzip file a family, into corpus/gates/.

A line is {"case": ..., "answers": [{"version": ..., "gates": ..., "answer": ...}]}. What the same oracle answers twice
in different ways is left to chance, and left out; so is a case on which kube-scheduler crashes.
"""

from __future__ import annotations

import argparse
import gzip
import subprocess
from pathlib import Path
from typing import Any

from families import case
from record import HERE, answers, dumps
from schedctl.releases import NEWEST, RELEASES, Release

INTO = HERE / "corpus/gates"
ALWAYS = "SchedulerAsyncPreemption=false,SchedulerAsyncAPICalls=false"
"""Gates that the oracle runs with in any case: victims are gone when PostFilter returns."""

_UNSWITCHED = [(minor, "") for minor in ("1.34", "1.35", "1.36", "1.37")]
_ALL_OF_DEVICES = "DRAConsumableCapacity=true,DRADeviceTaints=true,DRAPartitionableDevices=true"
SWITCHES: dict[str, list[tuple[str, str]]] = {
    "image_volumes": _UNSWITCHED,
    "deferred_resizes": [("1.37", ""), ("1.37", "InPlacePodVerticalScalingSchedulerPreemption=true")],
    "devices_charging": [("1.37", ""), ("1.37", "DRANodeAllocatableResources=true")],
    "devices_choices": [*_UNSWITCHED, ("1.35", "DRAPrioritizedList=false")],
    "devices_extended": [
        ("1.34", ""),
        ("1.34", "DRAExtendedResource=true"),
        ("1.35", "DRAExtendedResource=true"),
        ("1.36", "DRAExtendedResource=false"),
    ],
    "devices_refused": [
        *_UNSWITCHED,
        ("1.34", "DRAPartitionableDevices=true"),
        ("1.34", _ALL_OF_DEVICES),
        ("1.35", "DRAPartitionableDevices=true"),
        ("1.35", _ALL_OF_DEVICES),
        ("1.36", "DRADeviceTaintRules=true"),
    ],
    "devices_lists": [
        *_UNSWITCHED,
        ("1.36", "DRAListTypeAttributes=true"),
        ("1.37", "DRAListTypeAttributes=true"),
        ("1.37", "DRADerivedAttributes=true"),
    ],
    "devices_derived": [
        *_UNSWITCHED,
        ("1.37", "DRADerivedAttributes=true"),
        ("1.37", "DRADerivedAttributes=true,DRAListTypeAttributes=true"),
    ],
    "devices_grouped": [*_UNSWITCHED, ("1.37", "DRADeviceCompatibilityGroups=true")],
    "devices_fractional": [*_UNSWITCHED, ("1.37", "DRAFractionalCapacityRange=true")],
    "devices_namesakes": [*_UNSWITCHED, ("1.35", "DRAPartitionableDevices=true")],
    "devices_ruled": [
        *_UNSWITCHED,
        ("1.34", "DRADeviceTaints=true"),
        ("1.35", "DRADeviceTaints=true,DRADeviceTaintRules=true"),
        ("1.36", "DRADeviceTaintRules=true"),
    ],
    "devices_unprepared": [
        *_UNSWITCHED,
        ("1.37", "DRAOptionalNodeOperations=true"),
        ("1.37", "DRAListTypeAttributes=true"),
    ],
}
"""By family, the versions and the gates that are switched."""


def oracle_of(release: Release, built: Path | None) -> str:
    """Return where the oracle of a release is, built now unless a folder of built ones is given."""
    if built is not None:
        return str(built / release.version.removeprefix("v") / "oracle")
    build = [str(HERE / "oracle/build")]
    if release is not NEWEST:
        build.append(release.version.rpartition(".")[0].removeprefix("v"))
    return subprocess.run(build, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def record(family: str, seeds: range, built: Path | None) -> int:
    """Write one family's file and return its size in bytes."""
    cases = [case(family, seed) for seed in seeds]
    found: list[list[dict[str, Any]]] = [[] for _ in cases]
    for minor, gates in SWITCHES[family]:
        release = next(each for each in RELEASES if each.version.startswith(f"v{minor}."))
        oracle, switches = oracle_of(release, built), ",".join(filter(None, (ALWAYS, gates)))
        asked = (answers(oracle, cases, refused=True, gates=switches) for _ in range(2))
        for into, (_, answer), (_, again) in zip(found, *asked, strict=True):
            if answer == again and not answer.get("error"):
                into.append({"version": minor, "gates": gates, "answer": answer})
    lines = (dumps({"case": one, "answers": each}) + "\n" for one, each in zip(cases, found, strict=True))
    path = INTO / f"{family}.jsonl.gz"
    path.write_bytes(gzip.compress("".join(lines).encode(), compresslevel=9, mtime=0))
    return path.stat().st_size


def main() -> None:
    """Record what was asked for, and say how big it came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", action="append", choices=sorted(SWITCHES), help="repeatable; all unless given")
    parser.add_argument("--seeds", default="0:16", help="FROM:TO, half open")
    parser.add_argument("--oracles", type=Path, help="built ones, VERSION/oracle; built from oracle/ unless given")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    INTO.mkdir(parents=True, exist_ok=True)
    for family in options.family or sorted(SWITCHES):
        print(f"{family:20} {record(family, range(first, last), options.oracles):9}", flush=True)


if __name__ == "__main__":
    main()
