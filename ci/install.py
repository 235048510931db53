"""Install schedctl of this checkout into a virtual environment, with the locked dependencies and nothing else.

    python3 -I ci/install.py FOLDER

The action, the pre-commit hook, the GitLab job and the image all come here. What is downloaded is held to the hashes of
the lock files, so that neither an index nor a cache can put anything else in its place.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = "Scripts" if os.name == "nt" else "bin"


def main(target: str) -> None:
    """Make the environment; the program is ``bin/schedctl`` in it."""
    with tempfile.TemporaryDirectory() as scratch:
        builder = _environment(Path(scratch) / "builder", "build-requirements.txt")
        # Built with what is locked, not with what pip would fetch for an isolated build.
        _pip(builder, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", scratch, str(ROOT))
        (wheel,) = Path(scratch).glob("schedctl-*.whl")
        _pip(_environment(Path(target), "requirements.txt"), "install", "--no-deps", "--no-index", str(wheel))


def _environment(folder: Path, lock: str) -> Path:
    """Return the Python of a new virtual environment that has what a lock file lists."""
    # Isolated (-I), Python takes no module from the current folder, which may be a pull request's.
    subprocess.run([sys.executable, "-I", "-m", "venv", "--clear", str(folder)], check=True)
    python = folder / BIN / "python"
    # An sdist would run code of its own while it is built, and a wheel made from one is not what the hash is of.
    _pip(python, "install", "--require-hashes", "--only-binary", ":all:", "--requirement", str(ROOT / "ci" / lock))
    return python


def _pip(python: Path, command: str, *arguments: str) -> None:
    options = ("--quiet", "--disable-pip-version-check")
    subprocess.run([str(python), "-I", "-m", "pip", command, *options, *arguments], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
