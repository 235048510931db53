"""Names that a server or controller makes up, worked out instead of drawn by lot.

The letters, which spell no words, and the lengths are those of Kubernetes; the same input makes the same names on any
machine.
"""

from __future__ import annotations

import hashlib

import msgspec

from schedctl.api.pods import PodTemplateSpec

HASH_LABEL = "pod-template-hash"
"""The label by which the pods of a ReplicaSet carry the hash of their template."""
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
LONGEST_GENERATED = 58
"""How much of the beginning of a generated name is kept."""


def template_hash(comparable: PodTemplateSpec) -> str:
    """Return what stands for a template, as templates compare, in the names of its ReplicaSet and pods."""
    # The real hash is over all fields of a pod, most of which are not read here: this one is another, as stable.
    digest = hashlib.sha256(msgspec.json.encode(comparable)).digest()
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(int.from_bytes(digest[:4])))


def random_end(*parts: object) -> str:
    """Return five letters that stand for the random end of a generated name."""
    number = int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8])
    letters = ""
    for _ in range(5):
        number, digit = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[digit]
    return letters
