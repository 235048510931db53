"""A live cluster followed: what is heard of it is done to the cluster in memory, and trouble in hearing is said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from schedctl import sources
from schedctl.api.gaps import Gap
from schedctl.cli import faults
from schedctl.live.watching import Listed, News, Put, Removed, Trouble
from schedctl.workloads import cluster_updates
from schedctl.workloads.clusters import AssembledCluster


def applied(assembled: AssembledCluster, news: Iterable[News]) -> bool:
    """Change the cluster in memory as the live one has changed; return whether scheduling reads any of it.

    A kind that cannot be watched at all is not known any more, so that an answer that needs it is a guess.
    """
    changed = False
    for each in news:
        match each:
            case Put(body=body):
                for obj in _read(body):
                    changed |= cluster_updates.put(assembled, obj)
            case Removed(body=body):
                for obj in _read(body):
                    changed |= cluster_updates.remove(assembled, obj)
            case Listed(kind=kind, bodies=bodies):
                changed |= cluster_updates.replace_all(assembled, kind.struct, _read(*bodies))
            case Trouble(kind=kind, text=text, lasting=True):
                known = assembled.cluster.missing.values()
                assembled.cluster.lack([*known, Gap(kind.name, "Unwatched", text)])
                changed = True
    return changed


def _read(*bodies: bytes) -> list[Any]:
    return [one.object for one in sources.load_listed("the live cluster", bodies).objects]


class Troubles:
    """Says that the cluster cannot be heard, once until it is heard again, and which kinds cannot be watched at all."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._deaf: set[str] = set()

    def said(self, news: Iterable[News]) -> None:
        """Say what there is to say of the trouble in this news."""
        for each in news:
            kind = each.kind.resource
            if not isinstance(each, Trouble):
                self._deaf.discard(kind)
            elif each.lasting and not self._quiet:
                faults.say(f"warning: changes of {kind} are not seen: {each.text}")
            elif kind not in self._deaf:
                if not (self._quiet or self._deaf):
                    faults.say(f"warning: the cluster cannot be watched for the moment: {each.text}")
                self._deaf.add(kind)
