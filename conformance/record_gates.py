#!/usr/bin/env python3
"""Write down the feature gates of every release, as the oracle of each registers them, into schedctl/releases/."""

from __future__ import annotations

import subprocess

from record import HERE
from schedctl.releases import NEWEST, RELEASES


def main() -> None:
    """Build each release's oracle, and write its gates."""
    for release in RELEASES:
        minor = release.version.rpartition(".")[0]
        build = [HERE / "oracle/build", *([] if release is NEWEST else [minor.removeprefix("v")])]
        oracle = subprocess.run(build, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        gates = subprocess.run([oracle, "--list-gates"], stdout=subprocess.PIPE, text=True, check=True).stdout
        (HERE.parent / f"schedctl/releases/{minor}.json").write_text(gates)
        print(f"{release.version}: {gates.count('name')} gates")


if __name__ == "__main__":
    main()
