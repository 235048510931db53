"""Plain values against struct types: what is of the wrong type, what is missing, what is misspelt.

msgspec decodes right input in one go and stops at the first wrong field. This walk is for the other inputs, and for
what people wrote by hand: it visits every field that the struct reads and finds everything there is to find.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from schedctl.api import devices, quantities, storage
from schedctl.api.meta import Quantity
from schedctl.api.nodes import NodeSpec
from schedctl.api.pods import PersistentVolumeClaimSpec, PodSpec
from schedctl.documents.findings import IGNORED, Finding, Path, describe_value, path_text, quote
from schedctl.documents.spelling import CLOSE, nearest
from schedctl.sources.known_fields import KNOWN, SOURCES

_UNIONS = (Union, UnionType)
_UNIT_SLIPS = {"b": "", "gb": "G", "mb": "M", "kb": "k", "tb": "T", "gib": "Gi", "mib": "Mi", "kib": "Ki", "tib": "Ti"}


class Examination(msgspec.Struct):
    """One object under examination.

    Attributes:
        spelling: whether to look for misspelt fields.
        findings: what was found, in the order of the struct's walk.
        around: the structs around the value at hand, outermost first.
    """

    spelling: bool
    findings: list[Finding] = msgspec.field(default_factory=list)
    around: list[tuple[type[msgspec.Struct], Path]] = msgspec.field(default_factory=list)

    def wrong(self, path: Path, expected: str, value: Any, hint: str = "") -> None:
        """Note a value of the wrong type."""
        self.findings.append(Finding(path, f"expected {expected}, got {describe_value(value)}", hint))


Reader = Callable[[Examination, Any, Path], Any]
"""Returns the value as it is to be converted; the value is not None."""


def examine(value: Any, struct: type[msgspec.Struct], *, spelling: bool) -> tuple[Any, list[Finding]]:
    """Return the value ready for `msgspec.convert`, and everything that is wrong with it.

    The value is as the API server would have understood it: null is an absent field, and the zero value in a list or
    map; ``2.0`` is the integer 2.

    Args:
        value: a decoded object.
        struct: what it is to become.
        spelling: whether to look for misspelt fields as well.
    """
    examination = Examination(spelling)
    return _struct(struct)(examination, value, ()), examination.findings


@cache
def _struct(struct: type[msgspec.Struct]) -> Reader:
    return _Struct(struct).read


class _Struct:
    """How to read one struct type; its fields are looked at when first needed, so types may refer to each other."""

    def __init__(self, struct: type[msgspec.Struct]) -> None:
        self.struct = struct
        self.fields: dict[str, Reader] = {}
        self.required: dict[str, Callable[[], Any]] = {}

    def prepare(self) -> None:
        # `msgspec.inspect` would describe all structs below this one, and do so again for each of those.
        fields = msgspec.structs.fields(self.struct)
        self.required = {one.encode_name: _zero(one.type) for one in fields if one.required}
        self.fields = {one.encode_name: _reader(one.type) for one in fields}

    def read(self, examination: Examination, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            examination.wrong(path, "a mapping", value)
            return {}
        if not self.fields:
            self.prepare()
        examination.around.append((self.struct, path))
        fields, result = self.fields, {}
        for name, inner in value.items():
            reader = fields.get(name)
            if reader is None:
                if examination.spelling:
                    _check_spelling(examination, self.struct, name, path)
            elif inner is not None:
                result[name] = reader(examination, inner, (*path, name))
        if examination.spelling and self.struct in SOURCES:
            _check_sources(examination, SOURCES[self.struct], value, path)
        for name, zero in self.required.items():
            if name not in result:
                result[name] = zero()
                examination.findings.append(Finding((*path, name), f"the field {quote(name)} is required"))
        examination.around.pop()
        return result


def _reader(annotation: Any) -> Reader:
    """Return how to read a value of a type."""
    bare, meta = _without_meta(annotation)
    origin, arguments = get_origin(bare), get_args(bare)
    if origin in _UNIONS:
        options = [option for option in arguments if option is not NoneType]
        if len(options) == 1:
            return _reader(options[0])
        return _quantity if float in options else _integer_or_text
    if origin is list:
        return _list(_reader(arguments[0]), _zero(arguments[0]))
    if origin is dict:
        return _map(_reader(arguments[1]), _zero(arguments[1]))
    if _is_struct(bare):
        return _struct(bare)
    if bare is int:
        return _integer(meta.ge, meta.le) if meta else _integer(None, None)
    if bare is str and meta and meta.pattern:
        return _time(re.compile(meta.pattern))
    return _truth if bare is bool else _text


def _zero(annotation: Any) -> Callable[[], Any]:
    """Return a maker of what null means inside a list or map."""
    bare, _ = _without_meta(annotation)
    origin = get_origin(bare)
    if origin in _UNIONS:
        return (lambda: None) if NoneType in get_args(bare) else (lambda: "0")
    if origin is dict or _is_struct(bare):
        return dict
    return {int: int, bool: bool, list: list}.get(origin or bare, str)


def _is_struct(bare: Any) -> bool:
    return isinstance(bare, type) and issubclass(bare, msgspec.Struct)


def _without_meta(annotation: Any) -> tuple[Any, msgspec.Meta | None]:
    """Return a type, and the limits that it has been annotated with."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    bare, *notes = get_args(annotation)
    return bare, next((note for note in notes if isinstance(note, msgspec.Meta)), None)


