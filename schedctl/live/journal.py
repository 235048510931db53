"""What was written into a cluster on the way to a bind, and the way back.

Every write is a PUT of the whole object as the API server has it, changed in one place, with the resourceVersion that
it was read at: a write that somebody else got ahead of is refused by the server, and nothing that schedctl does not
know of is lost. Going back is the same in reverse, on condition that the object is still what schedctl made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from schedctl.errors import ClusterError
from schedctl.live.codes import CONFLICT, INTERNAL_ERROR, NOT_FOUND, TOO_MANY_REQUESTS
from schedctl.live.connections import Connection
from schedctl.live.faults import Refused, Unanswered
from schedctl.live.objects import Object, decode_object

Repair = Callable[[Object], Object | None]
"""An object that has moved on to what of it can still be taken back; None for nothing."""
_DRY_RUN = {"dryRun": "All"}
_TRIES = 5
_LEFT = "left"
"""In place of the version of an object of which not all could be taken back: its earlier writes stay, too."""


class Journal:
    """The writes of one bind, or of pods that are bound together.

    Attributes:
        dry_run: whether the API server is asked to change nothing.
        owner: for whom what is written next is written, such as the uid of a pod.
    """

    def __init__(self, connection: Connection, *, dry_run: bool = False) -> None:
        self._connection = connection
        self.dry_run = dry_run
        self.owner = ""
        self._back: list[tuple[str, str, Callable[[], None]]] = []
        self._versions: dict[str, str] = {}

    def send(self, method: str, path: str, body: Any) -> bytes:
        """Send a change that is not taken back; that it was taken says all, and what else is answered is not read.

        Raises:
            ClusterError: it was refused, or nobody knows whether it was done.
        """
        return self._connection.send(method, path, body, _DRY_RUN if self.dry_run else None).body

    def _send_object(self, method: str, path: str, body: Object) -> Object:
        """Send a change, and return the object as the API server has stored it.

        Raises:
            ClusterError: it was refused, or nobody knows whether it was done.
        """
        answer = self.send(method, path, body)
        try:
            return decode_object(answer)
        except ClusterError as fault:
            text = f"{fault}; it is unknown whether {method} {path} took effect"
            raise Unanswered(text, "check the object before you try again", sent=True) from None

    def version_of(self, path: str) -> str:
        """Return the resourceVersion of an object as it was written last, "" where it was not or that is not known."""
        return self._versions.get(path, "")

    def put(
        self,
        what: str,
        path: str,
        before: Object,
        after: Object,
        *,
        part: str = "",
        repair: Repair | None = None,
        lasting: str = "",
    ) -> Object:
        """Replace an object, and return it as the API server has stored it.

        Args:
            what: how to call it when it cannot be taken back, e.g. ``volume pv-1``.
            path: where it is.
            before: as it was read.
            after: as it is to be.
            part: the subresource that is written, e.g. ``status``.
            repair: what of it can be taken back where it has moved on.
            lasting: why it cannot be taken back at all, "" where it can.

        Raises:
            ClusterError: it was refused, or nobody knows whether it was done.
        """
        where = f"{path}/{part}" if part else path
        undo = partial(self._refuse_undo, lasting) if lasting else partial(self._put_back, path, where, before, repair)
        # Noted before it is sent: after an interrupt it is not known whether the write was done ("": no version).
        self._back.append((self.owner, what, undo))
        earlier = self._versions.get(path, "")
        self._versions[path] = ""
        try:
            stored = self._send_object("PUT", where, after)
        except ClusterError as fault:
            if not_done(fault):
                self._back.pop()
                self._versions[path] = earlier  # an earlier write of the same object is still the last one
            raise
        if self.dry_run:  # nothing was stored, so the next write of this object has to name the version that is there
            stored["metadata"]["resourceVersion"] = _version(before)
        self._versions[path] = _version(stored)
        return stored

    def create(self, what: str, path: str, body: Object) -> Object:
        """Create an object, and return it as the API server has stored it.

        Raises:
            ClusterError: it was refused, or nobody knows whether it was done.
        """
        self._back.append((self.owner, what, partial(self._refuse_undo, "it is unknown whether it was created")))
        try:
            stored = self._send_object("POST", path, body)
        except ClusterError as fault:
            if not_done(fault):
                self._back.pop()
            raise
        object_path = f"{path}/{stored['metadata']['name']}"
        self._versions[object_path] = _version(stored)
        self._back[-1] = (self.owner, what, partial(self._delete, object_path, stored["metadata"]["uid"]))
        return stored

    def keep(self, owner: str) -> None:
        """Let what was written for somebody stay."""
        self._back = [entry for entry in self._back if entry[0] != owner]

    def take_back(self) -> list[str]:
        """Undo every write that is not kept, the last first, and return what is left and why; nothing is raised."""
        left = []
        while self._back:
            _, what, undo = self._back.pop()
            if self.dry_run:
                continue
            try:
                undo()
            except BaseException as fault:  # an interrupt gives up one write, and the others are still taken back
                left.append(f"{what} could not be changed back: {fault_text(fault)}")
        return left

    @staticmethod
    def _refuse_undo(why: str) -> None:
        raise ClusterError(why)

    def _put_back(self, path: str, where: str, before: Object, repair: Repair | None) -> None:
        version, target = self._versions[path], before
        if version == _LEFT:
            return
        for _ in range(_TRIES):
            if version and self._is_put(path, where, target, version):
                return
            now = self._read(path)
            if now is None or _version(now) == _version(before):  # gone, or the write without an answer was not done
                return
            repaired = repair(now) if repair is not None else None
            self._versions[path] = _LEFT
            if repaired is None:
                raise ClusterError("it has changed since")
            target, version = repaired, _version(now)
        raise ClusterError("it keeps changing")

    def _is_put(self, path: str, where: str, target: Object, version: str) -> bool:
        """Put something back, and return whether the object was still in that version."""
        body = {**target, "metadata": {**target["metadata"], "resourceVersion": version}}
        try:
            stored = self._send_object("PUT", where, body)
        except Refused as fault:
            if fault.code in (CONFLICT, NOT_FOUND):
                return False
            raise
        if self._versions[path] != _LEFT:
            self._versions[path] = _version(stored)
        return True

    def _delete(self, path: str, uid: str) -> None:
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        try:
            self.send("DELETE", path, options)
        except Refused as fault:
            if fault.code != NOT_FOUND:
                raise

    def _read(self, path: str) -> Object | None:
        try:
            return decode_object(self._connection.get(path).body)
        except Refused as fault:
            if fault.code == NOT_FOUND:
                return None
            raise


def not_done(fault: ClusterError) -> bool:
    """Return whether it is certain that a change was not made; a server in trouble may have made it all the same."""
    # Only an API server gives a reason for a refusal: what a proxy says of a request that it has passed on proves
    # nothing. 429 is sent without a reason by the API server as well.
    if isinstance(fault, Refused):
        return fault.code == TOO_MANY_REQUESTS or (fault.code < INTERNAL_ERROR and bool(fault.reason))
    return not (isinstance(fault, Unanswered) and fault.sent)


def fault_text(fault: BaseException) -> str:
    """Return what a fault says; an interrupt says nothing by itself."""
    return str(fault) or ("interrupted" if isinstance(fault, KeyboardInterrupt) else type(fault).__name__)


def _version(obj: Object) -> str:
    version: str = obj["metadata"].get("resourceVersion", "")  # what was created in a dry run has none
    return version
