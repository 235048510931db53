"""The page of the policies in fixtures/policies: what each demands, and its text, by its first tag."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from docs._reference.markdown import GENERATED

FOLDER = Path(__file__).parents[2] / "fixtures/policies"
_TAGS = {
    "availability": "Availability",
    "capacity": "Capacity",
    "safety": "Safety",
    "hygiene": "Hygiene",
    "gpu": "GPU",
    "multi-tenant": "Several tenants",
}


class _Ready(NamedTuple):
    """A policy that is ready to use: its name, its tag, what it demands in words, and its text."""

    name: str
    tag: str
    demand: str
    text: str


def page() -> str:
    """Return the page."""
    found = [_read(path) for path in sorted(FOLDER.glob("*/policy.yaml"))]
    sections = [_section(tag, heading, found) for tag, heading in _TAGS.items()]
    return f"""{GENERATED}

# Ready policies

Which policies can I start from? These are in `fixtures/policies`, each in a folder with a passing and a failing test
(`schedctl test fixtures/policies`). Copy a folder, and change names, labels and limits into yours. `--tag` of `check`
chooses among them.

{"".join(sections)}Next: [what else can stand in a policy?](policy-fields.md)
"""


def _read(path: Path) -> _Ready:
    text = path.read_text(encoding="utf-8")
    comment = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
    spec: dict[str, Any] = yaml.safe_load(text)["spec"]
    (tag,) = {check["tags"][0] for check in spec["checks"]}
    return _Ready(path.parent.name, tag, " ".join(comment), text)


def _section(tag: str, heading: str, found: list[_Ready]) -> str:
    policies = [each for each in found if each.tag == tag]
    return f"## {heading}\n\n" + "".join(_policy(each) for each in policies)


def _policy(ready: _Ready) -> str:
    text = "".join(line for line in ready.text.splitlines(keepends=True) if not line.startswith("#"))
    return f"### {ready.name}\n\n{ready.demand}\n\n```yaml\n{text}```\n\n"
