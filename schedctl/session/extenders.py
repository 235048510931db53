"""The options about extenders: whether they may be asked, and where what they say is kept or taken from.

An extender is a webhook that a configuration names. Asking it sends pods and nodes to a server that somebody else has
chosen, so none is asked unless ``--allow-extenders`` says so; what they would have had a say in is then inconclusive. A
command gets the options by one line, and what was given as one argument::

    @with_extenders
    def explain(..., extending: Extending) -> int:
        ...
        chosen = extending.connected(configurations.completed(...))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from schedctl.cli import options
from schedctl.cli.signatures import Command, extended
from schedctl.errors import UsageError

if TYPE_CHECKING:
    from schedctl.session.configurations import Chosen

_OPTIONS = {
    "allow_extenders": (options.AllowExtenders, False),
    "extender_record": (options.ExtenderRecord, ""),
    "extender_replay": (options.ExtenderReplay, ""),
}


@dataclass(frozen=True, slots=True)
class Extending:
    """What was given.

    Attributes:
        allowed: whether extenders may be asked over the network.
        record: the file that calls are written to, "" for none.
        replay: the file that answers are taken from, "" for none.
    """

    allowed: bool = False
    record: str = ""
    replay: str = ""

    def connected(self, chosen: Chosen, *, quiet: bool, compared: bool = False) -> Chosen:
        """Return a choice with the extenders of its configuration as they may be asked.

        Args:
            chosen: the choice.
            quiet: whether to leave out what there is to know of the questions.
            compared: whether it is one of several, of which others may have extenders.

        Raises:
            ConfigError: the TLS settings of an extender cannot be used.
            InputError: the record cannot be read.
            UsageError: a record cannot be written, or there are no extenders for one.
        """
        configured = chosen.configuration.extenders
        recording = ("--extender-record", self.record) if self.record else ("--extender-replay", self.replay)
        if not configured and recording[1] and not compared:
            raise UsageError(
                f"{recording[0]} {recording[1]}: no extender is in {chosen.origin}",
                "leave the option out, or name a configuration with extenders by `--scheduler-config FILE`",
            )
        if not configured or not (self.allowed or self.replay):
            return chosen
        from schedctl.cli import faults
        from schedctl.extenders import webhooks

        if self.replay:
            return replace(chosen, extenders=webhooks.replay(configured, self.replay))
        if not quiet:
            faults.say(
                "note: extenders are sent what schedctl reads of pods and nodes, which is what scheduling depends on;"
                " one that reads other fields may answer otherwise in the cluster"
            )
            if any(each.bind_verb for each in configured):
                faults.say("note: the extender that would bind pods is not asked to, for this is a dry run")
        return replace(chosen, extenders=webhooks.connect(configured, chosen.origin, record=self.record))


NOBODY = Extending()
"""No extender may be asked."""


def with_extenders(command: Command) -> Command:
    """Give a command the options about extenders; it gets them as the argument ``extending``."""
    return extended(command, "extending", _OPTIONS, _extending)


def _extending(given: Mapping[str, Any], context: typer.Context) -> Extending:
    """Return what was given.

    Raises:
        UsageError: the options contradict each other.
    """
    allowed, record, replay = given["allow_extenders"], given["extender_record"], given["extender_replay"]
    if replay and (allowed or record):
        flag = "--extender-record" if record else "--allow-extenders"
        raise UsageError(f"--extender-replay asks nobody, and {flag} was given, too", "leave one of them out")
    if record and not allowed:
        raise UsageError("--extender-record writes down what extenders say, and none may be asked", "--allow-extenders")
    return Extending(allowed, record, replay)