def _list(item: Reader, zero: Callable[[], Any]) -> Reader:
    def read(examination: Examination, value: Any, path: Path) -> Any:
        if not isinstance(value, list):
            hint = 'a list item begins with "- "' if isinstance(value, dict) else ""
            examination.wrong(path, "a list", value, hint)
            return []
        return [zero() if one is None else item(examination, one, (*path, i)) for i, one in enumerate(value)]

    return read


def _map(item: Reader, zero: Callable[[], Any]) -> Reader:
    def read(examination: Examination, value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            examination.wrong(path, "a mapping", value)
            return {}
        return {name: zero() if one is None else item(examination, one, (*path, name)) for name, one in value.items()}

    return read


def _text(examination: Examination, value: Any, path: Path) -> Any:
    if isinstance(value, str):
        return value
    hint = ""
    if isinstance(value, bool):
        hint = "put it in quotes; YAML reads yes, no, on, off, y and n as true and false, too"
    elif isinstance(value, int | float):
        hint = "put it in quotes"
    examination.wrong(path, "text", value, hint)
    return ""


def _time(written: re.Pattern[str]) -> Reader:
    def read(examination: Examination, value: Any, path: Path) -> Any:
        if isinstance(value, str) and written.match(value):
            return value
        examination.wrong(path, 'a time such as "2026-01-31T12:00:00Z"', value)
        return "1970-01-01T00:00:00Z"

    return read


def _truth(examination: Examination, value: Any, path: Path) -> Any:
    if isinstance(value, bool):
        return value
    hint = "write it without quotes" if isinstance(value, str) and value.lower() in ("true", "false") else ""
    examination.wrong(path, "true or false", value, hint)
    return False


def _integer(least: int | float | None, most: int | float | None) -> Reader:
    def read(examination: Examination, value: Any, path: Path) -> Any:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            hint = "write it without quotes" if isinstance(value, str) and value.lstrip("-").isdecimal() else ""
            examination.wrong(path, "an integer", value, hint)
            return 0
        if (least is not None and value < least) or (most is not None and value > most):
            bits = 64 if most is None or most > 1 << 32 else 32
            examination.wrong(path, f"an integer of at most {bits} bits", value)
            return 0
        return value

    return read


def _integer_or_text(examination: Examination, value: Any, path: Path) -> Any:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31):
        return value
    examination.wrong(path, "an integer or text", value)
    return 0


