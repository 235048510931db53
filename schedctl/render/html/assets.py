"""The style and the script of pages, and the policy that allows these two and nothing else."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources


@cache
def style() -> str:
    """Return the style sheet."""
    return _read("page.css")


@cache
def script() -> str:
    """Return the script."""
    return _read("page.js")


def policy() -> str:
    """Return the Content-Security-Policy of a page: its own style and script by their hashes, and no request at all."""
    return (
        f"default-src 'none'; style-src {_source(style())}; script-src {_source(script())}; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(code: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
