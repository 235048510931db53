"""``python -m schedctl.conformance answer | diff | replay``."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from schedctl.conformance.answers import answer, answer_as_json
from schedctl.conformance.cases import Case
from schedctl.conformance.differences import differences, not_modelled
from schedctl.releases import NEWEST, GateError, Release, parse_gates, parse_release

Json = dict[str, Any]


def main() -> int:
    """Run the command line; the exit code is 1 when there are differences."""
    parser = argparse.ArgumentParser(prog="python -m schedctl.conformance", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    questions = commands.add_parser("answer", help="read cases on standard input, write answers on standard output")
    diff = commands.add_parser("diff", help="classify the differences between two files of answers")
    diff.add_argument("theirs", type=Path, help="the oracle's answers")
    diff.add_argument("ours", type=Path, help="our answers")
    replay = commands.add_parser("replay", help="answer the cases of a recorded corpus and classify the differences")
    replay.add_argument("corpus", type=Path, nargs="+", help="FAMILY.jsonl.gz files")
    for command in (diff, replay):
        command.add_argument("--limit", type=int, default=10, help="how many differences to print in full")
    for command in (questions, replay):
        command.add_argument("--kube-version", default="", help="the minor version that answers, e.g. 1.36; the newest")
        command.add_argument("--feature-gates", default="", help="A=true,B=false, beside the defaults of that version")
    args = parser.parse_args()
    try:
        release = _release(args.kube_version, args.feature_gates) if args.command != "diff" else NEWEST
    except ValueError as error:
        hint = error.hint if isinstance(error, GateError) else ""
        parser.error(f"{error} ({hint})" if hint else str(error))
    if args.command == "answer":
        return _answer(sys.stdin.buffer, sys.stdout.buffer, release)
    if args.command == "diff":
        pairs: Iterable[tuple[Json, Json]] = zip(_lines(args.theirs), _lines(args.ours), strict=True)
    else:
        lines = (line for path in args.corpus for line in _lines(path))
        pairs = ((line["answer"], answer_as_json(line["case"], release)) for line in lines)
    return _print(pairs, args.limit)


def _release(version: str, gates: str) -> Release:
    found = parse_release(version) if version else NEWEST
    return found.with_gates(parse_gates(gates))


def _answer(cases: BinaryIO, answers: BinaryIO, release: Release) -> int:
    decode = msgspec.json.Decoder(Case).decode
    for line in cases:
        if line.strip():
            answers.write(msgspec.json.encode(answer(decode(line), release)) + b"\n")
    return 0


def _lines(path: Path) -> Iterator[Json]:
    data = path.read_bytes()
    for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
        yield msgspec.json.decode(line)


def _print(pairs: Iterable[tuple[Json, Json]], limit: int) -> int:
    counts: Counter[str] = Counter()
    unanswered = 0
    for theirs, ours in pairs:
        unanswered += len(not_modelled(ours))
        for difference in differences(theirs, ours):
            counts[difference.kind] += 1
            if sum(counts.values()) <= limit:
                print(difference)  # noqa: T201
    total = sum(counts.values())
    kinds = ", ".join(f"{number} {kind}" for kind, number in counts.most_common())
    print(f"{total} differences" + (f": {kinds}" if kinds else ""))  # noqa: T201
    if unanswered:
        print(f"{unanswered} cycles not modelled")  # noqa: T201
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
