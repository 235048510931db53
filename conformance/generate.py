#!/usr/bin/env python3
"""Write random scheduling cases, one JSON object a line.

A case is what the oracle and `python -m schedctl.conformance answer` both read; the README has its fields.
Same family and seed, same case: `generate.py --family spread --seeds 0:200`.
"""

from __future__ import annotations

import argparse
import json

from families import FAMILIES, GROUP_FAMILIES, OF_PODS, case


def main() -> None:
    """Write the cases that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--family",
        action="append",
        choices=sorted(OF_PODS | GROUP_FAMILIES),
        help="repeatable; all of them unless given, but for those of pod groups",
    )
    parser.add_argument("--seeds", default="0:20", help="FROM:TO, half open")
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(":"))
    for family in options.family or sorted(FAMILIES):
        for seed in range(first, last):
            print(json.dumps(case(family, seed), separators=(",", ":"), sort_keys=True))


if __name__ == "__main__":
    main()
