"""Texts that were right once: cut, doubled, nested, spelt wrong, and with what trips readers put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

TRAPS = (
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[2J", b"\xe2\x80\xae", b"\xc2\x85", b"\xef\xbb\xbf"),
    *(b"[" * 2000, b'{"a":' * 2000, b"- " * 500, b"&a ", b"*a", b"!!binary ", b"!!python/object:os.system ", b"<<: "),
    *(b"null", b"~", b"{}", b"[]", b'""', b"true", b"-1", b"1e400", b".nan", b"0x7fffffffffffffffffff", b"1_000"),
    *(b"9" * 400, b"x" * 5000, b"2001-01-01", b"1Gi", b"18446744073709551616", b"\r\n", b"\n---\n", b": ", b"#", b"%"),
)
"""What is put into texts as it is."""
_LONGEST = 60_000


def mutated(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Return a strategy of texts made of others by a few changes."""
    return st.builds(_apply, st.sampled_from(seeds), st.lists(_CHANGES, min_size=1, max_size=5), st.sampled_from(seeds))


def _apply(text: bytes, changes: Sequence[_Change], other: bytes) -> bytes:
    for change in changes:
        text = change(text, other)[:_LONGEST]
    return text


_Change = Callable[[bytes, bytes], bytes]
_PLACES = st.floats(0, 1)


def _at(text: bytes, place: float) -> int:
    return int(place * len(text))


def _put(place: float, trap: bytes) -> _Change:
    return lambda text, other: text[: _at(text, place)] + trap + text[_at(text, place) :]


def _replace_value(place: float, trap: bytes) -> _Change:
    """Replace what stands between a colon and the end of its line."""

    def change(text: bytes, other: bytes) -> bytes:
        colon = text.find(b":", _at(text, place)) + 1
        end = min((at for at in (text.find(mark, colon) for mark in (b"\n", b",", b"}")) if at > 0), default=len(text))
        return text[:colon] + b" " + trap + text[end:] if colon else text

    return change


def _cut(place: float, length: int) -> _Change:
    return lambda text, other: text[: _at(text, place)] + text[_at(text, place) + length :]


def _double(place: float, length: int) -> _Change:
    return lambda text, other: text[: _at(text, place) + length] + text[_at(text, place) :]


def _flip(place: float, byte: int) -> _Change:
    return lambda text, other: text[: _at(text, place)] + bytes([byte]) + text[_at(text, place) + 1 :]


def _graft(place: float, length: int) -> _Change:
    """Put in a part of another text."""
    return lambda text, other: text[: _at(text, place)] + other[_at(other, place) :][:length] + text[_at(text, place) :]


_CHANGES: st.SearchStrategy[_Change] = st.one_of(
    st.builds(_put, _PLACES, st.sampled_from(TRAPS)),
    st.builds(_replace_value, _PLACES, st.sampled_from(TRAPS)),
    st.builds(_cut, _PLACES, st.integers(1, 200)),
    st.builds(_double, _PLACES, st.integers(1, 400)),
    st.builds(_flip, _PLACES, st.integers(0, 255)),
    st.builds(_graft, _PLACES, st.integers(1, 400)),
)
