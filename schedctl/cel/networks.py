"""IP addresses and CIDR networks, as strict as Go's netip and with its error texts."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from schedctl.cel import values
from schedctl.cel.declarations import declare
from schedctl.cel.values import Failure, Value


class AddressError(ValueError):
    """A text that is not an address or network; says why in Go's words."""


class Address(NamedTuple):
    """An IP address: 32 or 128 bits, and for the latter perhaps a zone."""

    bits: int
    value: int
    zone: str = ""

    @property
    def is_mapped(self) -> bool:
        """Whether it is an IPv4 address written as IPv6, ``::ffff:1.2.3.4``."""
        return self.bits == 128 and self.value >> 32 == 0xFFFF

    def __str__(self) -> str:
        """Return the canonical text."""
        return str(IPv4Address(self.value) if self.bits == 32 else IPv6Address(self.value))

    def under(self, length: int) -> int:
        """Return the first bits of the address."""
        return self.value >> (self.bits - length)


class IP(values.Opaque):
    """An IP address as a value."""

    __slots__ = ("address",)
    type_name = "net.IP"

    def __init__(self, address: Address) -> None:
        self.address = address

    @property
    def size(self) -> int:  # type: ignore[override]
        """How many bytes it has."""
        return self.address.bits // 8

    def equals(self, other: Value) -> bool | Failure:
        """Return whether it is the same address."""
        return self.address == other.address if isinstance(other, IP) else values.failure_or_no_overload(other)


