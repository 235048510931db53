"""The figures on the page about exactness are those of the recorded proof.

``SCHEDCTL_UPDATE_GOLDEN=1 pytest tests/docs`` writes them into the page.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

from schedctl import shipped

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/exactness.md"
MARKED = re.compile(r"^(<!-- proof: (\w+) -->\n).*?^(<!-- end -->\n)", re.MULTILINE | re.DOTALL)
PROOF = json.loads(shipped.proof().read_text(encoding="utf-8"))
LEANS_ON = re.compile(r"^\| `(\w+)` \| (.*) \|$", re.MULTILINE)
RECORDED = 3360


def summary() -> str:
    """What was compared, in all."""
    numbers = PROOF["families"].values()
    cases, cycles, differences = (sum(each[name] for each in numbers) for name in ("cases", "cycles", "differences"))
    chance = sum(len(each["chance"]) for each in numbers)
    return (
        f"- **Fresh cases**: {cases:,} of seeds {PROOF['seeds']}, {cycles:,} cycles, **{differences} differences**\n"
        f"  in any field. In {chance} of them kube-scheduler itself gave several answers, and schedctl one of these.\n"
        f"- **Recorded cases**: {RECORDED:,}, replayed by every `make test`.\n"
        "- **Whole runs** beside the real process: 200 pods, with the queue and every message.\n"
        "- **Cached answers**, each compared with a newly computed one.\n"
    )


def families() -> str:
    """The families of cases, with how often each was compared."""
    described = dict(LEANS_ON.findall((ROOT / "conformance/README.md").read_text(encoding="utf-8")))
    rows = [
        f"| `{name}` | {described[name]} | {numbers['cycles']:,} | {numbers['differences']} |"
        for name, numbers in PROOF["families"].items()
    ]
    return "\n".join(["| Family | Leans on | Cycles | Differences |", "| --- | --- | ---: | ---: |", *rows]) + "\n"


def test_figures_equal_the_proof():
    text = PAGE.read_text(encoding="utf-8")
    tables = {"summary": summary, "families": families}
    made = MARKED.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n{found[3]}", text)
    if os.environ.get("SCHEDCTL_UPDATE_GOLDEN"):
        PAGE.write_text(made, encoding="utf-8")
    else:
        assert made == text


def test_the_corpus_has_as_many_cases_as_the_page_says():
    corpora = (ROOT / f"conformance/corpus/{PROOF['kubernetesVersion']}").glob("*.jsonl.gz")
    assert sum(gzip.decompress(each.read_bytes()).count(b"\n") for each in corpora) == RECORDED
