#!/usr/bin/env python3
"""Record what older releases answer to cases of the newest one's corpus, one gzip file a release and family.

A line is {"id": ..., "answer": ...}; the case is in the newest corpus, and so is the answer where this one is null: it
is the same there. A case that the same oracle answers twice in different ways is left to chance, and left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
from pathlib import Path

from families.cases import Manifest
from record import HERE, answers, dumps, kubernetes_version
from schedctl.releases import NEWEST, RELEASES, Release


def recorded(family: Path, count: int) -> list[Manifest]:
    """The first cases of a family of the newest corpus, each with its answer."""
    lines = gzip.decompress(family.read_bytes()).splitlines()
    return [json.loads(line) for line in lines[:count]]


def record(release: Release, family: Path, count: int) -> int:
    """Write one family's file of a release and return its size in bytes."""
    minor = release.version.rpartition(".")[0].removeprefix("v")
    built = subprocess.run([HERE / "oracle/build", minor], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    lines = recorded(family, count)
    cases = [line["case"] for line in lines]
    text = ""
    asked = (answers(built, cases, refused=True) for _ in range(2))
    for line, (_, answer), (_, again) in zip(lines, *asked, strict=True):
        if answer == again:
            text += dumps({"id": line["case"]["id"], "answer": None if answer == line["answer"] else answer}) + "\n"
    into = HERE / "corpus" / release.version
    into.mkdir(parents=True, exist_ok=True)
    path = into / family.name
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    return path.stat().st_size


def main() -> None:
    """Record all older releases, and say how big each came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10, help="cases of each family")
    options = parser.parse_args()
    families = sorted((HERE / "corpus" / kubernetes_version()).glob("*.jsonl.gz"))
    for release in RELEASES:
        if release is not NEWEST:
            total = sum(record(release, family, options.count) for family in families)
            print(f"{release.version:10} {total:9}", flush=True)


if __name__ == "__main__":
    main()
