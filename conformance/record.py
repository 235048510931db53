#!/usr/bin/env python3
"""Record a corpus: every family's cases with the oracle's answers, one gzip file a family.

A line is {"case": {...}, "answer": {...}}, keys sorted, without the time it took. Same cases and
same answers give the same bytes, so a second recording proves the first.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from families import FAMILIES, case
from families.cases import Manifest
from families.groups import GATES, GROUP_FAMILIES

HERE = Path(__file__).resolve().parent


def kubernetes_version() -> str:
    """The version of Kubernetes the oracle is built from, as its go.mod requires it."""
    required = re.search(r"^\tk8s\.io/kubernetes (v\S+)$", (HERE / "oracle/go.mod").read_text(), re.MULTILINE)
    if required is None:
        sys.exit("oracle/go.mod does not require k8s.io/kubernetes")
    return required[1]


def dumps(value: object) -> str:
    """One line of JSON, the same for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def answers(
    oracle: str, cases: Iterable[Manifest], *, refused: bool = False, gates: str = ""
) -> Iterator[tuple[Manifest, Manifest]]:
    """Each case with its answer; the oracle reads and writes in the same order, a line each.

    A case that cannot be run ends it, unless refusals are answers: of a release that knows less than a case asks for.
    `gates` are set in place of those that the oracle sets by itself.
    """
    listed = list(cases)
    lines = "".join(dumps(c) + "\n" for c in listed)
    command = [oracle, "--feature-gates", gates] if gates else [oracle]
    output = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    for one, line in zip(listed, output.splitlines(), strict=True):
        answer = json.loads(line)
        del answer["seconds"]
        if answer.get("error") and not refused:
            sys.exit(f"{one['id']}: {answer['error']}")
        yield one, answer


def record(oracle: str, family: str, seeds: range, into: Path) -> int:
    """Write one family's file and return its size in bytes."""
    gates = GATES if family in GROUP_FAMILIES else ""
    pairs = answers(oracle, (case(family, seed) for seed in seeds), gates=gates)
    text = "".join(dumps({"case": c, "answer": a}) + "\n" for c, a in pairs)
    path = (into / "pod-groups" if gates else into) / f"{family}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    return path.stat().st_size


def main() -> None:
    """Record what was asked for, and say how big it came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="the binary; built from oracle/ unless given")
    parser.add_argument("--into", type=Path, help="a folder; corpus/ and the oracle's version unless given")
    parser.add_argument(
        "--family",
        action="append",
        choices=sorted(FAMILIES | GROUP_FAMILIES),
        help="repeatable; all of them unless given",
    )
    parser.add_argument("--seeds", default="0:120", help="FROM:TO, half open")
    parser.add_argument(
        "--limit", action="append", default=[], metavar="FAMILY=N", help="at most N seeds of a big family"
    )
    options = parser.parse_args()
    built = [HERE / "oracle/build"]
    oracle = options.oracle or subprocess.run(built, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    into = options.into or HERE / "corpus" / kubernetes_version()
    first, last = map(int, options.seeds.split(":"))
    limits = {family: int(count) for family, count in (limit.split("=") for limit in options.limit)}
    total = 0
    for family in options.family or sorted(FAMILIES | GROUP_FAMILIES):
        seeds = range(first, min(last, first + limits.get(family, last - first)))
        size = record(oracle, family, seeds, into)
        total += size
        print(f"{family:20} {size:9}", flush=True)
    print(f"{'total':20} {total:9}")


if __name__ == "__main__":
    main()
