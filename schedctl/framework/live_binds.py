"""What a binding cycle does to a live cluster: the one door from plugins and the engine to an API server.

`schedctl.live.binding` implements it; in a dry run there is none, and nothing leaves the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from schedctl.api.kinds import Kind
from schedctl.framework.statuses import Status

Object = dict[str, Any]
"""An object as the API server writes it."""


class ObjectJournal(Protocol):
    """Writes objects before a pod is bound; what was written is taken back, last first, if the pod is not bound.

    All methods raise `schedctl.errors.ClusterError` where the API server refuses or does not answer, which ends the
    cycle.
    """

    def read(self, kind: Kind, key: str) -> Object | None:
        """Return an object by ``namespace/name``, or by the name alone; None where there is none."""

    def create(self, kind: Kind, obj: Object) -> Object:
        """Create an object and return it as it is stored; its ``metadata`` has the namespace."""

    def update(self, kind: Kind, key: str, change: Callable[[Object], None]) -> Object:
        """Read an object, change it in place, write it as a whole, and return it as it is stored.

        A write that somebody else got ahead of is refused.
        """


class LiveBind(Protocol):
    """One pod on its way to its node in a live cluster; called in the order of the methods.

    All but `take_back` raise `schedctl.errors.ClusterError`.
    """

    @property
    def client(self) -> Any:
        """A ``kubernetes.client.ApiClient`` with the credentials of the command."""

    @property
    def journal(self) -> ObjectJournal:
        """Where PreBind plugins write."""

    def check(self) -> None:
        """See, before PreBind, whether all is as the decision found it and every planned write would be accepted."""

    def write(self, plugin: str, *, memory_only: bool) -> None:
        """Write what PreBind of a plugin has changed in memory, and wait for the controllers that follow it up.

        Args:
            plugin: its name.
            memory_only: whether it has done nothing else.
        """

    def check_again(self) -> None:
        """See, right before Bind, whether all is still as it was."""

    def send(self) -> Status:
        """Send the Binding, held to the pod's uid and resourceVersion."""

    def record(self, binder: str) -> None:
        """Note, once Bind has succeeded, who bound the pod; it is looked at, and an event tells of it."""

    def take_back(self) -> None:
        """Undo what was written, unless the pod is bound or may be; nothing is raised."""
