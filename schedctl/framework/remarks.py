"""What a plugin has to say of a pod beyond its verdicts, such as how its group stands, and the trials it may make.

`Plugin.remarks` returns `Remark` values, which explanations show as they are; `Trials` asks what would become of pods
that came one after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from schedctl.cache.pod_info import PodInfo


@dataclass(frozen=True, slots=True)
class Remark:
    """Something a plugin says of a pod.

    Attributes:
        text: one sentence.
        details: more of it, a line each.
        evidence: what stands behind it, by name, as plain values.
        plugin: who says so; "" until whoever asks fills it in.
        starts: of a plugin that holds the pod back at Permit until others have nodes as well: whether they find them
            as things are. False makes the pod unschedulable, whatever node it would wait on; None says nothing.
    """

    text: str
    details: tuple[str, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    plugin: str = ""
    starts: bool | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """What would become of a pod.

    Attributes:
        pod: the pod.
        node: the node it would have, be it to wait there for Permit; "" for none.
        message: why it would have none, in kube-scheduler's words.
        plugins: who would refuse it.
    """

    pod: PodInfo
    node: str = ""
    message: str = ""
    plugins: tuple[str, ...] = ()


class Trials(Protocol):
    """Tries things out on the cluster in hand and undoes them."""

    def together(self, pods: Sequence[PodInfo]) -> list[Tried]:
        """Return what would become of pods, each of which finds those before it placed.

        Nobody is evicted for them. A pod that Permit would hold back keeps its node.
        """
