"""Exit codes that reports carry besides 0 and 1, the answers; a fault has its own, as its exception says."""

from __future__ import annotations

from schedctl.errors import InputError, NotModelled

BAD_INPUT = InputError.exit_code
INCONCLUSIVE = NotModelled.exit_code
INTERRUPTED = 130
"""What a shell reports of a command that SIGINT ended."""
