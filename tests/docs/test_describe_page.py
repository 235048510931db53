"""The page for people who come from ``kubectl describe`` shows what both print; SCHEDCTL_UPDATE_GOLDEN=1 writes it."""

from __future__ import annotations

import json
import os
import re
import textwrap
from pathlib import Path

from schedctl.cli.running import run

ROOT = Path(__file__).parents[2]
TRIAGE = ROOT / "tests/triage"
PAGE = ROOT / "docs/coming-from-kubectl-describe.md"
BLOCK = re.compile(r"^```text pod=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = 100


def side_by_side(name: str, capsys) -> str:
    """Return the event of a pod beside the first cause and the first fix of schedctl."""
    capsys.readouterr()
    files = ["-f", str(TRIAGE / "cluster"), "-f", str(TRIAGE / f"pods/{name}.yaml")]
    run(["explain", "pod", name, "-n", "orders", "-q", "-o", "json", *files])
    (result,) = json.loads(capsys.readouterr().out)["results"]
    event = f"Warning  FailedScheduling  {result['message']}" if result["message"] else "(no event)"
    cause = f'no scheduler serves "{result["pod"]["schedulerName"]}"'
    for reason in result["reasons"][:1]:
        number = reason["count"]
        nodes = f"{number} node{'s' if number > 1 else ''}: " if number else ""
        told = [f"{each['text']} ({each['nodes']} of them)" for each in reason["details"]]
        cause = nodes + (reason["diagnosis"] or told or reason["detail"].split("; "))[0]
    fixes = [hint["text"] for hint in result["hints"] if hint["fits"]][:1]
    assert fixes
    rows = [("kubectl describe", event), ("schedctl explain", cause), ("", f"fix: {fixes[0]}")]
    return "".join(
        textwrap.fill(text, WIDTH, initial_indent=f"{title:18}", subsequent_indent=" " * 18, break_on_hyphens=False)
        + "\n"
        for title, text in rows
    )


def test_ten_pods_are_shown_as_both_show_them(capsys):
    text = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(text)) == 10
    shown = BLOCK.sub(lambda match: f"```text pod={match[1]}\n{side_by_side(match[1], capsys)}```", text)
    if os.environ.get("SCHEDCTL_UPDATE_GOLDEN"):
        PAGE.write_text(shown, encoding="utf-8")
    else:
        assert text == shown
