"""The names that a shell is offered, from files or from the live cluster, within a time that nobody notices.

Nothing that goes wrong is reported: what cannot be read in time is not offered.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedctl.live.kubeconfigs import Access

MOST_BYTES = 4 << 20
"""Files larger than this, all together, are not read to complete a name."""
SECONDS = 2.0
"""How long a live cluster may take."""


def in_files(kind: str, namespace: str, paths: Sequence[str]) -> list[str]:
    """Return the names of a kind in the files named so far.

    Args:
        kind: as manifests write it; ``Namespace`` finds the namespaces of pods, too.
        namespace: the one to look into, "" for all.
        paths: as ``-f`` has them.
    """
    from schedctl import sources
    from schedctl.errors import SchedctlError
    from schedctl.sources import files

    named = [path for path in paths if path != files.STDIN]
    found = files.find(named, recursive=True, stdin_filename="", problems=[], warnings=[])
    if not found or sum(source.size for source in found) > MOST_BYTES:
        return []
    try:
        objects = sources.load(named).objects
    except SchedctlError:
        return []
    if kind == "Namespace":
        spaces = {one.object.metadata.namespace for one in objects if one.kind.name == "Pod"}
        return sorted(spaces | {one.object.metadata.name for one in objects if one.kind.name == kind})
    return [
        one.object.metadata.name
        for one in objects
        if one.kind.name == kind and namespace in ("", one.object.metadata.namespace)
    ]


def in_cluster(kind: str, namespace: str | None, access: Access) -> list[str]:
    """Return the names of a kind in the live cluster, none where it takes longer than `SECONDS`.

    Args:
        kind: as manifests write it.
        namespace: the one to look into, "" for all, None for that of the context.
        access: which cluster, and as whom.
    """

    def names() -> list[str]:
        import msgspec

        from schedctl.api.kinds import kind_named
        from schedctl.live.connections import Connection
        from schedctl.live.objects import Head, collection
        from schedctl.live.pages import pages

        connection = Connection.open(access)
        looked_into = (connection.namespace or "default") if namespace is None else namespace
        path = collection(kind_named(kind), looked_into)
        items = (item for page in pages(connection, path) for item in page.items)
        return [msgspec.json.decode(item, type=Head).metadata.name for item in items]

    return _within_time(names)


def contexts(kubeconfig: str) -> list[str]:
    """Return the names of the contexts of a kubeconfig, "" for the usual ones."""
    from schedctl.live import kubeconfigs

    try:
        return kubeconfigs.context_names(kubeconfig)
    except Exception:  # a shell has nowhere to show it
        return []


def _within_time(ask: Callable[[], list[str]]) -> list[str]:
    answer: list[str] = []

    def run() -> None:
        try:
            answer.extend(ask())
        except Exception:  # a shell has nowhere to show it
            answer.clear()

    # A daemon: a credential plugin that hangs must not keep the shell waiting when the process wants to end.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return [] if thread.is_alive() else answer
