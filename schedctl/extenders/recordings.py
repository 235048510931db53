"""Records of what extenders were asked and what they said, so that the same questions can be answered offline.

A record is a file of JSON lines, one for each call. Names of a cluster are in it, and whatever scheduling reads of pods
and nodes, so only its owner may read it.
"""

from __future__ import annotations

import os
import weakref
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import msgspec

from schedctl.config import types as config
from schedctl.errors import InputError, Problem, UsageError
from schedctl.extenders.calls import Calls, url_of
from schedctl.framework.extenders import ExtenderError, NotRecorded, address


class Entry(msgspec.Struct, omit_defaults=True):
    """One call.

    Attributes:
        extender: where it went, without a user and a password.
        verb: what was asked, as the configuration calls it.
        question: the body.
        answer: the text that came back with code 200.
        error: what went wrong where there is no answer.
    """

    extender: str
    verb: str
    question: msgspec.Raw
    answer: str | None = None
    error: str = ""

    @property
    def key(self) -> bytes:
        """What a question is found by: it is the same to the last field, in whatever order they were written."""
        plain = msgspec.json.encode(msgspec.json.decode(self.question), order="sorted")
        return sha256(b"\0".join((self.extender.encode(), self.verb.encode(), plain))).digest()


class Recorder:
    """Writes calls to a file, which is begun anew.

    Raises:
        UsageError: the file cannot be written.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.fchmod(descriptor, 0o600)  # the mode above is for a new file only
        except OSError as fault:
            raise self._unwritable(fault) from None
        self._file: IO[bytes] = os.fdopen(descriptor, "wb", buffering=0)
        weakref.finalize(self, self._file.close)

    def over(self, extender: config.Extender, calls: Calls) -> Calls:
        """Return calls of an extender that are written down."""

        def call(verb: str, question: bytes) -> bytes:
            entry = Entry(address(url_of(extender, "")), verb, msgspec.Raw(question))
            try:
                answer = calls(verb, question)
            except ExtenderError as fault:
                entry.error = str(fault)
                self._write(entry)
                raise
            entry.answer = answer.decode(errors="replace")
            self._write(entry)
            return answer

        return call

    def _write(self, entry: Entry) -> None:
        try:
            self._file.write(msgspec.json.encode(entry) + b"\n")
        except OSError as fault:
            raise self._unwritable(fault) from None

    def _unwritable(self, fault: OSError) -> UsageError:
        return UsageError(f"{self._path}: cannot be written: {(fault.strerror or str(fault)).lower()}")


class Recording:
    """The calls of a file.

    Raises:
        InputError: it cannot be read, or is no record.
    """

    def __init__(self, path: str) -> None:
        try:
            lines = Path(path).read_bytes().splitlines()
        except OSError as fault:
            problem = Problem(f"cannot be read: {(fault.strerror or str(fault)).lower()}", source=path)
            raise InputError([problem]) from None
        self._entries: dict[bytes, Entry] = {}
        for number, line in enumerate(lines, 1):
            try:
                entry = msgspec.json.decode(line, type=Entry)
                self._entries.setdefault(entry.key, entry)  # of an answer that changed, the first
            except (msgspec.MsgspecError, RecursionError, UnicodeError) as fault:
                hint = "`--extender-record FILE` writes records"
                problem = Problem(f"not a recorded extender call: {fault}", source=path, line=number, hint=hint)
                raise InputError([problem]) from None

    def of(self, extender: config.Extender) -> Calls:
        """Return calls of an extender that are answered from the record."""

        def call(verb: str, question: bytes) -> bytes:
            key = Entry(address(url_of(extender, "")), verb, msgspec.Raw(question)).key
            entry = self._entries.get(key)
            if entry is None:
                raise NotRecorded
            if entry.answer is None:
                raise ExtenderError(entry.error)
            return entry.answer.encode()

        return call


_KEPT = 256
"""How many answers of an extender are remembered; the oldest goes first."""


class CachedCalls:
    """Calls of which the same are made once: a dry run changes nothing that an extender could see.

    Failures are remembered, too, so that one that is slow is slow once.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._known: dict[bytes, bytes | str] = {}

    def __call__(self, verb: str, question: bytes) -> bytes:
        """Return the answer; see `schedctl.extenders.calls.Calls`."""
        key = sha256(verb.encode() + b"\0" + question).digest()
        known: Any = self._known.get(key)
        if known is None:
            try:
                known = self._calls(verb, question)
            except ExtenderError as fault:
                known = str(fault)
            self._known[key] = known
            if len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]
        if isinstance(known, str):
            raise ExtenderError(known)
        answer: bytes = known
        return answer
