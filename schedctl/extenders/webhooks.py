"""Extenders that are asked: questions of the engine become calls, and their answers what the engine understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typing_extensions import override

from schedctl.cache.nodes import Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.config import types as config
from schedctl.errors import ConfigError, Problem
from schedctl.extenders import messages
from schedctl.extenders.calls import HTTP, Calls
from schedctl.extenders.recordings import CachedCalls, Recorder, Recording
from schedctl.framework.extenders import Extender, ExtenderError, FilterAnswer, NodeVictims, address, in_order


class Webhook(Extender):
    """An extender that is asked by calls."""

    def __init__(self, config: config.Extender, name: str, calls: Calls) -> None:
        super().__init__(config, name)
        self._calls = CachedCalls(calls)
        self._fresh_calls = calls

    @override
    def filter(self, pod: PodInfo, nodes: Nodes) -> FilterAnswer:
        names_only = self.config.node_cache_capable
        question = messages.arguments(pod, nodes, names_only=names_only)
        try:
            answer = messages.read_filter_result(self._calls(self.config.filter_verb, question))
        except ValueError as fault:
            raise self._nonsense(self.config.filter_verb, fault) from None
        if answer.error:
            raise ExtenderError(answer.error)
        by_name = names_only and answer.node_names is not None
        kept = answer.node_names if by_name else answer.nodes
        sent = set(nodes.names)
        for name in kept or ():
            # kube-scheduler notices nodes it did not send only where the extender answers with names; whole nodes it
            # takes as they come. Here that is a fault, too.
            if name not in sent:
                raise ExtenderError(
                    f'extender "{self._address}" claims a filtered node "{name}" which is not found in the input node'
                    " list"
                )
        described = not by_name and answer.nodes is not None
        return FilterAnswer(tuple(kept or ()), answer.failed, answer.unresolvable, described)

    @override
    def prioritize(self, pod: PodInfo, nodes: Nodes) -> Sequence[tuple[str, int]]:
        question = messages.arguments(pod, nodes, names_only=self.config.node_cache_capable)
        try:
            return messages.read_priorities(self._calls(self.config.prioritize_verb, question))
        except ValueError as fault:
            raise self._nonsense(self.config.prioritize_verb, fault) from None

    @override
    def preempt(self, pod: PodInfo, victims: Mapping[str, NodeVictims], nodes: Nodes) -> Mapping[str, NodeVictims]:
        question = messages.preemption_arguments(pod, victims, uids_only=self.config.node_cache_capable)
        try:
            answer = messages.read_preemption_result(self._calls(self.config.preempt_verb, question))
        except ValueError as fault:
            raise self._nonsense(self.config.preempt_verb, fault) from None
        # Go goes over the map in any order; here it is always the same.
        return {name: self._resolve_victims(name, answer[name], nodes) for name in sorted(answer)}

    @override
    def bind(self, pod: PodInfo, node_name: str) -> None:
        question = messages.binding_arguments(pod, node_name)
        try:
            # Never from memory: it is done by being asked.
            failure = messages.read_binding_result(self._fresh_calls(self.config.bind_verb, question))
        except ValueError as fault:
            raise self._nonsense(self.config.bind_verb, fault) from None
        if failure:
            raise ExtenderError(failure)

    def _resolve_victims(self, name: str, victims: messages.MetaVictims, nodes: Nodes) -> NodeVictims:
        """Return victims that were named by their uids."""
        row = nodes.cluster.node_table.row_of.get(name)
        if row is None:
            raise ExtenderError(f'nodeinfo not found for node name "{name}"')
        there = {pod.uid: pod for pod in nodes.cluster.pod_table.on(row)}
        for uid in victims.uids:
            if uid not in there:
                raise ExtenderError(
                    f"extender: {self._address} claims to preempt pod (UID: &{{{uid}}}) on node: {name},"
                    " but the pod is not found on that node"
                )
        return NodeVictims(tuple(there[uid] for uid in dict.fromkeys(victims.uids)), victims.violations)

    @property
    def _address(self) -> str:
        return address(self.config.url_prefix)

    def _nonsense(self, verb: str, fault: ValueError) -> ExtenderError:
        return ExtenderError(f"extender {self._address}: the answer to {verb} cannot be read: {fault}")


def connect(configured: Sequence[config.Extender], source: str, *, record: str = "") -> tuple[Extender, ...]:
    """Return extenders that are asked over the network, in the order in which they are asked.

    Args:
        configured: the extenders of a configuration.
        source: where the configuration is from.
        record: the file to write all calls to, "" for none.

    Raises:
        ConfigError: the TLS settings of one cannot be used.
        UsageError: the file cannot be written.
    """
    recorder = Recorder(record) if record else None
    found: list[Extender] = []
    for each, name in in_order(configured):
        try:
            calls: Calls = HTTP(each)
        except (OSError, ValueError) as fault:
            text = fault.strerror.lower() if isinstance(fault, OSError) and fault.strerror else str(fault)
            file = f"{fault.filename}: " if isinstance(fault, OSError) and fault.filename else ""
            path = f"extenders[{configured.index(each)}].tlsConfig"
            raise ConfigError([Problem(f"couldn't build extenders: {file}{text}", source=source, path=path)]) from None
        if recorder is not None:
            calls = recorder.over(each, calls)
        found.append(Webhook(each, name, calls))
    return tuple(found)


def replay(configured: Sequence[config.Extender], path: str) -> tuple[Extender, ...]:
    """Return extenders that are answered for by a record, in the order in which they are asked.

    Raises:
        InputError: the record cannot be read.
    """
    record = Recording(path)
    return tuple(Webhook(each, name, record.of(each)) for each, name in in_order(configured))
