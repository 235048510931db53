#!/usr/bin/env -S python3 -I
"""The pre-commit hook: `schedctl check`, installed with locked dependencies beside itself when it first runs.

pre-commit keeps a clone for each revision, so what is installed there never goes stale.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = ROOT / ".hook"
COMPLETE = INSTALLED / "complete"


def main() -> int:
    """Install schedctl if need be, run `schedctl check` with the arguments, and return its exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - python3 is whatever the machine has
        print("schedctl needs Python 3.11 or newer as python3", file=sys.stderr)
        return 2
    if not COMPLETE.exists():
        subprocess.run([sys.executable, "-I", str(ROOT / "ci/install.py"), str(INSTALLED)], check=True)
        COMPLETE.touch()
    programs = INSTALLED / ("Scripts" if sys.platform == "win32" else "bin")
    return subprocess.run([str(programs / "schedctl"), "check", *sys.argv[1:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
