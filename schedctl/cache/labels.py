"""Labels of a table's rows as int32 columns, one per key, built when first asked for.

A label selector then is a handful of comparisons over whole columns (`LabelColumns.select`), whatever the number of
rows. Texts are interned once for the whole cluster, so that codes of nodes and pods compare.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from schedctl.api.selectors import LabelQuery, Requirement, parse_int64
from schedctl.cache.arrays import ABSENT, BoolArray, CodeArray, IndexArray, IntArray, Interner, grow, read_only

_NO_LABELS: Mapping[str, str] = {}
_FEW = 8
"""Up to how many values it is cheaper to compare a column with each than to look up all at once."""


class Domains:
    """The values of one label key, numbered without gaps: the domains of a topology.

    Domain 0 is that of the rows without the label, so that a count by domain needs no special case for them.

    Attributes:
        values: the value of each domain; None for domain 0.
    """

    __slots__ = ("_codes", "_members", "_rows", "_single", "_sizes", "_view", "values")

    def __init__(self) -> None:
        self._sizes: IntArray | None = None
        self._view: IndexArray | None = None
        self._single: bool | None = None
        self._members: dict[int, IndexArray] = {}
        self.values: Interner[str | None] = Interner()
        self.values.code(None)
        self._codes: IndexArray = np.zeros(16, np.intp)
        self._rows = 0

    def __len__(self) -> int:
        return len(self.values)

    def put(self, row: int, value: str | None) -> None:
        """Set the value of a row, which may be the next new one."""
        self._codes = grow(self._codes, row + 1)
        self._codes[row] = self.values.code(value)
        self._rows = max(self._rows, row + 1)
        self._forget_columns()

    def shorten(self, rows: int) -> None:
        """Forget all rows but the first few."""
        self._rows = min(self._rows, rows)
        self._forget_columns()

    @property
    def are_single_rows(self) -> bool:
        """Whether no two rows share a domain."""
        if self._single is None:
            self._single = bool(self._size.max(initial=0) <= 1)
        return self._single

    def alone(self, row: int) -> bool:
        """Return whether no other row is in the domain of a row."""
        return self._size.item(self._codes.item(row)) == 1

    @property
    def is_complete(self) -> bool:
        """Whether every row has the label."""
        return not self._size[0]

    @property
    def with_rows(self) -> BoolArray:
        """Which domains have a row, bool (domains,)."""
        return self._size > 0

    @property
    def _size(self) -> IntArray:
        """How many rows each domain has, int64 (domains,)."""
        if self._sizes is None:
            self._sizes = np.bincount(self.codes, minlength=len(self.values))
        return self._sizes

    def members(self, domain: int) -> IndexArray:
        """Return the rows of a domain, intp, read-only; each is looked for once."""
        found = self._members.get(domain)
        if found is None:
            found = self._members[domain] = read_only(np.flatnonzero(self.codes == domain))
        return found

    def _forget_columns(self) -> None:
        self._sizes = self._view = self._single = None
        if self._members:
            self._members = {}

    def of(self, row: int) -> int:
        """Return the domain of a row."""
        return self._codes.item(row)

    @property
    def codes(self) -> IndexArray:
        """The domain of each row, intp (rows,), read-only."""
        if self._view is None:
            self._view = read_only(self._codes[: self._rows])
        return self._view


class LabelColumns:
    """The labels of each row of a table.

    `strings` is the cluster's interner; `maps` the label map of each row, which the table owns and keeps current
    through `put`.
    """

    __slots__ = ("_columns", "_domains", "_numbers", "maps", "strings")

    def __init__(self, strings: Interner[str]) -> None:
        self.strings = strings
        self.maps: list[Mapping[str, str]] = []
        self._columns: dict[str, CodeArray] = {}
        self._domains: dict[str, Domains] = {}
        self._numbers: dict[str, tuple[IntArray, BoolArray]] = {}

    def put(self, row: int, labels: Mapping[str, str] | None) -> None:
        """Set the labels of a row, which may be the next new one."""
        labels = labels or _NO_LABELS
        if row == len(self.maps):
            self.maps.append(labels)
        else:
            self.maps[row] = labels
        for key, column in self._columns.items():
            if row >= len(column):
                column = self._columns[key] = grow(column, row + 1, ABSENT)
            value = labels.get(key)
            column[row] = ABSENT if value is None else self.strings.code(value)
        for key, domains in self._domains.items():
            domains.put(row, labels.get(key))
        self._numbers.clear()

    def put_all(self, rows: Iterable[Mapping[str, str] | None]) -> None:
        """Set the labels of the next new rows."""
        if not (self._columns or self._domains):  # nobody has asked for a label yet, as when a cluster is loaded
            self.maps.extend(labels or _NO_LABELS for labels in rows)
            self._numbers.clear()
            return
        for labels in rows:
            self.put(len(self.maps), labels)

    def replace_all(self, rows: IndexArray, labels: Sequence[Mapping[str, str] | None]) -> None:
        """Set the labels of many rows that are there; pods of one template share theirs, which are read once."""
        held = [each or _NO_LABELS for each in labels]
        for row, each in zip(rows.tolist(), held, strict=True):
            self.maps[row] = each
        distinct = {id(each): each for each in held}
        place = {identity: number for number, identity in enumerate(distinct)}
        of = np.fromiter((place[id(each)] for each in held), np.intp, len(held))
        for key, column in self._columns.items():
            values = [each.get(key) for each in distinct.values()]
            column[rows] = np.array([ABSENT if v is None else self.strings.code(v) for v in values], np.int32)[of]
        for key, domains in self._domains.items():
            for row, each in zip(rows.tolist(), held, strict=True):
                domains.put(row, each.get(key))
        self._numbers.clear()

    def drop_last(self) -> None:
        """Forget the last row."""
        self.maps.pop()  # columns may be longer than this: what stands beyond is written over by the next row
        for domains in self._domains.values():
            domains.shorten(len(self.maps))
        self._numbers.clear()

    def domains(self, key: str) -> Domains:
        """Return the domains of a topology key, kept current from now on."""
        domains = self._domains.get(key)
        if domains is None:
            domains = self._domains[key] = Domains()
            for row, labels in enumerate(self.maps):
                domains.put(row, labels.get(key))
        return domains

    def column(self, key: str) -> CodeArray:
        """Return the codes of a label key for all rows, int32 (rows,), `ABSENT` where a row has no such label."""
        column = self._columns.get(key)
        if column is None:
            code = self.strings.code
            column = np.fromiter(
                (ABSENT if (v := labels.get(key)) is None else code(v) for labels in self.maps),
                np.int32,
                len(self.maps),
            )
            self._columns[key] = column
        return column[: len(self.maps)]

    def may_have(self, key: str, value: str) -> bool:
        """Return whether a row may have a label; where it was never seen at all, none has."""
        if key not in self._columns:
            self.column(key)  # with which its values have become known
        return value in self.strings.codes

    def select(self, query: LabelQuery) -> BoolArray:
        """Return which rows a selector selects, bool (rows,); owned by the caller."""
        if query.nothing:
            return np.zeros(len(self.maps), np.bool_)
        if not query.requirements:
            return np.ones(len(self.maps), np.bool_)
        first, *rest = query.requirements
        selected = self.meets(first)
        for requirement in rest:
            selected &= self.meets(requirement)
        return selected

    def meets(self, requirement: Requirement) -> BoolArray:
        """Return which rows meet one requirement, bool (rows,); owned by the caller."""
        column = self.column(requirement.key)
        if requirement.operator in ("Exists", "DoesNotExist"):
            there: BoolArray = column != ABSENT
            return there if requirement.operator == "Exists" else ~there
        if requirement.operator in ("In", "NotIn"):
            # the code of a value that no object has equals nothing, not even `ABSENT`; NotIn holds without the label
            codes = [self.strings.find_code(value) for value in requirement.values]
            found = _among(column, codes)
            return found if requirement.operator == "In" else ~found
        return self._compare(requirement)

    def _compare(self, requirement: Requirement) -> BoolArray:
        """Return which rows are beyond the bound of Gt or Lt; their numbers are read once and kept."""
        key = requirement.key
        if key not in self._numbers:
            read = [parse_int64(labels.get(key, "")) for labels in self.maps]
            self._numbers[key] = (
                np.array([number or 0 for number in read], np.int64),
                np.array([number is not None for number in read], np.bool_),
            )
        numbers, readable = self._numbers[key]
        bound = parse_int64(next(iter(requirement.values), ""))
        if bound is None:
            return np.zeros(len(numbers), np.bool_)
        beyond: BoolArray = numbers > bound if requirement.operator == "Gt" else numbers < bound
        return beyond & readable


def _among(column: CodeArray, codes: Sequence[int]) -> BoolArray:
    """Return which codes of a column are among a few, bool (rows,)."""
    if len(codes) > _FEW:
        return np.isin(column, codes)
    found: BoolArray = column == codes[0]
    for code in codes[1:]:
        found |= column == code
    return found
