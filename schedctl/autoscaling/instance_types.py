"""A catalogue of instance types with their sizes and prices, read from CSV or JSON as people export it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from schedctl.api import node_labels, topology
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node, NodeSpec, NodeStatus
from schedctl.api.quantities import parse
from schedctl.autoscaling.groups import NodeTemplate, TemplateField
from schedctl.documents.spelling import did_you_mean, nearest
from schedctl.errors import InputError, Problem

GPU = "nvidia.com/gpu"
_AWS = "karpenter.k8s.aws/instance-"
LABELS = frozenset(
    (
        node_labels.INSTANCE_TYPE,
        node_labels.ARCHITECTURE,
        node_labels.OPERATING_SYSTEM,
        *(f"{_AWS}{each}" for each in ("family", "size", "category", "generation", "cpu", "memory", "gpu-count")),
    )
)
"""The labels that a catalogue gives types, or by their absence says that they lack."""
_FIELDS = ("name", "cpu", "memory", "pods", "gpu", "architecture", "zones", "pricePerHour", "spot")
_ALIASES = {
    "instancetype": "name",
    "type": "name",
    "apiname": "name",
    "vcpu": "cpu",
    "vcpus": "cpu",
    "cpus": "cpu",
    "cores": "cpu",
    "memorygib": "memoryGiB",
    "memorygb": "memoryGiB",
    "memorymib": "memoryMiB",
    "ram": "memory",
    "maxpods": "pods",
    "gpus": "gpu",
    "gpucount": "gpu",
    "arch": "architecture",
    "zone": "zones",
    "availabilityzones": "zones",
    "price": "pricePerHour",
    "priceperhour": "pricePerHour",
    "hourlyprice": "pricePerHour",
    "ondemandprice": "pricePerHour",
    "spotprice": "spot",
}
"""Other names of the fields, in small letters without spaces, lines and brackets."""
_ARCHITECTURES = {"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64"}
_BINARY = {"memoryGiB": 30, "memoryMiB": 20}
_SEPARATORS = re.compile(r"[;,|\s]+")


class Offering(msgspec.Struct, frozen=True):
    """What a type costs.

    Attributes:
        price: per hour, None where that is not known.
        spot: whether it is spot capacity.
        zones: where, empty for everywhere.
    """

    price: float | None
    spot: bool = False
    zones: tuple[str, ...] = ()


class InstanceType(msgspec.Struct, frozen=True):
    """One type of node.

    Attributes:
        name: its name.
        cpu: in millicores.
        memory: in bytes.
        pods: how many pods it takes at most.
        gpu: how many GPUs it has.
        architecture: as Kubernetes names it.
        offerings: what it costs.
        source: the file, and the place in it.
    """

    name: str
    cpu: int
    memory: int
    pods: int = 110
    gpu: int = 0
    architecture: str = "amd64"
    offerings: tuple[Offering, ...] = ()
    source: str = ""

    @property
    def zones(self) -> tuple[str, ...]:
        """Where it can be had, empty for everywhere."""
        if any(not each.zones for each in self.offerings):
            return ()
        return tuple(dict.fromkeys(zone for each in self.offerings for zone in each.zones))

    def is_offered(self, zone: str, *, spot: bool) -> bool:
        """Return whether it can be had in a zone ("" for any), as spot capacity or not."""
        return any(each.spot is spot and (not zone or not each.zones or zone in each.zones) for each in self.offerings)

    def price(self, zone: str = "", *, spot: bool = False) -> float | None:
        """Return what it costs per hour in a zone, None where that is not known."""
        prices = [
            each.price
            for each in self.offerings
            if each.spot is spot and each.price is not None and (not zone or not each.zones or zone in each.zones)
        ]
        return min(prices, default=None)

    @property
    def labels(self) -> dict[str, str]:
        """The labels of a node that follow from its type, as cloud providers and Karpenter write them."""
        found = {node_labels.INSTANCE_TYPE: self.name, node_labels.ARCHITECTURE: self.architecture}
        found[node_labels.OPERATING_SYSTEM] = "linux"
        family, dot, size = self.name.partition(".")
        if dot:
            found |= {f"{_AWS}family": family, f"{_AWS}size": size}
            shape = re.match(r"([a-z]+)(\d+)", family)
            if shape is not None:
                found |= {f"{_AWS}category": shape[1], f"{_AWS}generation": shape[2]}
        found |= {f"{_AWS}cpu": str(self.cpu // 1000), f"{_AWS}memory": str(self.memory >> 20)}
        return found | ({f"{_AWS}gpu-count": str(self.gpu)} if self.gpu else {})

    def template(self, group: str, zone: str = "", *, spot: bool = False) -> NodeTemplate:
        """Return a new node of a group that is of this type."""
        zones = {topology.ZONE: zone} if zone else {}
        offered = {"cpu": f"{self.cpu}m", "memory": str(self.memory), "pods": str(self.pods)}
        offered |= {GPU: str(self.gpu)} if self.gpu else {}
        node = Node(
            metadata=ObjectMeta(name=group, labels=self.labels | zones),
            spec=NodeSpec(),
            status=NodeStatus(allocatable=dict(offered), capacity=dict(offered)),
        )
        origin = f"instance type {self.name}"
        fields = [
            TemplateField("labels", origin),
            TemplateField("taints", "none"),
            TemplateField("allocatable", origin),
        ]
        fields.append(TemplateField("daemons", "DaemonSets of the cluster"))
        price = self.price(zone, spot=spot)
        return NodeTemplate(node, zone, self.name, spot, price=price, fields=tuple(fields))


class Catalogue(msgspec.Struct, frozen=True):
    """The instance types there are.

    Attributes:
        types: by name.
        source: the file they are from, "" for none.
        digest: ``sha256:...`` of that file, "" for none.
    """

    types: Mapping[str, InstanceType] = msgspec.field(default_factory=dict)
    source: str = ""
    digest: str = ""

    def __bool__(self) -> bool:
        return bool(self.types)

    def hint(self, name: str) -> str:
        """Return which type may have been meant by a name that is not there."""
        return did_you_mean(name, tuple(self.types))


NO_TYPES = Catalogue()
"""No instance types."""


def load(path: str) -> Catalogue:
    """Return the instance types in a file.

    Raises:
        InputError: it cannot be read, or not understood; with every problem.
    """
    try:
        data = Path(path).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        message = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise InputError([Problem(message, path, hint="`--instance-types` takes a CSV or JSON file")]) from None
    except UnicodeDecodeError:
        raise InputError([Problem("this is not UTF-8 text", path, hint="save the file as UTF-8")]) from None
    problems: list[Problem] = []
    rows = _json_rows(text, path, problems) if text.lstrip()[:1] in ("[", "{") else _csv_rows(text, path, problems)
    types: dict[str, InstanceType] = {}
    for row, place in rows:
        found = _instance_type(row, place, problems)
        if found is not None:
            _add(types, found, place, problems)
    if not (types or problems):
        problems.append(Problem("no instance type in the file", path, hint=f"its columns are {', '.join(_FIELDS)}"))
    if problems:
        raise InputError(problems)
    return Catalogue(types, path, f"sha256:{hashlib.sha256(data).hexdigest()}")


class _Place(msgspec.Struct, frozen=True):
    source: str
    line: int = 0
    path: str = ""

    def problem(self, message: str, name: str, hint: str = "") -> Problem:
        path = f"{self.path}.{name}" if self.path else name
        return Problem(message, self.source, self.line, 1 if self.line else 0, path, hint=hint)


_Rows = Iterable[tuple[dict[str, Any], _Place]]


def _add(types: dict[str, InstanceType], found: InstanceType, place: _Place, problems: list[Problem]) -> None:
    """Add a type; further rows of one name are further prices of it."""
    before = types.get(found.name)
    if before is None:
        types[found.name] = found
        return
    shape = (before.cpu, before.memory, before.pods, before.gpu, before.architecture)
    if shape != (found.cpu, found.memory, found.pods, found.gpu, found.architecture):
        message = f"{found.name} has another size here than in {before.source}"
        problems.append(place.problem(message, "name", "rows of one name differ in zones, price and spot only"))
        return
    offerings = (*before.offerings, *found.offerings)
    types[found.name] = InstanceType(found.name, *shape, offerings, before.source)


def _field_name(written: str) -> str:
    plain = re.sub(r"[\s_()\[\]/-]", "", written).lower()
    if plain in _ALIASES:
        return _ALIASES[plain]
    return next((each for each in _FIELDS if each.lower() == plain), written)


def _csv_rows(text: str, path: str, problems: list[Problem]) -> Iterator[tuple[dict[str, Any], _Place]]:
    try:
        dialect: Any = csv.Sniffer().sniff(text[:4096], ",;\t")
    except csv.Error:
        dialect = csv.excel
    reader = csv.reader(io.StringIO(text), dialect)
    heads: Sequence[str] = ()
    for cells in _cells(reader, path, problems):
        if not any(cell.strip() for cell in cells) or cells[0].startswith("#"):
            continue
        if not heads:
            heads = [_field_name(cell.strip()) for cell in cells]
            _check_heads(heads, _Place(path, reader.line_num), problems)
            continue
        values = {head: cell.strip() for head, cell in zip(heads, cells, strict=False) if cell.strip()}
        yield values, _Place(path, reader.line_num)


def _cells(reader: Any, path: str, problems: list[Problem]) -> Iterator[list[str]]:
    """Yield the rows of a CSV file up to the first that cannot be read."""
    try:
        yield from reader
    except csv.Error as error:
        problems.append(Problem(f"this is not CSV: {error}", path, reader.line_num, hint="is a quote left open?"))


def _check_heads(heads: Sequence[str], place: _Place, problems: list[Problem]) -> None:
    names = (*_FIELDS, *_ALIASES)
    unknown = (head for head in heads if head not in (*_FIELDS, *_BINARY))
    misspelt = {head: _ALIASES.get(close, close) for head in unknown if (close := nearest(head, names))}
    missing = [each for each in ("name", "cpu") if each not in heads]
    if not any(each in heads for each in ("memory", *_BINARY)):
        missing.append("memory")
    problems += (
        place.problem(f'unknown column "{head}"', head, f"did you mean {close}?") for head, close in misspelt.items()
    )
    problems += (
        place.problem(f'no column "{each}"', each, f"the columns are {', '.join(_FIELDS)}")
        for each in missing
        if each not in misspelt.values()
    )


def _json_rows(text: str, path: str, problems: list[Problem]) -> Iterator[tuple[dict[str, Any], _Place]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        column = error.colno if isinstance(error, json.JSONDecodeError) else 0
        problems.append(Problem("this is not JSON", path, line, column, hint="a list of objects, one for each type"))
        return
    prefix = ""
    if isinstance(value, dict):
        prefix = next((key for key in ("instanceTypes", "types", "items") if isinstance(value.get(key), list)), "")
        value = value.get(prefix)
    if not isinstance(value, list):
        hint = 'write `[{"name": …, "cpu": …, "memory": …}, …]`'
        problems.append(Problem("expected a list of instance types", path, hint=hint))
        return
    for index, row in enumerate(value):
        place = _Place(path, path=f"{prefix}[{index}]")
        if isinstance(row, dict):
            yield {_field_name(str(key)): each for key, each in row.items()}, place
        else:
            problems.append(place.problem("expected an object", ""))


def _instance_type(row: Mapping[str, Any], place: _Place, problems: list[Problem]) -> InstanceType | None:
    before = len(problems)
    name = str(row.get("name") or "")
    if not name:
        problems.append(place.problem("an instance type has no name", "name"))
    cpu = _amount(row, "cpu", place, problems, milli=True)
    memory_field = next((each for each in ("memory", *_BINARY) if row.get(each) not in (None, "")), "memory")
    memory = _amount(row, memory_field, place, problems, shift=_BINARY.get(memory_field, 0))
    pods = _amount(row, "pods", place, problems, default=110)
    gpu = _amount(row, "gpu", place, problems, default=0)
    zones = row.get("zones") or ()
    zones = [each for each in _SEPARATORS.split(zones) if each] if isinstance(zones, str) else zones
    if not isinstance(zones, list | tuple) or not all(isinstance(each, str) for each in zones):
        problems.append(place.problem("expected zones, with ; between them", "zones"))
        zones = ()
    offerings = _offerings(row, tuple(zones), place, problems)
    architecture = str(row.get("architecture") or "amd64")
    if len(problems) > before:
        return None
    source = f"{place.source}:{place.line}" if place.line else f"{place.source} {place.path}"
    architecture = _ARCHITECTURES.get(architecture, architecture)
    return InstanceType(name, cpu, memory, pods, gpu, architecture, offerings, source)


def _offerings(
    row: Mapping[str, Any], zones: tuple[str, ...], place: _Place, problems: list[Problem]
) -> tuple[Offering, ...]:
    """Return the prices of a row: `spot` says that its price is that of spot capacity, or what spot capacity costs."""
    price = _price(row.get("pricePerHour"), "pricePerHour", place, problems)
    spot = row.get("spot")
    if spot in (None, "") or str(spot).lower() in ("false", "no"):
        return (Offering(price, spot=False, zones=zones),)
    if str(spot).lower() in ("true", "yes"):
        return (Offering(price, spot=True, zones=zones),)
    cheaper = _price(spot, "spot", place, problems)
    return Offering(price, spot=False, zones=zones), Offering(cheaper, spot=True, zones=zones)


def _price(written: Any, name: str, place: _Place, problems: list[Problem]) -> float | None:
    if written in (None, ""):
        return None
    text = str(written).strip().lstrip("$€£").strip()
    try:
        price = float(text)
    except ValueError:
        price = -1.0
    if not 0 <= price < 1e6:
        problems.append(place.problem(f'"{written}" is not a price', name, "a number per hour, e.g. 0.192"))
        return None
    return price


def _amount(
    row: Mapping[str, Any],
    name: str,
    place: _Place,
    problems: list[Problem],
    *,
    default: int | None = None,
    milli: bool = False,
    shift: int = 0,
) -> int:
    written = row.get(name)
    if written in (None, ""):
        if default is None:
            problems.append(place.problem(f'the field "{name}" is required', name))
        return default or 0
    if shift:
        try:
            amount = int(float(written) * (1 << shift))
        except (TypeError, ValueError, OverflowError):  # the last for `inf`
            amount = -1
    else:
        try:
            quantity = parse(str(written))
            amount = quantity.milli_value if milli else quantity.value
        except ValueError:
            amount = -1
    if amount < 0 or (default is None and not amount):
        problems.append(place.problem(f'"{written}" is not an amount', name, "a quantity, e.g. 4 or 16Gi"))
        return 0
    return amount
