"""Exit codes that reports carry, and which of them an answer has; a fault has its own, as its exception says."""

from __future__ import annotations

from schedctl.errors import ClusterError, InputError, NotModelled

FAILED = 1
"""The answer is no, where that is asked for (``--exit-code``) or is the question."""
BAD_INPUT = InputError.exit_code
CLUSTER_REFUSED = ClusterError.exit_code
INCONCLUSIVE = NotModelled.exit_code
INTERRUPTED = 130
"""What a shell reports of a command that SIGINT ended."""


def of_answer(*, failed: bool, inconclusive: bool = False) -> int:
    """Return the exit code of an answer: what is proved wrong wins over what cannot be told."""
    if failed:
        return FAILED
    return INCONCLUSIVE if inconclusive else 0
