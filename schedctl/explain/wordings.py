"""Which `Wording` is whose: asks the plugins of a profile how the evidence of their reasons reads.

A reason without a wording, a user's plugin's say, is told by listing its evidence, so plugins owe this module nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from schedctl.engine.faults import describe_fault
from schedctl.framework.faults import ESCAPING
from schedctl.framework.profiles import Profile
from schedctl.framework.remedies import Evidence
from schedctl.framework.wording import Wording, few

NODE_SET = "pre-filter/node-set"
"""The reference of the reason for nodes that PreFilter left out."""


def find_wording(profile: Profile, plugin: str, reference: str) -> Wording:
    """Return the wording of a reason: its own, its plugin's, or the one that lists what there is.

    Args:
        profile: whose plugins are asked.
        plugin: who rejects; extenders, and several plugins together, are none of the profile.
        reference: of the reason.
    """
    speaker = profile.plugins.get(plugin)
    built_in = _entry(_OWN, reference)
    if built_in is not None or speaker is None:
        return built_in or _LISTED
    try:
        words = _entry(speaker.wording(), reference)
    except KeyboardInterrupt:
        raise
    except ESCAPING as fault:  # an explanation is worth more without the words of one plugin
        return _faulty(f"{plugin} failed in wording: {describe_fault(speaker, fault)}")
    return _guard(plugin, words) if words is not None else _LISTED


def _entry(words: Mapping[str, Wording], reference: str) -> Wording | None:
    return words.get(reference) or words.get(reference.partition("/")[0])


def _guard(plugin: str, words: Wording) -> Wording:
    """Return a wording whose faults are told in its place."""

    def guard(word: Callable[[Any], Any], otherwise: Callable[[str], Any]) -> Callable[[Any], Any]:
        def attempt(evidence: Any) -> Any:
            try:
                return word(evidence)
            except KeyboardInterrupt:
                raise
            except ESCAPING as fault:
                return otherwise(f"{plugin} failed in wording: {type(fault).__name__}: {fault}")

        return attempt

    return Wording(
        guard(words.detail, str),
        guard(words.summary, str),
        guard(words.distance, lambda text: 0),
        guard(words.equivalence_key, str),
        guard(words.diagnosis, lambda text: (text,)),
    )


def _faulty(text: str) -> Wording:
    return Wording(lambda evidence: text)


def _list(evidence: Evidence) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in evidence.items())


def _value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _describe_search(found: Sequence[Evidence]) -> str:
    return f"PreFilter searched only {few(found[0]['searched'])}"


_LISTED = Wording(_list)
_OWN: Mapping[str, Wording] = {
    "extender/left-out": Wording(summary=lambda found: "left out without a reason; no eviction is tried there"),
    "extender": Wording(),
    NODE_SET: Wording(summary=_describe_search),
}