class CIDR(values.Opaque):
    """A network as a value: an address in it, and the length of its prefix."""

    __slots__ = ("address", "length")
    type_name = "net.CIDR"

    def __init__(self, address: Address, length: int) -> None:
        self.address, self.length = address, length

    @property
    def size(self) -> int:  # type: ignore[override]
        """How many bytes the prefix has, rounded up."""
        return -(-self.length // 8)

    def equals(self, other: Value) -> bool | Failure:
        """Return whether it was written with the same address and length."""
        if not isinstance(other, CIDR):
            return values.failure_or_no_overload(other)
        return (self.address, self.length) == (other.address, other.length)

    def covers(self, address: Address, length: int) -> bool:
        """Return whether the first `length` bits of an address lie in the network."""
        bits = self.length
        return address.bits == self.address.bits and bits <= length and address.under(bits) == self.address.under(bits)


# --- Reading ------------------------------------------------------------------------------------------------------


def parse_address(text: str) -> Address:
    """Return the address a text writes.

    Raises:
        AddressError: it writes none.
    """
    for c in text:
        if c == ".":
            return Address(32, _ipv4(text, text))
        if c == ":":
            return _ipv6(text)
        if c == "%":
            raise _wrong(text, "missing IPv6 address")
    raise _wrong(text, "unable to parse IP")


def _wrong(text: str, why: str, at: str = "") -> AddressError:
    return AddressError(f"ParseAddr({values.go_quoted(text)}): {why}" + (f" (at {values.go_quoted(at)})" if at else ""))


def _ipv4(text: str, part: str) -> int:
    value, field, digits, fields = 0, 0, 0, 0
    for i, c in enumerate(part):
        if "0" <= c <= "9":
            if digits == 1 and field == 0:
                raise _wrong(text, "IPv4 field has octet with leading zero")
            field, digits = field * 10 + int(c), digits + 1
            if field > 255:
                raise _wrong(text, "IPv4 field has value >255")
        elif c == ".":
            if i == 0 or i == len(part) - 1 or part[i - 1] == ".":
                raise _wrong(text, "IPv4 field must have at least one digit", part[i:])
            if fields == 3:
                raise _wrong(text, "IPv4 address too long")
            value, field, digits, fields = value << 8 | field, 0, 0, fields + 1
        else:
            raise _wrong(text, "unexpected character", part[i:])
    if fields < 3:
        raise _wrong(text, "IPv4 address too short")
    return value << 8 | field


def _ipv6(text: str) -> Address:
    rest, percent, zone = text.partition("%")
    if percent and not zone:
        raise _wrong(text, "zone must be a non-empty string")
    groups: list[int] = []
    gap = -1
    if rest.startswith("::"):
        gap, rest = 0, rest[2:]
        if not rest:
            return Address(128, 0, zone)
    while len(groups) < 8:
        digits = len(rest) - len(rest.lstrip("0123456789abcdefABCDEF"))
        if digits > 4:
            raise _wrong(text, "each group must have 4 or less digits", rest)
        if not digits:
            raise _wrong(text, "each colon-separated field must have at least one digit", rest)
        if rest[digits : digits + 1] == ".":
            if gap < 0 and len(groups) != 6:
                why = "embedded IPv4 address must replace the final 2 fields of the address"
                raise _wrong(text, why, rest)
            if len(groups) > 6:
                raise _wrong(text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest)
            embedded = _ipv4(text, rest)
            groups += [embedded >> 16, embedded & 0xFFFF]
            rest = ""
            break
        groups.append(int(rest[:digits], 16))
        rest = rest[digits:]
        if not rest:
            break
        if rest[0] != ":":
            raise _wrong(text, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _wrong(text, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if gap >= 0:
                raise _wrong(text, "multiple :: in address", rest)
            gap, rest = len(groups), rest[1:]
            if not rest:
                break
    if rest:
        raise _wrong(text, "trailing garbage after address", rest)
    if len(groups) < 8:
        if gap < 0:
            raise _wrong(text, "address string too short")
        groups[gap:gap] = [0] * (8 - len(groups))
    elif gap >= 0:
        raise _wrong(text, "the :: must expand to at least one field of zeros")
    value = 0
    for group in groups:
        value = value << 16 | group
    return Address(128, value, zone)


def _ip(text: str) -> Value:
    try:
        address = parse_address(text)
    except AddressError as error:
        return Failure(f"IP Address {values.go_quoted(text)} parse error during conversion from string: {error}")
    if address.zone:
        return Failure(f"IP address {values.go_quoted(text)} with zone value is not allowed")
    if address.is_mapped:
        return Failure(f"IPv4-mapped IPv6 address {values.go_quoted(text)} is not allowed")
    return IP(address)


_CONVERSION = "network address parse error during conversion from string: "


def _cidr(text: str) -> Value:
    # Upstream wraps this error twice in the same words.
    where = f"{_CONVERSION * 2}netip.ParsePrefix({values.go_quoted(text)}): "
    before, slash, bits = text.rpartition("/")
    if not slash:
        return Failure(f"{where}no '/'")
    try:
        address = parse_address(before)
    except AddressError as error:
        return Failure(f"{where}{error}")
    if address.zone:
        return Failure(f"{where}IPv6 zones cannot be present in a prefix")
    if not bits.isascii() or not bits.isdigit() or (len(bits) > 1 and bits[0] == "0") or len(bits) > 18:
        return Failure(f"{where}bad bits after slash: {values.go_quoted(bits)}")
    if int(bits) > address.bits:
        return Failure(f"{where}prefix length out of range")
    if address.is_mapped:
        return Failure(f"{_CONVERSION}IPv4-mapped IPv6 address {values.go_quoted(text)} is not allowed")
    return CIDR(address, int(bits))


# --- Properties ---------------------------------------------------------------------------------------------------


def _in(address: Address, v4: tuple[int, int], v6: tuple[int, int]) -> bool:
    """Return whether an address starts with a prefix: its length and its bits, by family."""
    length, prefix = v4 if address.bits == 32 else v6
    return address.under(length) == prefix


def _is_loopback(a: Address) -> bool:
    return _in(a, (8, 127), (128, 1))


def _is_link_local_unicast(a: Address) -> bool:
    return _in(a, (16, 0xA9FE), (10, 0xFE80 >> 6))


def _is_link_local_multicast(a: Address) -> bool:
    if a.bits == 32:
        return a.under(24) == 0xE00000
    return a.under(16) & 0xFF0F == 0xFF02


def _is_multicast(a: Address) -> bool:
    return _in(a, (4, 14), (8, 0xFF))


def _is_global_unicast(a: Address) -> bool:
    special = a.value == 0 or (a.bits == 32 and a.value == 0xFFFFFFFF)
    return not (special or _is_loopback(a) or _is_multicast(a) or _is_link_local_unicast(a))


def _of(holds: Callable[[Address], bool]) -> Callable[[IP], bool]:
    return lambda ip: holds(ip.address)


def _is_canonical(text: str) -> Value:
    ip = _ip(text)
    return str(ip.address) == text if isinstance(ip, IP) else ip


def _contains_ip(network: CIDR, ip: Value) -> Value:
    if isinstance(ip, str):
        ip = _ip(ip)
    # An address that cannot be read makes the network the culprit, in kube-scheduler's words.
    return network.covers(ip.address, ip.address.bits) if isinstance(ip, IP) else values.failure_or_no_overload(network)


def _contains_cidr(network: CIDR, other: Value) -> Value:
    if isinstance(other, str):
        other = _cidr(other)
    return (
        network.covers(other.address, other.length) if isinstance(other, CIDR) else values.failure_or_no_overload(other)
    )


def _mask(network: CIDR) -> CIDR:
    a = network.address
    free = a.bits - network.length
    return CIDR(a._replace(value=a.value >> free << free), network.length)


LIBRARY = [
    declare("ip string_to_ip (string) net.IP", _ip),
    declare(".family ip_family (net.IP) int", lambda ip: 4 if ip.address.bits == 32 else 6),
    declare("ip.isCanonical ip_is_canonical (string) bool", _is_canonical),
    declare(".isUnspecified ip_is_unspecified (net.IP) bool", _of(lambda a: a.value == 0)),
    declare(".isLoopback ip_is_loopback (net.IP) bool", _of(_is_loopback)),
    declare(".isLinkLocalMulticast ip_is_link_local_multicast (net.IP) bool", _of(_is_link_local_multicast)),
    declare(".isLinkLocalUnicast ip_is_link_local_unicast (net.IP) bool", _of(_is_link_local_unicast)),
    declare(".isGlobalUnicast ip_is_global_unicast (net.IP) bool", _of(_is_global_unicast)),
    declare("isIP is_ip (string) bool", lambda text: isinstance(_ip(text), IP)),
    declare("string ip_to_string (net.IP) string", lambda ip: str(ip.address)),
    declare("cidr string_to_cidr (string) net.CIDR", _cidr),
    declare(".containsIP cidr_contains_ip_string (net.CIDR, string) bool", _contains_ip),
    declare(".containsIP cidr_contains_ip_ip (net.CIDR, net.IP) bool", _contains_ip),
    declare(".containsCIDR cidr_contains_cidr_string (net.CIDR, string) bool", _contains_cidr),
    declare(".containsCIDR cidr_contains_cidr (net.CIDR, net.CIDR) bool", _contains_cidr),
    declare(".ip cidr_ip (net.CIDR) net.IP", lambda network: IP(network.address)),
    declare(".prefixLength cidr_prefix_length (net.CIDR) int", lambda network: network.length),
    declare(".masked cidr_masked (net.CIDR) net.CIDR", _mask),
    declare("isCIDR is_cidr (string) bool", lambda text: isinstance(_cidr(text), CIDR)),
    declare("string cidr_to_string (net.CIDR) string", lambda network: f"{network.address}/{network.length}"),
]
