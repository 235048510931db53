"""The faults schedctl can end with, and the problem record that input faults carry.

A *refusal* (a node that will not take a pod) is a value and never an exception; what lives here are *faults*: input
that cannot be read, configuration that cannot be obeyed, a plugin that failed. Each class knows the exit code a
command ends with, so the command line needs no table of its own::

    SchedctlError              70  a bug, unless a subclass says otherwise
    ├── UsageError              2  the command line asked for something impossible
    ├── ProblemsError           -  carries every `Problem` found, not only the first
    │   ├── ConfigError         2  a KubeSchedulerConfiguration or profile
    │   └── InputError          3  manifests: unreadable, invalid, or none
    ├── ClusterError            4  a live cluster: no access, no answer, or a refusal
    ├── PluginError            70  a plugin cannot answer, or answered what its contract forbids
    └── NotModelled             5  a pod needs what is not modelled yet
        └── Inconclusive        5  a search was given up before it had an answer
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with an input, with everything a person needs to mend it.

    Attributes:
        message: what is wrong, in one sentence without a full stop, e.g. ``expected a quantity, got "lots"``.
        source: the file as the user named it, ``<stdin>``, or "" when there is none.
        line: 1-based line, 0 when unknown.
        column: 1-based column, 0 when unknown.
        path: the field, e.g. ``spec.containers[0].resources.requests.cpu``; "" for the document itself.
        subject: the object it belongs to, e.g. ``Pod shop/web-0``; "" when there is none.
        hint: a next step, e.g. ``did you mean "nodeSelector"?``; "" when there is none.
    """

    message: str
    source: str = ""
    line: int = 0
    column: int = 0
    path: str = ""
    subject: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """Return ``source:line:column: subject: path: message``, leaving out what is unknown."""
        place = self.source
        if self.line:
            place += f":{self.line}:{self.column}" if self.column else f":{self.line}"
        return ": ".join(part for part in (place, self.subject, self.path, self.message) if part)


class SchedctlError(Exception):
    """Base of all faults raised on purpose; `exit_code` is what a command ends with."""

    exit_code = 70


class UsageError(SchedctlError):
    """The command line asked for something that cannot be done: an unknown pod, profile or output format."""

    exit_code = 2

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ProblemsError(SchedctlError):
    """Base of the faults that list every problem of an input, and apart from them what is merely odd about it."""

    def __init__(self, problems: Sequence[Problem], warnings: Sequence[Problem] = ()) -> None:
        self.problems, self.warnings = tuple(problems), tuple(warnings)
        super().__init__("\n".join(map(str, self.problems)))


class ConfigError(ProblemsError):
    """A scheduler configuration or profile that kube-scheduler would refuse, or that we cannot read."""

    exit_code = 2


class InputError(ProblemsError):
    """Manifests that cannot be read, are invalid, or are not there."""

    exit_code = 3


class ClusterError(SchedctlError):
    """A live cluster cannot be reached, will not answer, or refuses what it was asked."""

    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class PluginError(SchedctlError):
    """A plugin cannot answer, or answered what its contract forbids, e.g. a normalised score outside 0 to 100."""


class NotModelled(SchedctlError):
    """A pod needs something of kube-scheduler that is not modelled yet; any answer would be a guess.

    Attributes:
        plugin: the plugin that would decide.
        feature: what is not modelled, in the plural.
        subject: where it was asked for, e.g. ``pod shop/db-0, volume "data"``.
    """

    exit_code = 5

    def __init__(self, plugin: str, feature: str, subject: str) -> None:
        self.plugin = plugin
        self.feature = feature
        self.subject = subject
        super().__init__(f"{plugin}: {feature} are not modelled yet ({subject})")


class Inconclusive(NotModelled):
    """A search took more steps than it may, where kube-scheduler would search on; any answer would be a guess.

    Attributes:
        plugin: the plugin that was searching.
        feature: what was given up, and after how many steps.
        subject: for whom it searched, e.g. ``pod shop/db-0, claims "shop/gpus"``.
    """

    def __init__(self, plugin: str, feature: str, subject: str) -> None:
        super().__init__(plugin, feature, subject)
        self.args = (f"{plugin}: {feature} ({subject})",)
