"""Where in a plugin's code a fault comes from, and the fault in words.

Whoever writes a plugin wants the line of their own file, not that of the engine which called it or of the library it
called: the last line on the way that lies in the file of the plugin's class, or else the last of all.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from pathlib import Path
from typing import Any

from schedctl.api.texts import clip

ESCAPING = BaseException
"""What code of a plugin may let out, ``quit()`` among it; only Ctrl-C, which comes first, is no fault of its own."""


def describe(fault: BaseException, owner: object = None) -> str:
    """Return an exception with its place, e.g. ``KeyError: 'team' (fence.py:14)``.

    Args:
        fault: the exception.
        owner: the plugin, or its class, whose code counts.
    """
    return describe_in(fault, file_of(owner))


def describe_in(fault: BaseException, file: str) -> str:
    """Return an exception with its place, as `describe` does, of code that lies in a file."""
    return _at(_exception_text(fault), place(fault, file))


def wrong(owner: object, method: str, answer: Any, expected: str) -> str:
    """Return that a method answered what it must not, e.g. ``permit returned None, expected a Status (fence.py:9)``."""
    return _at(f"{method} returned {quote(answer)}, expected {expected}", _definition_place(owner, method))


def place(fault: BaseException, file: str = "") -> str:
    """Return the place in the code that an exception comes from, e.g. ``fence.py:14``, "" where there is none.

    Args:
        fault: the exception.
        file: the file whose last line on the way counts, "" for the last of all.
    """
    if isinstance(fault, SyntaxError) and fault.filename:
        return f"{Path(fault.filename).name}:{fault.lineno}"
    frames = traceback.extract_tb(fault.__traceback__)
    chosen = [frame for frame in frames if frame.filename == file] or frames
    return f"{Path(chosen[-1].filename).name}:{chosen[-1].lineno}" if chosen else ""


def file_of(owner: object) -> str:
    """Return the file in which the class of a plugin is written, "" where there is none."""
    kind = owner if isinstance(owner, type) else type(owner)
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or ""


def quote(answer: Any) -> str:
    """Return a value in a few words: small ones as they are written, others by their type."""
    if answer is None or isinstance(answer, bool | int | float | str):
        text = repr(answer)
        return text if len(text) <= 40 else f"{text[:39]}…"
    if hasattr(answer, "dtype") and hasattr(answer, "shape"):
        size = " by ".join(map(str, answer.shape)) or "no length"
        return f"an array of {answer.dtype} ({size})"
    if isinstance(answer, type):
        return f"the class {answer.__name__}"
    return f"{'an' if type(answer).__name__[0] in 'AEIOU' else 'a'} {type(answer).__name__}"


def _exception_text(fault: BaseException) -> str:
    if isinstance(fault, SyntaxError):
        return f"{type(fault).__name__}: {fault.msg}"
    try:
        text = clip(str(fault))
    except KeyboardInterrupt:
        raise
    except ESCAPING:  # even its words can fail
        text = ""
    return f"{type(fault).__name__}: {text}" if text else type(fault).__name__


def _definition_place(owner: object, method: str) -> str:
    """Return where a method is written, "" where that is not known."""
    code = getattr(inspect.unwrap(getattr(owner, method, None) or (lambda: None)), "__code__", None)
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}" if code is not None else ""


def _at(text: str, where: str) -> str:
    return f"{text} ({where})" if where else text
