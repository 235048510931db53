"""What text is before it means anything: a tree of values that know their line and column.

`yaml_trees` and `json_trees` read them. Both are safe: depth and size are bounded, so a document built to blow up ends
in a `DocumentError`, soon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

MAX_DEPTH: Final = 100
"""How deep lists and mappings may nest; a configuration needs about a dozen levels."""
MAX_SIZE: Final = 20_000
"""How many values a document may hold, an alias counted as what it stands for; a configuration has some hundreds."""

TOO_DEEP: Final = f"nests deeper than {MAX_DEPTH} levels"
TOO_LARGE: Final = f"has more than {MAX_SIZE} values, counting those that aliases repeat"


class DocumentError(Exception):
    """Text that is neither YAML nor JSON; `line` and `column` are 1-based, 0 when unknown; `hint` may be ""."""

    def __init__(self, message: str, line: int = 0, column: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.hint = hint


@dataclass(slots=True)
class Node:
    """A value and where it stands.

    Attributes:
        value: None, a bool, int, float or str; a list of nodes; or a list of pairs of a key node and its value's node.
        line: 1-based.
        column: 1-based.
        is_mapping: whether `value` holds pairs.
        size: how many nodes it is made of, with aliases counted as what they stand for.
        depth: how many levels nest in it, aliases included.
    """

    value: Any
    line: int
    column: int
    is_mapping: bool = False
    size: int = 1
    depth: int = 0

    @property
    def is_list(self) -> bool:
        """Whether `value` holds nodes."""
        return isinstance(self.value, list) and not self.is_mapping

    def children(self) -> Iterator[Node]:
        """Yield the nodes directly beneath."""
        for child in self.value if isinstance(self.value, list) else ():
            if self.is_mapping:
                yield from child
            else:
                yield child

    def measure(self) -> Node:
        """Return the node after taking `size` and `depth` from what is beneath.

        Raises:
            DocumentError: it nests too deep.
        """
        for child in self.children():
            self.size += child.size
            self.depth = max(self.depth, child.depth + 1)
        if self.depth > MAX_DEPTH:
            raise DocumentError(TOO_DEEP, self.line, self.column)
        return self
