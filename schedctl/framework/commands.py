"""Commands for people to paste, made of names that come from a cluster and are not to be trusted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def kubectl(*words: str, namespace: str = "", options: Sequence[str] = ()) -> str:
    """Return a kubectl command in which every word is quoted for a shell, "" where a word could do harm.

    Args:
        words: the verb, and what it is about.
        namespace: where that is, "" for what is in none.
        options: what stands at the end, each option with its value in one word or the next.
    """
    # No name of Kubernetes begins with a dash, but one in a manifest may, and kubectl would take it for an option.
    if any(word.startswith("-") for word in (*words, namespace)):
        return ""
    where = ("-n", namespace) if namespace else ()
    every = ("kubectl", *words, *where, *options)
    return shlex.join(every) if all(word.isprintable() for word in every) else ""
