"""Whether the extenders of a configuration may be asked, and where what they say is kept or taken from.

An extender is a webhook. Asking it sends pods and nodes to a server that somebody else has chosen, so none is asked
unless the user says so; what they would have had a say in is then inconclusive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from schedctl.errors import UsageError
from schedctl.session.notifiers import SILENT, Notifier

if TYPE_CHECKING:
    from schedctl.session.configurations import ConfigurationChoice


class ExtenderOptions(msgspec.Struct, frozen=True):
    """What may be asked of extenders.

    Attributes:
        allowed: whether extenders may be asked over the network.
        record: the file that calls are written to, "" for none.
        replay: the file that answers are taken from, "" for none.
        binds: whether an extender that binds pods is called to do so.
    """

    allowed: bool = False
    record: str = ""
    replay: str = ""
    binds: bool = False

    def connect(
        self, choice: ConfigurationChoice, notifier: Notifier = SILENT, *, compared: bool = False
    ) -> ConfigurationChoice:
        """Return a choice with the extenders of its configuration as they may be asked.

        Args:
            choice: the choice.
            notifier: hears what there is to know of the questions.
            compared: whether it is one of several, of which others may have extenders.

        Raises:
            ConfigError: the TLS settings of an extender cannot be used.
            InputError: the record cannot be read.
            UsageError: a record cannot be written, or there are no extenders for one.
        """
        configured = choice.configuration.extenders
        recording = ("--extender-record", self.record) if self.record else ("--extender-replay", self.replay)
        if not configured and recording[1] and not compared:
            raise UsageError(
                f"{recording[0]} {recording[1]}: no extender in {choice.origin}",
                "remove the option, or name a configuration with extenders: `--scheduler-config FILE`",
            )
        if not configured or not (self.allowed or self.replay):
            return choice
        from schedctl.extenders import webhooks

        if self.replay:
            return replace(choice, extenders=webhooks.replay(configured, self.replay))
        if not notifier.quiet:
            notifier.say(
                "note: extenders receive only those fields of pods and nodes that schedctl reads; one that uses"
                " other fields may answer differently in the cluster"
            )
            if not self.binds and any(each.bind_verb for each in configured):
                notifier.say("note: the extender that binds pods is not called, because this is a dry run")
        return replace(choice, extenders=webhooks.connect(configured, choice.origin, record=self.record))


NO_EXTENDERS = ExtenderOptions()
"""No extender may be asked."""
