"""Results in files: JSON has everything, and the Markdown beside it is made of the JSON alone."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.processes import ROOT

FOLDER = ROOT / "benchmarks/results"
Document = dict[str, Any]


def options(parser: argparse.ArgumentParser) -> None:
    """Give a command the options that say where its results go."""
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything measured as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables as Markdown")


def write(args: argparse.Namespace, document: Document, markdown: Callable[[Document], str]) -> None:
    """Write what the options ask for."""
    for path, text in ((args.json, f"{json.dumps(document, indent=1)}\n"), (args.markdown, markdown(document))):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def read(name: str) -> Document:
    """A result of the project's own run."""
    document: Document = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return document
