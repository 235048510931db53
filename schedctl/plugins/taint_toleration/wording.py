"""How rejections of TaintToleration read: the taint and, side by side, a toleration that was meant for it."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, taint

WORDS = ("key", "operator", "value", "effect")
"""The words of a toleration that must agree with a taint, as they are named."""

_MOST_MISSES = 2


def _detail(evidence: Evidence) -> str:
    return f"taint {taint(evidence['taint'])}"


def _diagnosis(all_evidence: Sequence[Evidence]) -> list[str]:
    found = dict.fromkeys(_side_by_side(evidence) for evidence in all_evidence if evidence.get("nearMiss"))
    return list(found)[:_MOST_MISSES]


def _side_by_side(evidence: Evidence) -> str:
    miss = evidence["nearMiss"]
    return f"{_detail(evidence)}, toleration {toleration(miss['toleration'])}: {_differences(miss)}"


def toleration(written: Evidence) -> str:
    """Return a toleration as kubectl writes it, ``key=value:effect`` or ``key:effect op=Exists``."""
    effect = f":{written['effect']}" if written.get("effect") else ""
    if written.get("operator") not in (None, "", "Equal"):
        return f"{written['key']}{effect} op={written['operator']}"
    value = f"={written['value']}" if written.get("value") else ""
    return f"{written['key']}{value}{effect}"


def _differences(miss: Evidence) -> str:
    before, after = miss["toleration"], miss["corrected"]
    changed = [name for name in WORDS if before.get(name) != after.get(name)]
    if "operator" in changed:
        return f'operator "{before.get("operator") or "Equal"}" without a value, not "Exists"'
    return " and ".join(f'{name} "{before.get(name, "")}", not "{after.get(name, "")}"' for name in changed)


def _distance(evidence: Evidence) -> int:
    miss = evidence.get("nearMiss")
    return 2 if not miss else int(not miss["similar"])


WORDING = {"taint-toleration/untolerated": Wording(_detail, distance=_distance, diagnosis=_diagnosis)}
