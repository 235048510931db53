"""What is said to extenders, and how their answers are read (``k8s.io/kube-scheduler/extender/v1``).

Pods and nodes go out with what schedctl reads of them, which is what scheduling depends on; fields that no scheduler
reads, such as the commands of a container, are not known here and are left out. Answers are read as Go reads JSON: the
case of a key does not matter, ``null`` stands for nothing, half a surrogate pair is U+FFFD, and what follows the first
value is nobody's business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from schedctl.api.texts import clip, whole
from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.extenders import NodeVictims

_INT64 = range(-(1 << 63), 1 << 63)


def arguments(pod: PodInfo, nodes: Nodes, *, names_only: bool) -> bytes:
    """Return what ``filter`` and ``prioritize`` are asked with (ExtenderArgs).

    Args:
        pod: the pod.
        nodes: the nodes it is about.
        names_only: whether the extender knows nodes by their names.
    """
    items = None if names_only else [nodes.object(position) for position in range(len(nodes))]
    return msgspec.json.encode(
        {
            "Pod": _pod(pod),
            "Nodes": None if items is None else {"metadata": {}, "items": items},
            "NodeNames": nodes.names if names_only else None,
        }
    )


def preemption_arguments(pod: PodInfo, victims: Mapping[str, NodeVictims], *, uids_only: bool) -> bytes:
    """Return what ``preempt`` is asked with (ExtenderPreemptionArgs).

    Args:
        pod: the pod that needs room.
        victims: the candidates, by node name.
        uids_only: whether the extender knows pods by their uids.
    """
    victim_lists = {
        node: {
            "Pods": [{"UID": each.uid} if uids_only else _pod(each) for each in chosen.pods],
            "NumPDBViolations": chosen.violations,
        }
        for node, chosen in sorted(victims.items())
    }
    return msgspec.json.encode(
        {
            "Pod": _pod(pod),
            "NodeNameToVictims": None if uids_only else victim_lists,
            "NodeNameToMetaVictims": victim_lists if uids_only else None,
        }
    )


def binding_arguments(pod: PodInfo, node_name: str) -> bytes:
    """Return what ``bind`` is asked with (ExtenderBindingArgs)."""
    metadata = pod.pod.metadata
    return msgspec.json.encode(
        {"PodName": metadata.name, "PodNamespace": metadata.namespace, "PodUID": metadata.uid, "Node": node_name}
    )


def _pod(info: PodInfo) -> Any:
    """Return a pod to be sent; one from a manifest has no uid, and gets its key for one, so that it can be named."""
    pod = info.pod
    if pod.metadata.uid:
        return pod
    return msgspec.structs.replace(pod, metadata=msgspec.structs.replace(pod.metadata, uid=info.uid))


class FilterResult(msgspec.Struct, frozen=True):
    """An answer of ``filter`` (ExtenderFilterResult).

    Attributes:
        nodes: names of the nodes that are left, by whole nodes; None where none were sent.
        node_names: names of the nodes that are left; None where none were sent.
        failed: by node, why not.
        unresolvable: by node, why not, and no eviction helps.
        error: what went wrong, "" for nothing.
    """

    nodes: list[str] | None
    node_names: list[str] | None
    failed: dict[str, str]
    unresolvable: dict[str, str]
    error: str


class MetaVictims(msgspec.Struct, frozen=True):
    """Victims on a node by their uids (MetaVictims)."""

    uids: list[str]
    violations: int


def read_filter_result(answer: bytes) -> FilterResult:
    """Read an answer of ``filter``.

    Raises:
        ValueError: it is none.
    """
    fields = _fields(_value(answer), "the answer")
    nodes = fields.get("nodes")
    if nodes is not None:
        items = _list(_fields(nodes, "Nodes").get("items"), "Nodes.items")
        metadata = [_fields(_fields(item, "Nodes.items").get("metadata"), "Nodes.items.metadata") for item in items]
        nodes = [_text(each.get("name"), "Nodes.items.metadata.name") for each in metadata]
    names = fields.get("nodenames")
    if names is not None:
        names = [_text(name, "NodeNames") for name in _list(names, "NodeNames")]
    return FilterResult(
        nodes,
        names,
        _reasons(fields.get("failednodes"), "FailedNodes"),
        _reasons(fields.get("failedandunresolvablenodes"), "FailedAndUnresolvableNodes"),
        _text(fields.get("error"), "Error"),
    )


def read_priorities(answer: bytes) -> Sequence[tuple[str, int]]:
    """Read an answer of ``prioritize`` (HostPriorityList) as (node name, score) pairs.

    Raises:
        ValueError: it is none.
    """
    entries = [_fields(each, "an entry") for each in _list(_value(answer), "the answer")]
    return [(_text(each.get("host"), "Host"), _number(each.get("score"), "Score")) for each in entries]


def read_preemption_result(answer: bytes) -> Mapping[str, MetaVictims]:
    """Read an answer of ``preempt`` (ExtenderPreemptionResult), by node name.

    Raises:
        ValueError: it is none.
    """
    field = "NodeNameToMetaVictims"
    fields = _fields(_value(answer), "the answer")
    found = {}
    for node, value in _object(fields.get(field.lower()), field).items():
        victims = _fields(value, f"{field}[{node}]")
        pods = [_fields(each, f"{field}[{node}].Pods") for each in _list(victims.get("pods"), f"{field}[{node}].Pods")]
        found[node] = MetaVictims(
            [_text(pod.get("uid"), f"{field}[{node}].Pods.UID") for pod in pods],
            _number(victims.get("numpdbviolations"), f"{field}[{node}].NumPDBViolations"),
        )
    return found


def read_binding_result(answer: bytes) -> str:
    """Read an answer of ``bind`` (ExtenderBindingResult): what went wrong, "" for nothing.

    Raises:
        ValueError: it is none.
    """
    return _text(_fields(_value(answer), "the answer").get("error"), "Error")


def _value(answer: bytes) -> Any:
    """Return the first JSON value of an answer."""
    text = answer.decode(errors="replace").lstrip(" \t\r\n")
    if not text:
        raise ValueError("EOF")
    try:
        value, _ = json.JSONDecoder(parse_constant=_no_constant).raw_decode(text)
        return _encodable(value) if "\\u" in text else value
    except json.JSONDecodeError as fault:
        raise ValueError(f"the answer is not JSON: {fault.msg.lower()} at {fault.pos}") from None
    except RecursionError:
        raise ValueError("the answer is not readable JSON: it is nested too deeply") from None


def _encodable(value: Any) -> Any:
    """Return plain values of which every text and every name is Unicode; an escape may stand for half a pair."""
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    if isinstance(value, dict):
        return {_encodable(name): _encodable(each) for name, each in value.items()}
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"the answer is not JSON: {name}")


def _object(value: Any, field: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{field}: expected an object")
    return value


def _fields(value: Any, field: str) -> dict[str, Any]:
    """Return the fields of an object by their names in lower case."""
    return {name.lower(): each for name, each in _object(value, field).items()}


def _list(value: Any, field: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{field}: expected a list")
    return value


def _text(value: Any, field: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{field}: expected a string")
    return value


def _reasons(value: Any, field: str) -> dict[str, str]:
    return {name: clip(_text(text, f"{field}[{name}]")) for name, text in _object(value, field).items()}


def _number(value: Any, field: str) -> int:
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value not in _INT64:
        raise ValueError(f"{field}: expected a whole number of 64 bits")
    return value
