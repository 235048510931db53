"""The one place that builds a `Scheduler` for a question, with the same registry, extenders and blame for faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from schedctl.engine.reporters import Reporter
from schedctl.scheduler import Scheduler
from schedctl.session.notifiers import SILENT, Notifier

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster
    from schedctl.engine.call_recorder import CallRecorder
    from schedctl.session.configurations import ConfigurationChoice


class PluginFaultReporter(Reporter):
    """Warns of what plugins fail at beside the answers: a hint, a listener, PostBind; in the same words only once."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._reported: set[str] = set()

    @override
    def plugin_failed(self, plugin: str, message: str) -> None:
        if message not in self._reported:
            self._reported.add(message)
            self._notifier.warn(message)


def build(
    cluster: Cluster,
    choice: ConfigurationChoice,
    reporter: Reporter | None = None,
    recorder: CallRecorder | None = None,
) -> Scheduler:
    """Return a scheduler over a cluster that follows a configuration as it was chosen.

    Args:
        cluster: the cluster.
        choice: the configuration, its plugins and its extenders.
        reporter: hears what plugins fail at.
        recorder: counts the calls of the plugins; None where nobody asks.
    """
    reporter = reporter or PluginFaultReporter(SILENT)
    scheduler = Scheduler(cluster, choice.configuration, choice.registry, reporter, extenders=choice.extenders)
    if recorder is not None:
        for profile in scheduler.profiles.values():
            for plugin in profile.plugins.values():
                recorder.watch(plugin)
    return scheduler