_NUMBER_AND_UNIT = re.compile(r"[+-]?[0-9.]+ *[A-Za-z]+")
_UNITS = (
    "units are m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi and Ei; the API server says: quantities must match the regular"
    " expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def _quantity(examination: Examination, value: Any, path: Path) -> Any:
    if not isinstance(value, bool) and isinstance(value, str | int | float):
        if _is_quantity(value):
            return value
        meant = _quantity_hint(value) if isinstance(value, str) else ""
        hint = f'did you mean "{meant}"?' if meant else ""
        if isinstance(value, str) and not meant and _NUMBER_AND_UNIT.fullmatch(value):
            hint = _UNITS
        examination.wrong(path, 'a quantity such as "500m" or "2Gi"', value, hint)
    else:
        examination.wrong(path, 'a quantity such as "500m" or "2Gi"', value)
    return "0"


@lru_cache(maxsize=4096, typed=True)
def _is_quantity(value: str | int | float) -> bool:
    try:
        msgspec.convert(value, Quantity)
        quantities.parse(value)
    except (msgspec.ValidationError, ValueError, OverflowError):
        return False
    return True


def _quantity_hint(text: str) -> str:
    number = text.replace(" ", "").rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = text.replace(" ", "")[len(number) :]
    for guess in (unit, _UNIT_SLIPS.get(unit.lower(), unit), unit.lower(), unit.capitalize(), unit.upper()):
        if number and _is_quantity(number + guess):
            return number + guess
    return ""


def _check_sources(examination: Examination, sources: frozenset[str], value: dict[str, Any], path: Path) -> None:
    """Refuse a volume that has two sources; here, because most of the sources are never read."""
    found = [name for name, source in value.items() if name in sources and source is not None]
    for name in found[1:]:
        message = f"a volume has one source, but this one already has {found[0]}"
        examination.findings.append(Finding((*path, name), message, at_key=True))


def _check_spelling(examination: Examination, struct: type[msgspec.Struct], name: str, path: Path) -> None:
    """Warn of a field that Kubernetes does not have and that looks like, or belongs to, one that scheduling reads."""
    known = KNOWN.get(struct)
    if known is None or name in known:
        return
    proper = _proper_path(examination.around, struct, name, path)
    meant = "" if proper else nearest(name, _fields(struct), cutoff=CLOSE)
    if proper or meant:
        hint = f'it belongs at "{path_text(proper)}"' if proper else f'did you mean "{meant}"?'
        message = f"unknown field {quote(name)}{IGNORED}"
        examination.findings.append(Finding((*path, name), message, hint, warning=True, at_key=True, strict=True))


def _proper_path(around: list[tuple[type, Path]], struct: type[msgspec.Struct], name: str, path: Path) -> Path:
    """Return where a spec's field belongs that was put too deep or not deep enough; () if it is neither."""
    if name in _VAGUE:
        return ()
    below = next(((*path, *down, name) for spec, down in _specs_below(struct) if name in _fields(spec)), ())
    if below:
        return below
    return next(
        ((*outer_path, name) for outer, outer_path in reversed(around) if outer in _SPECS and name in _fields(outer)),
        (),
    )


_SPECS: tuple[type[msgspec.Struct], ...] = (
    *(PodSpec, NodeSpec, PersistentVolumeClaimSpec, storage.PersistentVolumeSpec, storage.CSINodeSpec),
    *(storage.CSIDriverSpec, storage.VolumeAttachmentSpec, devices.ResourceClaimSpec, devices.DeviceClaim),
    *(devices.ExactDeviceRequest, devices.CapacityRequirements, devices.ResourceSliceSpec, devices.DeviceClassSpec),
    devices.DeviceTaintRuleSpec,
)
"""Structs with fields of telling names."""
_VAGUE = frozenset(("os", "priority", "resources", "restartPolicy"))


@cache
def _specs_below(struct: type[msgspec.Struct]) -> tuple[tuple[type[msgspec.Struct], Path], ...]:
    found: list[tuple[type[msgspec.Struct], Path]] = []
    for one in msgspec.structs.fields(struct):
        inner = next((option for option in get_args(one.type) if option in _SPECS), one.type)  # X of X | None
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            if inner in _SPECS:
                found.append((inner, (one.encode_name,)))
            else:
                found.extend((spec, (one.encode_name, *down)) for spec, down in _specs_below(inner))
    return tuple(found)


@cache
def _fields(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    return tuple(one.encode_name for one in msgspec.structs.fields(struct))
