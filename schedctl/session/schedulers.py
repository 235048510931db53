"""What plugins fail at beside the answers: a hint, a listener, PostBind. It is told on standard error, each once."""

from __future__ import annotations

from schedctl.cli import faults
from schedctl.engine.reporters import Reporter


class PluginFaults(Reporter):
    """Says what plugins fail at.

    Attributes:
        quiet: whether nothing is said.
    """

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self._told: set[str] = set()

    def failing_plugin(self, plugin: str, message: str) -> None:
        """Say that a plugin failed, the first time it does so in these words."""
        if message not in self._told:
            self._told.add(message)
            if not self.quiet:
                faults.say(f"warning: {message}")
