"""Hashes in the names of what controllers make, such as that of a template in the names of its ReplicaSet and pods."""

from __future__ import annotations

import hashlib

import msgspec

from schedctl.api.generated_names import ALPHABET
from schedctl.api.pods import PodTemplateSpec

HASH_LABEL = "pod-template-hash"
"""The label by which the pods of a ReplicaSet carry the hash of their template."""


def template_hash(comparable: PodTemplateSpec) -> str:
    """Return what stands for a template, as templates compare, in the names of its ReplicaSet and pods."""
    # The real hash is over all fields of a pod, most of which are not read here: this one is another, as stable.
    return _letters(msgspec.json.encode(comparable))


def letters_of(text: str) -> str:
    """Return what stands for the hash of a text in the name of an object."""
    return _letters(text.encode())


def _letters(hashed: bytes) -> str:
    digest = hashlib.sha256(hashed).digest()
    return "".join(ALPHABET[ord(digit) % len(ALPHABET)] for digit in str(int.from_bytes(digest[:4])))
