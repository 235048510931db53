"""Signatures that rest on how a pod is written, and on nothing else.

A plugin whose signature may read a pod's own claims is asked for it about every pod. Of nearly all pods there is
nothing of the kind to read, as their template shows already; of those it need not be asked a second time.
"""

from __future__ import annotations

from collections.abc import Hashable


class AsWritten(tuple[Hashable, ...]):
    """A signature that all pods have that are written alike, whatever they are called and whatever the cluster holds.

    It equals the tuple of what it is made of, and says besides that the plugin gives it to every pod with equal
    namespace, labels, owner references, spec and grants of the kubelet.
    """

    __slots__ = ()


AS_WRITTEN = AsWritten()
"""Nothing is read of pods that are written like this one."""
