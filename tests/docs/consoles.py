"""Runs the console blocks of a page, in their order, as a reader who copies them would."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

from schedctl.cli.running import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKED = [path for path in ROOT.iterdir() if not path.name.startswith(".") and path.name not in ("build", "dist")]

BLOCK = re.compile(r"^```(?:console|\w+ file=(\S+))\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
SCHEDCTL = re.compile(r"schedctl (.*?)(?: \| (.*))?", re.DOTALL)
"""What is run in this process, which is faster: schedctl; a shell has what it prints go through the rest, if any."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
FOR_A_SHELL = re.compile(r"[|<>;&()$*?~`]")
COLUMNS = re.compile(r"^<!-- columns: (\d+) -->$", re.MULTILINE)
"""How wide the terminal of a page is; without it lines are as long as in a file."""


class _Stream(io.StringIO):
    """Standard output or standard error: each keeps its text, and both know in which order it came."""

    def __init__(self, order: list[tuple[_Stream, str]]) -> None:
        super().__init__()
        self.buffer = self  # of what is written as bytes
        self._order = order

    def write(self, text: str | bytes) -> int:
        self._order.append((self, text.decode() if isinstance(text, bytes) else text))
        return len(text)


def files(text: str) -> dict[str, str]:
    """The files that a page tells its reader to write, by name."""
    return {found[1]: found[2] for found in BLOCK.finditer(text) if found[1]}


def commands(text: str) -> list[str]:
    """The commands that a page shows."""
    return [shown[1] for found in BLOCK.finditer(text) if not found[1] for shown in COMMAND.finditer(found[2])]


def folder_for(text: str, empty: Path) -> Path:
    """Return the root of the checkout or, for a page that writes files, an empty folder made to look like it."""
    if not files(text):
        return ROOT
    for path in LINKED:
        (empty / path.name).symlink_to(path)
    return empty


class Reader:
    """Somebody who reads a page in a folder, writes its files and types its commands."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._code = 0

    def replay(self, text: str) -> str:
        """Return the page with what its commands print here and now."""
        before = set(ROOT.glob("[!.]*"))
        width = {"COLUMNS": found[1]} if (found := COLUMNS.search(text)) else {}
        with patch.dict(os.environ, width):
            replayed = BLOCK.sub(self._block, text)
        left = sorted(path.name for path in set(ROOT.glob("[!.]*")) - before)
        assert not left, f"commands write {left} into the checkout: a page with a file= block has a folder of its own"
        return replayed

    def _block(self, block: re.Match[str]) -> str:
        if block[1]:
            (self._folder / block[1]).write_text(block[2], encoding="utf-8")
            return block[0]
        assert block[2].startswith("$ "), f"a console block starts with a command: {block[0]}"
        shown = COMMAND.sub(lambda shown: f"$ {shown[1]}\n{self._printed(shown[1])}", block[2])
        return f"```console\n{shown}```"

    def _printed(self, command: str) -> str:
        """Return what a command prints on both streams."""
        if command == "echo $?":
            return f"{self._code}\n"
        ours = SCHEDCTL.fullmatch(command.replace("\\\n", " "))
        if ours and not FOR_A_SHELL.search(QUOTED.sub("", ours[1])):
            printed = self._in_this_process(shlex.split(ours[1]), ours[2])
        else:
            printed = self._in_a_shell(command)
        return printed if not printed or printed.endswith("\n") else f"{printed}\n"

    def _in_this_process(self, arguments: list[str], rest: str | None) -> str:
        order: list[tuple[_Stream, str]] = []
        out, err = _Stream(order), _Stream(order)
        with contextlib.chdir(self._folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self._code = run(arguments)
        assert self._code != 70, order
        if rest is None:
            return "".join(text for _, text in order)
        shown = self._in_a_shell(rest, "".join(text for stream, text in order if stream is out))
        told = "".join(text for stream, text in order if stream is err)
        return shown + told if rest.startswith("head ") else told + shown  # all but head print at the end

    def _in_a_shell(self, command: str, read: str = "") -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env={**os.environ, "PATH": path},
            input=read,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._code = ended.returncode
        assert self._code not in (70, 126, 127), f"{command}: {ended.stdout}"
        return ended.stdout
