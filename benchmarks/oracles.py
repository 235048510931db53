"""The oracle: kube-scheduler's own plugins, where they were built, and what they answer."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from schedctl import KUBERNETES_VERSION

BUILT = Path(
    os.environ.get("SCHEDCTL_ORACLE") or Path.home() / f".cache/schedctl-oracle/{KUBERNETES_VERSION[1:]}/oracle"
)
"""Where conformance/oracle/build puts it."""
MISSING = "the oracle is not built: run conformance/oracle/build (needs Go), or name one with --oracle"


def option(parser: argparse.ArgumentParser) -> None:
    """Give a command the option that names the oracle."""
    parser.add_argument("--oracle", default=None, help="the oracle's binary; found in its cache when it is built")


def found(named: str | None) -> str | None:
    """The oracle's binary, as it was named or where its build script puts it; None when it was not built."""
    if named and not Path(named).exists():
        sys.exit(f"there is no oracle at {named}")
    return named or (str(BUILT) if BUILT.exists() else None)


def require(named: str | None, otherwise: str = "") -> str:
    """The oracle's binary; without one the command ends, naming what else could be done."""
    return found(named) or sys.exit(MISSING + otherwise)


def answer_of(oracle: str, case: Path) -> tuple[dict[str, Any], float]:
    """Its answer to the case in a file, and the processor seconds of its whole process, reading the case included."""
    before = os.times()
    with case.open("rb") as lines:
        out = subprocess.run([oracle], stdin=lines, stdout=subprocess.PIPE, check=True).stdout
    after = os.times()
    answer = json.loads(out)
    if answer.get("error"):
        sys.exit(f"the oracle could not run {answer['id']}: {answer['error']}")
    return answer, sum(after[2:4]) - sum(before[2:4])


def answer_of_case(oracle: str, case: dict[str, Any], folder: str) -> tuple[dict[str, Any], float]:
    """The same of a case in memory, which is written into the folder."""
    path = Path(folder, "case.json")
    path.write_text(json.dumps(case, separators=(",", ":")))
    return answer_of(oracle, path)
