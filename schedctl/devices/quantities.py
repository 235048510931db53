"""Quantities as the device allocator handles them: exact sums, the text of errors, and equality of another kind.

Counters and capacities are added up and compared exactly; no quantity is finer than a nano-unit, so a whole number of
those will do. A policy's default is recognised not by its value but by the very representation that Go keeps of it
(`representation`), and errors print amounts in canonical form (`canonical`).
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache

from schedctl.api.meta import Quantity
from schedctl.api.quantities import Amount, parse

_SUFFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
DECIMAL, BINARY, EXPONENT = "DecimalSI", "BinarySI", "DecimalExponent"


@lru_cache(maxsize=65536, typed=True)
def nano(quantity: Quantity) -> int:
    """Return a quantity in nano-units."""
    return nano_amount(parse(quantity))


def nano_amount(amount: Amount) -> int:
    """Return an amount in nano-units."""
    return int(amount.unscaled * 10 ** (amount.exponent + 9))


@lru_cache(maxsize=8192, typed=True)
def form(quantity: Quantity) -> str:
    """Return the format a quantity is written in, which results of rounding inherit."""
    text = str(quantity)
    if text.endswith("i"):
        return BINARY
    return EXPONENT if "e" in text or re.search(r"E[+-]?[0-9]", text) else DECIMAL


@lru_cache(maxsize=8192, typed=True)
def representation(quantity: Quantity) -> Hashable | None:
    """Return what Go compares when two quantities are compared as structs, None where they are never equal.

    That is the scaled integer, the format, and the text where it was in canonical form already. Big decimals are
    pointers, each of its own.
    """
    text = str(quantity)
    amount = parse(quantity)
    if amount.big:
        return None
    if text == "0":
        return amount.unscaled, amount.exponent, DECIMAL, text
    written = form(quantity)
    match = re.match(r"[+-]?([0-9]*)(?:\.([0-9]*))?", text)
    assert match is not None
    digits = (match[1].lstrip("0") or "0") + (match[2] or "")
    if written == BINARY:
        kept = int(digits) & 7 != 0
    else:
        kept = amount.exponent % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")
    return amount.unscaled, amount.exponent, written, text if kept else ""


def canonical(amount: Amount, written: str) -> str:
    """Return the canonical text of an amount in a format.

    Decimals beyond the last suffix lose their magnitude, as they do in Go.
    """
    units = nano_amount(amount)
    if units == 0:
        return "0"
    whole, rest = divmod(abs(units), 10**9)
    sign = "-" if units < 0 else ""
    if written == BINARY and not rest and whole >= 1024:
        power = 0
        while whole % 1024 == 0:
            whole //= 1024
            power += 1
        return f"{sign}{whole}{_BINARY_SUFFIXES[power] if power < len(_BINARY_SUFFIXES) else ''}"
    mantissa, exponent = abs(units), -9
    while mantissa % 10 == 0:
        mantissa //= 10
        exponent += 1
    mantissa *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if written == EXPONENT:
        return f"{sign}{mantissa}{f'e{exponent}' if exponent else ''}"
    return f"{sign}{mantissa}{_SUFFIXES.get(exponent, '')}"
