"""What stands for a name in a snapshot that is redacted strictly.

A token is the rank of the original among all originals of the snapshot, in a fixed width, and a keyed hash of it, such
as ``x00412-9f3c01d2ab47``. Equal names have equal tokens, and tokens sort as the names did, so whoever compares or
sorts them decides as before; with the same key the second half is the same in every snapshot.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

_MARKS = {
    "": "0x",
    "A": "A",
    "ON_DEMAND": "P",
    "SPOT": "T",
    "UNSPECIFIED": "a",
    "amd64": "an",
    "arm64": "b",
    "cluster-autoscaler-status": "d",
    "default": "e",
    "false": "g",
    "kube-node-lease": "kube-o",
    "kube-public": "kube-q",
    "kube-system": "l",
    "linux": "m",
    "on-demand": "p",
    "rbd": "s",
    "spot": "sq",
    "system-cluster-critical": "system-d",
    "system-node-critical": "t",
    "true": "v",
    "windows": "x",
    "yes": "yz",
}
"""What the tokens of names begin with that sort behind a text and before the next; all but the ``A`` are well known.

Well-known names stay, so the letters in front of the rank keep a token between the same two of them as the name was.
"""
WELL_KNOWN = frozenset(_MARKS) - {"A"}
"""Texts that every cluster has, or that mean something to the scheduler itself; they stay."""
_MARK = "|".join(sorted(_MARKS.values(), key=len, reverse=True))
_RANKED = re.compile(
    rf"(?<![a-z])({_MARK}|z(?=\d+h))\d+[-h](?=[0-9a-f]{{12}}\b)|(?<=\dz)({_MARK})\d+-(?=[0-9a-f]{{12}}\b)"
)
_TOKEN = rf"(?:{_MARK})\d+-[0-9a-f]{{12}}"
_STAYING = "|".join(sorted(WELL_KNOWN - {""}, key=len, reverse=True))
_MADE_OF_TOKENS = re.compile(
    rf"(?:{_TOKEN}|z\d+h[0-9a-f]{{12}}|u-[0-9a-f]{{24}}|[0-9]+(?:z(?={_TOKEN}))?"
    rf"|(?:{_STAYING})(?=-)|(?<=-)(?:{_STAYING})(?![a-z])|:tag|:latest|__|[-./,])+"
    rf"|f[0-9a-f:]{{2,38}}|(?:aws:/|vol-|projects/|zones/|regions/|disks/|UNSPECIFIED|{_TOKEN}|[-/])+"
)
_RANK = re.compile(r"\d+$")
_NUMBERED = re.compile(r"([0-9]+)(.*)", re.DOTALL)


def fingerprint(key: bytes) -> str:
    """Return what tells one key from another and says nothing of either."""
    return hashlib.sha256(b"schedctl snapshot key\0" + key).hexdigest()[:16]


def without_ranks(text: str) -> str:
    """Return a text with the ranks taken out of its tokens, by which those of two snapshots compare."""
    return _RANKED.sub(r"\1\2", text)


def is_token(text: str) -> bool:
    """Return whether nothing but tokens, and what they are put together with, is in a text."""
    return _MADE_OF_TOKENS.fullmatch(text) is not None


class Tokens:
    """The tokens of one snapshot.

    Names are first only collected, and given back as they are; after `settle` each is given its token. So the same code
    goes over the objects twice, and a name that it did not meet the first time is a `KeyError` and not a leak.

    Some names are made of others, by rules that Kubernetes and we follow: the claim of an ephemeral volume is
    ``<pod>-<volume>``, a StatefulSet's pod ``<set>-<ordinal>``. Their tokens are made by the same rules, and sort
    behind that of the first part. So that all others still sort as they did, every name that begins like one of these,
    be it a node's, has a token that begins with the same token, and a number behind that stays.

    Attributes:
        names, namespaces: what stands for each that was met.
        parts: what stands for what names are put together of.

    Args:
        key: of the hashes.
        made: names that are made of others, which joined by ``-`` they are; numbers stay.
        zones: names of zones that have the form ``<continent>-<region>-<zone>`` and have to keep it.
    """

    def __init__(self, key: bytes, made: Iterable[tuple[str, ...]] = (), zones: Iterable[str] = ()) -> None:
        self._key, self._zones = key, frozenset(zones)
        self._whole = self._zones | {zone.rpartition("-")[0] for zone in self._zones}
        parts = {*made}
        self._beginnings = _beginnings("-".join(each[:count]) for each in parts for count in range(1, len(each)))
        numbers = {each[-1] for each in parts if each[-1].isdecimal()}
        # Parts that begin with a digit and are no ordinals, such as a volume named "5g", get tokens as a whole.
        self._numbered_names = {
            part for each in parts for part in each if "0" <= part[:1] <= "9" and part not in numbers
        }
        self.names: dict[str, str] = {}
        self.parts: dict[str, str] = {}
        self.namespaces: dict[str, str] = {}
        self._settled = False

    def name(self, text: str) -> str:
        """Return what stands for a name or a value."""
        if text in WELL_KNOWN:
            return text
        if not self._settled:
            self._token(text)  # meets the parts of the name
            self.names[text] = text
            return text
        return self.names[text]

    def _token(self, text: str) -> str:
        """Return the token of a name: its own, or that of the beginning it has in common with others and the rest."""
        if text in WELL_KNOWN:
            return text
        if text in self._zones:
            region, known = self._token(text.rpartition("-")[0]), self._token_in(self.parts, text)
            marked, _, digest = known.rpartition("-")
            rank = _RANK.search(marked)
            return f"{region}-z{rank[0]}h{digest}" if self._settled and rank else text
        end = -1 if text in self._whole else text.find("-")
        while end >= 0:
            if text[:end] in self._beginnings:
                return f"{self._single_token(text[:end])}-{self._rest(text[end + 1 :])}"
            end = text.find("-", end + 1)
        return self._single_token(text)

    def _single_token(self, text: str) -> str:
        return text if text in WELL_KNOWN else self._token_in(self.parts, text)

    def _rest(self, text: str) -> str:
        """Return what stands for what follows a beginning: numbers stay, for those of StatefulSets are counted on."""
        if text and text < "0":  # it begins with "-", "." or "/", which sort before every token
            return f"-{self._token(text)}"
        found = _NUMBERED.fullmatch(text)
        if found is None or any(f"{text}-".startswith(f"{name}-") for name in self._numbered_names):
            return self._token(text)
        number, more = found.groups()
        if more.startswith("-"):
            return f"{number}-{self._rest(more[1:])}"
        # Behind a number "." sorts before the digits of a longer one and "z" behind them, as what follows did.
        between = "" if not more else "." if more < "0" else "z"
        return f"{number}{between}{self._token(more)}"

    def namespace(self, text: str) -> str:
        """Return what stands for a namespace."""
        return text if text in WELL_KNOWN else self._token_in(self.namespaces, text)

    def uid(self, text: str) -> str:
        """Return what stands for a uid."""
        return f"u-{self._hash(text, 24)}" if text and self._settled else text

    def settle(self) -> None:
        """Give every name that was met its token."""
        self._rank(self.parts, str)
        self._rank(self.namespaces, lambda name: f"{name}/")  # in a key, and so when sorted, they stand before a slash
        self._settled = True
        self.names.update({text: self._token(text) for text in self.names})

    def _token_in(self, table: dict[str, str], text: str) -> str:
        if self._settled:
            return table[text]
        table[text] = text
        return text

    def _rank(self, table: dict[str, str], order: Callable[[str], str]) -> None:
        width = len(str(len(table)))
        before, marks = ["", *map(order, list(_MARKS)[1:])], list(_MARKS.values())
        # The mark is that of the last well-known name before this one, so both sort as the names do.
        for rank, text in enumerate(sorted(table, key=order)):
            mark = marks[bisect_right(before, order(text)) - 1]
            table[text] = f"{mark}{rank:0{width}}-{self._hash(text, 12)}"

    def _hash(self, text: str, length: int) -> str:
        return hmac.new(self._key, text.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()[:length]


def _beginnings(firsts: Iterable[str]) -> frozenset[str]:
    """Return what names begin with that others are made of, and what is left of one behind another."""
    found: set[str] = set()
    new = {*firsts}
    while new:
        found |= new
        behind = {
            text[end + 1 :] for text in found for end, each in enumerate(text) if each == "-" and text[:end] in found
        }
        behind |= {_skip_numbers(text) for text in behind}
        new = {text for text in behind if text and not text.partition("-")[0].isdecimal()} - found
    return frozenset(found)


def _skip_numbers(text: str) -> str:
    """Return what follows the numbers that a text begins with."""
    while found := _NUMBERED.fullmatch(text):
        text = found[2]
        if not text.startswith("-"):
            break
        text = text[1:]
    return text
