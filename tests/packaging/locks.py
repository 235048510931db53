"""The lock files of ci/, read without their generator's help."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
_spec = spec_from_file_location("lock", ROOT / "ci/lock.py")
assert _spec is not None
assert _spec.loader is not None
lock = module_from_spec(_spec)
sys.modules["lock"] = lock
_spec.loader.exec_module(lock)
LOCKS = lock.locks()


def pins(file: str) -> dict[str, list[str]]:
    """The locked requirements by name, each with its markers; their hashes are looked at on the way."""
    found: dict[str, list[str]] = {}
    text = (ROOT / "ci" / file).read_text().partition("\n")[2].replace("\\\n", " ")
    for line in text.splitlines():
        requirement, *hashes = line.split("--hash=")
        assert hashes, f"{requirement} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each.strip()) for each in hashes)
        name = Requirement(requirement.strip()).name.lower().replace("_", "-")
        found.setdefault(name, []).append(requirement.strip())
    return found
