"""Device selectors: CEL expressions that say of a device whether it will do, exactly as kube-scheduler evaluates them.

`compile_selector` turns text into a `Selector`, which is asked about `DeviceView` after `DeviceView`. What needs the
CEL engine is in `selector_programs`, imported when the first selector is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from schedctl.api.devices import DeviceAttribute, DeviceCapacity
from schedctl.errors import NotModelled

if TYPE_CHECKING:
    from schedctl.cel.programs import Program

_PLUGIN = "DynamicResources"
_MOST_CONTENTS = 65_536
_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional "
    "fields"
)


class DeviceView(NamedTuple):
    """What a selector sees of a device.

    Attributes:
        driver: the driver, also the domain of names without one.
        attributes: by name as in the slice, with or without a domain.
        capacity: likewise.
        allow_multiple_allocations: whether several claims may share the device.
    """

    driver: str
    attributes: Mapping[str, DeviceAttribute] | None
    capacity: Mapping[str, DeviceCapacity] | None
    allow_multiple_allocations: bool


class SelectorError(Exception):
    """A selector failed on a device; the text is kube-scheduler's."""


class Selector:
    """A compiled selector.

    Attributes:
        expression: the text.
        error: why it does not compile, in kube-scheduler's words; "" if it does.
    """

    __slots__ = ("_program", "error", "expression")

    def __init__(self, expression: str) -> None:
        from schedctl.devices.selector_programs import DoesNotCompile, compile_selector

        expression.encode()  # fails here, not somewhere in the engine, on half of a character
        self.expression = expression
        self.error = ""
        self._program: Program | None = None
        try:
            self._program = compile_selector(expression)
        except DoesNotCompile as reason:
            self.error = str(reason)

    def matches(self, device: DeviceView) -> bool:
        """Return whether a device will do.

        Raises:
            SelectorError: the expression fails on this device.
            NotModelled: it needs what is not modelled.
        """
        content = content_of(device)
        verdict = content.verdicts.get(self)  # by identity of the selector: `compile_selector` makes one per text
        if verdict is None:
            verdict = content.verdicts[self] = self._verdict(content)
        if verdict.__class__ is str:
            raise SelectorError(verdict)
        return verdict  # type: ignore[return-value]

    def _verdict(self, content: Content) -> bool | str:
        """Return whether the device will do, or the error."""
        if self._program is None:
            raise ValueError(f"the selector does not compile: {self.error}")
        device = content.value
        if isinstance(device, str):
            return device
        from schedctl.devices import selector_programs

        try:
            return selector_programs.verdict(self._program, device)
        except RecursionError:
            raise NotModelled(_PLUGIN, "very deeply nested CEL expressions", "a device selector") from None


def with_hint(error: SelectorError) -> str:
    """Return an error as kube-scheduler words it since v1.37, with a hint where there is no such key."""
    # appended without a space before its full stop
    return f"{error}{_HINT}" if "no such key:" in str(error) else str(error)


@lru_cache(maxsize=1024)
def compile_selector(expression: str) -> Selector:
    """Return the compiled selector of a text; its `error` says whether it compiles.

    Raises:
        NotModelled: it needs what is not modelled.
    """
    try:
        return Selector(expression)
    except UnicodeEncodeError:  # half of a character: no API server would take it in
        raise NotModelled(_PLUGIN, "texts that are not Unicode", "a device selector") from None
    except RecursionError:
        raise NotModelled(_PLUGIN, "very deeply nested CEL expressions", "a device selector") from None


class Content:
    """The content of devices: CEL's value of it (or why it has none), and what expressions make of it.

    Devices are much alike, so each content is translated into CEL's values once, for all that have it.

    Attributes:
        verdicts: of selectors.
        derived: attributes by expression, or the error.
    """

    __slots__ = ("_device", "_value", "derived", "verdicts")

    def __init__(self, device: DeviceView) -> None:
        self._device = device
        self._value: Any = None
        self.verdicts: dict[Selector, bool | str] = {}
        self.derived: dict[str, DeviceAttribute | str] = {}

    @property
    def value(self) -> Any:
        """The device as a value of CEL; as text, the error that keeps it from being one."""
        if self._value is None:
            from schedctl.devices.selector_programs import device_value

            self._value = device_value(*self._device)
        return self._value


_by_identity: dict[tuple[str, int, int, bool], tuple[DeviceView, Content]] = {}
"""By the identity of a device's mappings, which are kept here so that the identity stays theirs."""
_by_content: dict[Any, Content] = {}


def content_of(device: DeviceView) -> Content:
    """Return the content of a device, one object for all that have the same."""
    driver, attributes, capacity, shared = device
    key = (driver, id(attributes), id(capacity), shared)
    known = _by_identity.get(key)
    if known is not None:
        return known[1]
    # Both at once: content that does not hash is kept by identity in the second as well, and the first keeps it alive.
    if len(_by_identity) >= _MOST_CONTENTS:
        _by_identity.clear()
        _by_content.clear()
    full: Any
    try:
        full = (driver, frozenset((attributes or {}).items()), frozenset((capacity or {}).items()), shared)
        content = _by_content.get(full)
    except TypeError:  # list-typed attributes do not hash
        full, content = key, None
    if content is None:
        content = _by_content[full] = Content(device)
    _by_identity[key] = (device, content)
    return content
