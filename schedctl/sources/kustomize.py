"""Kustomizations to texts, by the program that the user has: ``kustomize build`` or ``kubectl kustomize``.

Kustomize is Go and has no second implementation that agrees with it, so the real one is run, and only when it is asked
for. It gets a list of arguments and no shell, no standard input, and a limited time.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import BinaryIO

import msgspec

from schedctl.documents.findings import printable
from schedctl.errors import Problem
from schedctl.sources.files import MAX_BYTES, Unreadable

SECONDS = 120.0
"""How long a build may take; remote bases are fetched meanwhile."""

_PROGRAMS = (("kustomize", "build"), ("kubectl", "kustomize"))
_INSTALL = "install kustomize or kubectl, or build elsewhere and pipe it in: `kustomize build DIR | schedctl ... -`"


class Kustomization(msgspec.Struct, frozen=True):
    """A kustomization that was named but not built yet; read like a file.

    Attributes:
        name: the folder as the user knows it.
        folder: the folder, or whatever else kustomize builds, such as a repository.
        size: unknown, so 0.
    """

    name: str
    folder: str
    size: int = 0

    def read(self, stdin: BinaryIO | None) -> bytes:
        """Return the objects it builds, as YAML.

        Raises:
            Unreadable: there is no program to build it with, it cannot be built, or takes too long.
        """
        command = next((found for found in map(_command, _PROGRAMS) if found), None)
        if command is None:
            raise self._unbuilt("cannot be built: neither kustomize nor kubectl is installed", _INSTALL)
        shown = f"{Path(command[0]).name} {command[1]}"
        try:
            built = subprocess.run(
                [*command, "--", self.folder],  # a name that begins with "-" is no option
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._unbuilt(f"`{shown}` took more than {SECONDS:g} s") from None
        except (OSError, ValueError) as error:
            raise self._unbuilt(f"`{shown}` cannot be run: {error}") from None
        if built.returncode != 0:
            lines = built.stderr.decode(errors="replace").strip().splitlines()
            reason = (
                printable(lines[-1].removeprefix("Error: ").removeprefix("error: "))
                if lines
                else "it printed no message"
            )
            raise self._unbuilt(f"`{shown}` failed: {reason}")
        if len(built.stdout) > MAX_BYTES:
            raise self._unbuilt(f"is larger than {MAX_BYTES >> 30} GiB")
        return built.stdout

    def _unbuilt(self, message: str, hint: str = "") -> Unreadable:
        return Unreadable(Problem(message, source=self.name, hint=hint))


def kustomization(folder: str) -> Kustomization:
    """Return the kustomization in a folder."""
    return Kustomization(printable(folder), folder)


def _command(program: tuple[str, str]) -> list[str] | None:
    path = shutil.which(program[0])
    return [path, program[1]] if path else None
