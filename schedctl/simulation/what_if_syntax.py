"""What-ifs as people write them, on a command line and in a policy file; one grammar for both.

On a command line each is an option with a text::

    --cordon NODE            --taint NODE:KEY=VALUE:EFFECT    --scale deploy/web=20
    --drain NODE             --taint NODE:KEY:EFFECT-         --priority pod/web-0=1000
    --remove-node NODE       --label NODE:KEY=VALUE           --priority deploy/shop/web=CLASS
    --add-node FILE=3        --label NODE:KEY-                --lose zone=eu-1a
    --add-node like:NODE=3

In a file each is a map of the same word, with one text, several, or a map of what the text would join::

    - cordon: general-a-1
    - drain: [general-a-1, general-a-2]
    - addNode: {"like:general-a-1": 3}
    - taint: {"pool=spot": "spot=true:NoSchedule"}
    - scale: {deploy/shop/web: 20}
    - lose: {zone: eu-1a}
    - remove: {nodeSelector: {pool: spot}}

NODE is a name, ``all``, or a label with its value, for which ``zone``, ``region`` and ``hostname`` are short; labels
with commas between them all have to be there. No name of a node has a colon in it, and no key of a taint or label, so
the first colon ends the nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.field_errors import label_key_problems, label_value_problems
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod
from schedctl.api.short_names import NAMES, kind_of
from schedctl.api.texts import whole
from schedctl.api.tolerations import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE
from schedctl.documents.spelling import nearest
from schedctl.errors import UsageError
from schedctl.simulation import what_ifs
from schedctl.simulation.what_ifs import Subject, WhatIf

EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
# `×` and `x` were the first forms, and stand in scripts and policies.
_COUNT = re.compile(r"(?P<what>.+)[=x×](?P<count>[0-9]{1,5})", re.DOTALL)
_LIKE = "like:"
_SELECTOR = "nodeSelector"
_OF_NODES = ("cordon", "drain", "remove-node")
"""Words whose text says which nodes, and nothing else."""
_SHORT = {"remove": "remove-node"}
"""Words by what they are called for short."""
_LONGEST = 4096
"""Longer texts are neither names nor paths."""
_MOST = 10_000
"""More nodes than this of one kind, or pods of one workload, are a slip of the finger."""


def parse(word: str, text: str, namespace: str = DEFAULT_NAMESPACE) -> WhatIf:
    """Return the what-if that a word and a text stand for.

    Args:
        word: ``cordon``, ``remove-node`` (or ``removeNode``), ...; see `WORDS`.
        text: what stands behind it.
        namespace: of pods and workloads that name none.

    Raises:
        UsageError: there is no such word, or the text cannot be read, or names a file that cannot.
        InputError: a file of nodes cannot be understood.
    """
    if whole(word + text) != word + text:  # bytes of a command line that are no characters
        raise UsageError("a what-if is not UTF-8 text", "write names and values in UTF-8")
    if max(len(word), len(text)) > _LONGEST:
        raise UsageError(f"a what-if is longer than {_LONGEST:,} characters", "name fewer, or shorter, things in one")
    known = _canonical_word(word)
    if not text:
        raise UsageError(f"--{known} needs a value", f"e.g. `--{known} {EXAMPLES[known]}`")
    return _PARSERS[known](text, namespace)


def from_mappings(mappings: Iterable[Mapping[str, Any]], namespace: str = DEFAULT_NAMESPACE) -> list[WhatIf]:
    """Return the what-ifs that plain data stands for, in order.

    Raises:
        UsageError: as `parse`, or the data is of another shape.
        InputError: as `parse`.
    """
    return [
        parse(word, text, namespace)
        for mapping in mappings
        for word, value in _items(mapping)
        for text in _texts(word, value)
    ]


def _items(mapping: Any) -> Iterable[tuple[str, Any]]:
    if not isinstance(mapping, Mapping) or not all(isinstance(word, str) for word in mapping):
        raise UsageError(f"expected a what-if, got {mapping!r}", "e.g. `cordon: node-1`")
    return mapping.items()


def _texts(word: str, value: Any) -> list[str]:
    """Return the texts that a value of plain data joins."""
    known = _canonical_word(word)
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        if known in _OF_NODES and list(value) == [_SELECTOR] and isinstance(value[_SELECTOR], Mapping):
            return [",".join(f"{key}={each}" for key, each in value[_SELECTOR].items())]
        joint = _JOINTS.get(known)
        if joint is not None:
            return [
                f"{key}{joint}{each}"
                for key, values in value.items()
                for each in (values if isinstance(values, Sequence) and not isinstance(values, str) else (values,))
            ]
    elif isinstance(value, Sequence) and all(isinstance(each, str) for each in value):
        return list(value)
    raise UsageError(f"{word} cannot be {value!r}", f"e.g. `{word}: {EXAMPLES[known]}`")


def camel(word: str) -> str:
    """Return a word as files write it: ``removeNode`` for ``remove-node``."""
    first, *others = word.split("-")
    return first + "".join(other.capitalize() for other in others)


def _canonical_word(word: str) -> str:
    name = re.sub(r"(?<=[a-z])([A-Z])", lambda match: f"-{match[1].lower()}", word)
    name = _SHORT.get(name, name)
    if name not in _PARSERS:
        close = nearest(name, _PARSERS)
        raise UsageError(
            f'unknown what-if "{word}"',
            f"did you mean {close}?" if close else f"the what-ifs are: {', '.join(_PARSERS)}",
        )
    return name


# -- the words -------------------------------------------------------------------


def _add_node(text: str, namespace: str) -> WhatIf:
    what, count = text, 1
    counted = _COUNT.fullmatch(text)  # a file may end like a number of nodes, and is a file then
    if counted and not _exists(text):
        what, count = counted["what"], int(counted["count"])
    if not 1 <= count <= _MOST:
        raise UsageError(f'cannot add {count} nodes ("{text}")', f"from 1 to {_MOST} can be added at once")
    if what.startswith(_LIKE):
        return what_ifs.AddNodesLike(what.removeprefix(_LIKE), count)
    return what_ifs.AddNodes(_nodes_in(what), count)


def _exists(path: str) -> bool:
    """Return whether there is a file; nothing has a name that no file can have."""
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def _nodes_in(path: str) -> tuple[Node, ...]:
    from schedctl import sources

    if not _exists(path):
        raise UsageError(f'no file "{path}"', f"`{_LIKE}NODE=N` adds nodes like one of the cluster")
    nodes = tuple(one.object for one in sources.load([path]).objects if isinstance(one.object, Node))
    if not nodes:
        raise UsageError(f'no Node in "{path}"')
    return nodes


def _taint(text: str, namespace: str) -> WhatIf:
    nodes, written = _of_nodes("taint", text)
    removing = written.endswith("-")
    body = written.removesuffix("-")
    left, colon, effect = body.partition(":")
    key, _, value = left.partition("=")
    if not (colon or removing):
        raise UsageError(f'taint "{written}" has no effect', f"e.g. `--taint {nodes}:{written}:{NO_SCHEDULE}`")
    if colon and effect not in EFFECTS:
        close = nearest(effect, EFFECTS)
        hint = f"did you mean {close}?" if close else f"the effects are {', '.join(EFFECTS)}"
        raise UsageError(f'unknown taint effect "{effect}"', hint)
    _check(key, value)
    return what_ifs.ClearTaint(nodes, key, effect) if removing else what_ifs.SetTaint(nodes, key, value, effect)


def _label(text: str, namespace: str) -> WhatIf:
    nodes, written = _of_nodes("label", text)
    key, equals, value = written.partition("=")
    if not equals:
        if not written.endswith("-"):
            raise UsageError(
                f'label "{written}" has no value', f"`{written}=VALUE` sets a label, `{written}-` removes it"
            )
        _check(written.removesuffix("-"), "")
        return what_ifs.SetLabel(nodes, written.removesuffix("-"), None)
    _check(key, value)
    return what_ifs.SetLabel(nodes, key, value)


def _of_nodes(word: str, text: str) -> tuple[str, str]:
    nodes, colon, rest = text.partition(":")
    if not (nodes and colon and rest):
        raise UsageError(f'no node in "{text}"', f"e.g. `--{word} {EXAMPLES[word]}`")
    return nodes, rest


def _check(key: str, value: str) -> None:
    if wrong := label_key_problems(key):
        raise UsageError(f'invalid key "{key}": {"; ".join(wrong)}')
    if wrong := label_value_problems(value):
        raise UsageError(f'invalid value "{value}": {"; ".join(wrong)}')


def _scale(text: str, namespace: str) -> WhatIf:
    subject, value = _of_subject("scale", text, namespace)
    if not value.isdecimal() or int(value) > _MOST:
        raise UsageError(f'invalid number of pods "{value}"', f"from 0 to {_MOST}, e.g. `--scale {EXAMPLES['scale']}`")
    return what_ifs.Scale(subject, int(value))


def _priority(text: str, namespace: str) -> WhatIf:
    subject, value = _of_subject("priority", text, namespace)
    if not re.fullmatch(r"-?[0-9]+", value):
        return what_ifs.SetPriority(subject, value)
    if not -(2**31) <= int(value) < 2**31:
        raise UsageError(f"priority {value} is out of range: expected an integer of 32 bits")
    return what_ifs.SetPriority(subject, int(value))


def _of_subject(word: str, text: str, namespace: str) -> tuple[Subject, str]:
    written, equals, value = text.rpartition("=")
    if not (written and equals and value):
        raise UsageError(f'"{text}" has no value', f"e.g. `--{word} {EXAMPLES[word]}`")
    return subject_named(written, namespace), value


def subject_named(written: str, namespace: str = DEFAULT_NAMESPACE) -> Subject:
    """Return what ``deploy/web``, ``deploy/shop/web``, ``shop/web-0`` or ``web-0`` (a pod) names.

    Raises:
        UsageError: it names nothing.
    """
    first, *rest = written.split("/")
    kind = kind_of(first) if rest else None
    names = rest if kind is not None else [first, *rest]
    if not 1 <= len(names) <= 2 or not all(names):
        close = nearest(first, [name for names in NAMES.values() for name in names])
        hint = f"did you mean `{'/'.join((close, *rest))}`?" if close else "e.g. `deploy/web` or `deploy/shop/web`"
        raise UsageError(f'invalid pod or workload "{written}"', hint)
    return Subject(kind or Pod, names[0] if len(names) == 2 else namespace, names[-1])


_PARSERS: Mapping[str, Callable[[str, str], WhatIf]] = {
    "cordon": lambda text, namespace: what_ifs.Cordon(text),
    "drain": lambda text, namespace: what_ifs.Drain(text),
    "remove-node": lambda text, namespace: what_ifs.RemoveNode(text),
    "add-node": _add_node,
    "taint": _taint,
    "label": _label,
    "scale": _scale,
    "priority": _priority,
    "lose": lambda text, namespace: what_ifs.Lose(text),
}
WORDS = tuple(_PARSERS)
"""Every word, as the command line writes it."""
EXAMPLES: Mapping[str, str] = {
    "cordon": "node-1",
    "drain": "node-1",
    "remove-node": "node-1",
    "add-node": "like:node-1=2",
    "taint": "node-1:dedicated=db:NoSchedule",
    "label": "node-1:pool=general",
    "scale": "deploy/web=20",
    "priority": "pod/web-0=1000",
    "lose": "zone=eu-1a",
}
"""A text for each word."""
_JOINTS: Mapping[str, str] = {
    "add-node": "=",
    "taint": ":",
    "label": ":",
    "scale": "=",
    "priority": "=",
    "lose": "=",
}
"""What joins the two halves of a text, for the words whose text has halves."""
