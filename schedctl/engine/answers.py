"""What a plugin's answers must be like, checked once for each call and never for each row.

An answer of the wrong kind would otherwise go wrong far from whoever gave it, and in the name of the engine. Each
function hands an answer on, or says what was expected instead.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from schedctl.api.texts import tidy
from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.engine.faults import CycleError
from schedctl.framework import faults
from schedctl.framework.cycles import Cycle, CycleState
from schedctl.framework.events import ClusterEvent, Registration
from schedctl.framework.points import NodeSet, Plugin, PostFilterResult
from schedctl.framework.reasons import Lookup, Part, Reason, Verdicts
from schedctl.framework.remarks import Remark
from schedctl.framework.statuses import REJECTIONS, SKIP, Code, Status

_ENDING = frozenset((Code.SUCCESS, Code.ERROR, *REJECTIONS))
ALLOWED = {
    "pre_enqueue": _ENDING,
    "pre_filter": _ENDING | {Code.SKIP},
    "post_filter": _ENDING,
    "pre_score": _ENDING | {Code.SKIP},
    "reserve": _ENDING,
    "permit": _ENDING | {Code.WAIT},
    "pre_bind": _ENDING,
    "bind": _ENDING | {Code.SKIP},
}
"""The codes that a method may answer with."""
_VERDICTS = "Verdicts: ACCEPT, or what `where` of a Reason makes"


class AnswerError(CycleError):
    """A plugin answered what it must not.

    Attributes:
        text: what, and what was expected, without the plugin's name.
    """

    def __init__(self, plugin: Plugin, text: str) -> None:
        super().__init__(f'plugin "{plugin.name}" failed: {text}', plugin.name)
        self.text = text


def status(plugin: Plugin, method: str, answer: Any, instead: str = "") -> Status:
    """Return a status that a method may answer with.

    Args:
        plugin: who answered.
        method: what it was asked.
        answer: the answer.
        instead: what else the method might have answered, in words.

    Raises:
        AnswerError: it may not.
    """
    if not isinstance(answer, Status):
        raise _unexpected_answer(plugin, method, answer, f"a Status{instead}")
    if answer.code is Code.SUCCESS or (answer is SKIP and Code.SKIP in ALLOWED[method]):
        return answer
    if answer.code not in ALLOWED[method]:
        labels = ", ".join(code.label for code in sorted(ALLOWED[method]))
        raise _error(plugin, f"{method} answered {_label(answer.code)}, expected one of {labels}")
    if not isinstance(answer.reasons, tuple) or not all(isinstance(text, str) for text in answer.reasons):
        raise _error(plugin, f"{method} gave {faults.quote(answer.reasons)} for reasons, expected a tuple of texts")
    if answer.code is Code.WAIT and not (isinstance(answer.timeout, int | float) and answer.timeout > 0):
        raise _error(plugin, f"{method} would wait for {faults.quote(answer.timeout)}, expected seconds above 0")
    if not answer.reasons:
        return answer
    texts = tuple(map(tidy, answer.reasons))
    checked: Status = answer if texts == answer.reasons else replace(answer, reasons=texts)
    return checked


def require_state(plugin: Plugin, cycle: Cycle) -> None:
    """See that a plugin has left the cycle its state, which others read after it.

    Raises:
        AnswerError: something else stands in its place, which is put right.
    """
    if type(cycle.state) is not CycleState:
        found, cycle.state = cycle.state, CycleState()
        raise _error(plugin, f"cycle.state was replaced by {faults.quote(found)}, expected `cycle.state[KEY] = value`")


def pre_filter(plugin: Plugin, answer: Any) -> Status | NodeSet | None:
    """Return an answer of PreFilter.

    Raises:
        AnswerError: it is none.
    """
    if answer is None:
        return None
    if isinstance(answer, NodeSet):
        if not isinstance(answer.names, frozenset | set):
            raise _error(plugin, f"pre_filter gave {faults.quote(answer.names)} for names, expected a frozenset")
        strangers = [name for name in answer.names if not isinstance(name, str)]
        if strangers:
            raise _error(plugin, f"pre_filter gave {faults.quote(strangers[0])} among names, expected texts")
        return answer
    return status(plugin, "pre_filter", answer, ", a NodeSet or None")


def verdicts(plugin: Plugin, answer: Any, rows: int) -> Verdicts:
    """Return an answer of Filter about so many rows.

    Raises:
        AnswerError: it is none.
    """
    if not isinstance(answer, Verdicts):
        raise _unexpected_answer(plugin, "filter", answer, _VERDICTS)
    for part in answer.parts:
        _check_part(plugin, part, rows)
    return answer


def scores(plugin: Plugin, method: str, answer: Any, rows: int) -> IntArray:
    """Return so many scores.

    Raises:
        AnswerError: they are not.
    """
    if not isinstance(answer, np.ndarray) or answer.dtype != np.int64 or answer.shape != (rows,):
        raise _unexpected_answer(plugin, method, answer, f"an array of int64 ({rows})")
    return answer


def post_filter(plugin: Plugin, answer: Any, nodes: Nodes) -> PostFilterResult:
    """Return an answer of PostFilter.

    Raises:
        AnswerError: it is none.
    """
    if not isinstance(answer, PostFilterResult):
        raise _unexpected_answer(plugin, "post_filter", answer, "a PostFilterResult")
    status(plugin, "post_filter", answer.status)
    named = answer.nominated_node
    if named is not None and not (isinstance(named, str) and (not named or named in nodes.cluster.node_table.row_of)):
        raise _error(plugin, f"post_filter nominates {faults.quote(named)}, expected the name of a node, or none")
    victims = answer.victims
    if not isinstance(victims, tuple) or not all(isinstance(victim, PodInfo) for victim in victims):
        raise _error(plugin, f"post_filter gave {faults.quote(victims)} for victims, expected a tuple of pods")
    strangers = [victim.key for victim in victims if victim.key not in nodes.cluster.pod_table.row_of]
    if strangers:
        raise _error(plugin, f"post_filter would evict {strangers[0]}, expected a pod that runs")
    return answer


def registrations(plugin: Plugin, answer: Any) -> tuple[Registration, ...]:
    """Return the events that a plugin registers.

    Raises:
        AnswerError: they are none.
    """
    expected = "a sequence of Registration, as `registers` makes them"
    if not isinstance(answer, tuple | list):
        raise _unexpected_answer(plugin, "events_to_register", answer, expected)
    for one in answer:
        if not isinstance(one, Registration) or not isinstance(one.event, ClusterEvent):
            raise _unexpected_answer(plugin, "events_to_register", one, expected)
    return tuple(answer)


def remarks(plugin: Plugin, answer: Any, method: str = "remarks") -> tuple[Remark, ...]:
    """Return what a plugin remarks.

    Raises:
        AnswerError: it is no remarks, or they are not made of texts.
    """
    expected = "a sequence of Remark"
    if not isinstance(answer, tuple | list):
        raise _unexpected_answer(plugin, method, answer, expected)
    for one in answer:
        if not isinstance(one, Remark):
            raise _unexpected_answer(plugin, method, one, expected)
        if not isinstance(one.text, str):
            raise _error(plugin, f"{method} gave {faults.quote(one.text)} for the text, expected a text")
        if not isinstance(one.details, tuple | list) or not all(isinstance(line, str) for line in one.details):
            raise _error(plugin, f"{method} gave {faults.quote(one.details)} for details, expected a tuple of texts")
        if not isinstance(one.evidence, Mapping):
            raise _error(plugin, f"{method} gave {faults.quote(one.evidence)} for evidence, expected values by name")
        if one.starts not in (None, True, False):
            raise _error(plugin, f"{method} gave {faults.quote(one.starts)} for starts, expected True, False or None")
    return tuple(answer)


def signature(plugin: Plugin, answer: Any) -> Hashable | None:
    """Return a signature.

    Raises:
        AnswerError: it cannot be hashed, which would go wrong in a dictionary later.
    """
    known: Hashable | None = answer
    try:
        hash(known)
    except TypeError:
        raise _unexpected_answer(plugin, "signature", answer, "what can be hashed, such as a tuple of texts") from None
    return known


def sort_key(plugin: Plugin, answer: Any) -> tuple[Any, Any]:
    """Return what a pod is sorted by, and what it has in common with the keys it can be compared with.

    Raises:
        AnswerError: not all such keys could be compared.
    """
    form = _form(answer)
    if form is None:
        raise _unexpected_answer(plugin, "sort_key", answer, "a number, a text, or a tuple of them")
    return answer, form


def _form(key: Any) -> Any:
    """Return what sort keys must have in common to be compared, None for what is no sort key."""
    if isinstance(key, bool | int | float):
        return float if key == key else None  # NaN, unlike itself, has no place in any order
    if isinstance(key, str):
        return str
    if isinstance(key, tuple):
        forms = tuple(map(_form, key))
        return None if None in forms else forms
    return None


def _check_part(plugin: Plugin, part: Any, rows: int) -> None:
    if not isinstance(part, Part) or not isinstance(part.reason, Reason):
        raise _unexpected_answer(plugin, "filter", part, _VERDICTS)
    _check_mask(plugin, part, "the rows", part.mask, rows)
    if part.unresolvable is not None:
        _check_mask(plugin, part, "the unresolvable rows", part.unresolvable, rows)
    for name, value in part.evidence.items():
        column = value.codes if isinstance(value, Lookup) else value
        if isinstance(column, np.ndarray) and column.ndim and column.shape[0] != rows:
            text = f'filter gave {faults.quote(column)} for "{name}" of {part.reason.reference}'
            raise _error(plugin, f"{text}, expected {rows} values")
    for name in part.reason.fields:
        if name not in part.evidence:
            raise _error(plugin, f'filter gave no "{name}", which the text of {part.reason.reference} names')


def _check_mask(plugin: Plugin, part: Part, name: str, mask: Any, rows: int) -> None:
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (rows,):
        text = f"filter gave {faults.quote(mask)} for {name} of {part.reason.reference}"
        raise _error(plugin, f"{text}, expected an array of bool ({rows})")


def _label(code: Any) -> str:
    return code.label if isinstance(code, Code) else faults.quote(code)


def _unexpected_answer(plugin: Plugin, method: str, answer: Any, expected: str) -> AnswerError:
    return _error(plugin, faults.wrong(plugin, method, answer, expected))


def _error(plugin: Plugin, text: str) -> AnswerError:
    return AnswerError(plugin, text)
