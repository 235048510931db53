"""On what terms objects are read: as the state of a cluster, or as what is about to be created in one.

A state is taken as leniently as scheduling allows, because whoever asks about it cannot change how it came about. What
is about to be created is held to what the API server would say to it: every refusal is a problem, also of fields that
scheduling makes no use of, and of versions that are no longer served.
"""

from __future__ import annotations

import msgspec

from schedctl.api.custom_kinds import CustomKind
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.kinds import Kind


class Terms(msgspec.Struct, frozen=True):
    """How to read objects.

    Attributes:
        creating: whether they are about to be created; then problems of single objects are returned, not raised.
        custom_kinds: the kinds of other people's that are read as `CustomWorkload`.
        namespace: the namespace of objects that name none.
        kinds: other people's kinds that are read under their structs, as plugins ask for them.
        strict: whether a file in a folder that holds nothing of Kubernetes is a problem, and in what is about to be
            created a misspelt field or a repeated key.
    """

    creating: bool = False
    custom_kinds: tuple[CustomKind, ...] = ()
    namespace: str = DEFAULT_NAMESPACE
    kinds: tuple[Kind, ...] = ()
    strict: bool = False


READING = Terms()
"""A state, as files hold it."""
