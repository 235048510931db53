"""Write the lock files of the action, the hook and the image: every dependency with its version and its hashes.

`make lock` runs it with uv, which resolves for all systems and Python versions at once. The first line of a file has
the digest of what it was made from, so that a test sees where pyproject.toml has gone on.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tomllib
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parent / "pyproject.toml"


class Lock(NamedTuple):
    """A lock file.

    Attributes:
        file: its name.
        python: the oldest Python it is for, ``3.11``.
        requirements: what it was, or will be, made from.
    """

    file: str
    python: str
    requirements: list[str]

    @property
    def head(self) -> str:
        """The first line: by what and from what it was made."""
        made_from = json.dumps([self.python, sorted(self.requirements)]).encode()
        return f"# Written by `make lock` from pyproject.toml, sha256:{hashlib.sha256(made_from).hexdigest()}\n"


def locks() -> list[Lock]:
    """Return the lock files that pyproject.toml asks for."""
    document = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    python = document["project"]["requires-python"].removeprefix(">=")
    return [
        Lock("requirements.txt", python, document["project"]["dependencies"]),
        Lock("build-requirements.txt", python, document["build-system"]["requires"]),
    ]


def main() -> None:
    """Write the lock files; what is locked already stays at its version as long as it may."""
    for lock in locks():
        file = FOLDER / lock.file
        options = ["--universal", "--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
        command = ["uv", "pip", "compile", *options, "--python-version", lock.python, "--output-file", str(file), "-"]
        subprocess.run(command, input="\n".join(lock.requirements), text=True, check=True, stdout=subprocess.DEVNULL)
        file.write_text(lock.head + file.read_text(encoding="utf-8"), encoding="utf-8")


if __name__ == "__main__":
    main()
