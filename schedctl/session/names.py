"""The names in a question, which are others in a state that was redacted; `redactions` has those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from schedctl.api.selectors import LabelQuery
    from schedctl.simulation.what_ifs import WhatIf
    from schedctl.sources import Manifests


class Names:
    """The names in a question, as the state has them: here as they were written."""

    def name(self, text: str) -> str:
        """Return the name of an object."""
        return text

    def namespace(self, text: str) -> str:
        """Return the name of a namespace."""
        return text

    def label(self, key: str, value: str) -> str:
        """Return the value of a label or taint."""
        return value

    def query(self, query: LabelQuery) -> LabelQuery:
        """Return a selector."""
        return query

    def choice_of_nodes(self, text: str) -> str:
        """Return what chooses nodes, see `schedctl.simulation.node_choices`."""
        return text

    def what_if(self, change: WhatIf) -> WhatIf:
        """Return a what-if."""
        return change

    def file(self, path: str) -> str:
        """Return the name of a file of which the objects are part of the question."""
        return path

    def manifests(self, read: Manifests) -> Manifests:
        """Return what is to be created."""
        return read


AS_WRITTEN: Final = Names()
"""The names where nothing is redacted."""
