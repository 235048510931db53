"""Exit codes that reports carry, and which of them an answer has; a fault has its own, as its exception says."""

from __future__ import annotations

from schedctl.errors import ClusterError, InputError, NotModelled, SchedctlError, UsageError

FAILED = 1
"""The answer is no, where that is asked for (``--exit-code``) or is the question."""
BAD_INPUT = InputError.exit_code
CLUSTER_REFUSED = ClusterError.exit_code
INCONCLUSIVE = NotModelled.exit_code
INTERRUPTED = 130
"""What a shell reports of a command that SIGINT ended."""
OUTPUT_CLOSED = 141
"""What a shell reports of a command that SIGPIPE ended."""

MEANINGS = {
    0: "answered",
    FAILED: 'answered "no", where `--exit-code` asks for that, where the question is one of yes or no, or by the user',
    UsageError.exit_code: "the command line, the configuration or a profile is wrong, or the output cannot be written",
    BAD_INPUT: "the input is unreadable, invalid or empty",
    CLUSTER_REFUSED: "a live cluster cannot be reached, or refuses what it was asked",
    INCONCLUSIVE: "inconclusive: an answer needs what is not modelled, or a kind that could not be listed",
    SchedctlError.exit_code: "a bug in schedctl",
    INTERRUPTED: "interrupted",
    OUTPUT_CLOSED: "the reader of the output went away",
}
"""What each says, for the reference. 0 and 1 are answers; from 2 on there is none, as with diff and grep."""


def of_answer(*, failed: bool, inconclusive: bool = False) -> int:
    """Return the exit code of an answer: what is proved wrong wins over what cannot be told."""
    if failed:
        return FAILED
    return INCONCLUSIVE if inconclusive else 0
