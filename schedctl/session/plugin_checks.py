"""Whether plugins keep the laws of `schedctl.testing.laws`, over drawn clusters and a given state.

What a class must be is checked when it is loaded; the author's own tests can ask the laws as well
(`schedctl.testing.laws_of`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from schedctl.cache.cluster import Cluster
from schedctl.errors import UsageError
from schedctl.framework.group_points import GROUP_POINTS
from schedctl.framework.points import POINTS
from schedctl.scheduler import Scheduler, discovery
from schedctl.session import library
from schedctl.testing.coverage import LawResult
from schedctl.testing.group_laws import LAWS, OF_GROUPS, broken_group_laws
from schedctl.testing.law_tests import try_laws

_GROUPS = 30
"""Of how many drawn clusters the laws of groups are asked at most: in each a group is tried."""


class CheckResult(msgspec.Struct, frozen=True):
    """What became of the laws that a plugin was held to.

    Attributes:
        laws: what became of each, by name.
    """

    laws: Mapping[str, LawResult]

    @property
    def broken(self) -> int:
        """How many laws are broken."""
        return sum(bool(result.violation) for result in self.laws.values())

    @property
    def saw_nothing(self) -> bool:
        """Whether there is a law about the plugin that saw nothing happen."""
        return any(result.proves_nothing and not result.exempt for result in self.laws.values())

    def lines(self) -> Iterator[str]:
        """Yield a line for each law, or one for all: where none applies, or the plugin fails whatever it is asked."""
        if all(result.exempt for result in self.laws.values()):
            yield "no law applies: no PreFilter, Filter, Score or Reserve"
            return
        violations = {result.violation for result in self.laws.values() if not result.exempt}
        if len(violations) == 1 and (failure := violations.pop()):
            yield f"every law: {failure}"
        else:
            yield from (f"{law}: {result}" for law, result in self.laws.items())


class PluginCheck(msgspec.Struct, frozen=True):
    """One plugin that is to be held to the laws.

    Attributes:
        name: of the plugin.
        origin: where it was loaded from.
        points: the extension points it implements.
    """

    name: str
    origin: str
    points: Sequence[str]
    _plugin: Any
    _named: Sequence[str]

    def run(self, state: Sequence[str] = (), clusters: int = 100, configuration: str = "") -> CheckResult:
        """Hold the plugin to all laws, and return what became of each.

        Args:
            state: files of a cluster, none for drawn clusters alone.
            clusters: how many are drawn.
            configuration: the file of a KubeSchedulerConfiguration with the plugin's arguments, "" for its defaults.

        Raises:
            ConfigError: the configuration cannot be read, or kube-scheduler would refuse it.
            InputError: the state cannot be read.
            UsageError: no profile of the configuration enables the plugin.
        """
        args = self._arguments(configuration) if configuration else None
        others = {", ".join(state): library.read(*state)} if state else {}
        laws = dict(try_laws(self._plugin, args, seeds=range(clusters), clusters=others))
        if issubclass(self._plugin, OF_GROUPS):
            broken = broken_group_laws(self._plugin, args, range(min(clusters, _GROUPS)))
            about = [law for law, points in LAWS.items() if issubclass(self._plugin, points)]
            laws |= {f"{law} of groups": LawResult(f"{law} of groups", broken.get(law, "")) for law in about}
        return CheckResult(laws)

    def _arguments(self, configuration: str) -> Any:
        """Return the arguments that the first profile which enables the plugin has for it, as they are written."""
        scheduler = Scheduler.configured(Cluster(), Path(configuration), self._named)
        for profile in scheduler.profiles.values():
            if self.name in profile.plugins:
                return msgspec.to_builtins(profile.plugins[self.name].args)
        hint = "enable it under plugins.multiPoint.enabled of a profile"
        raise UsageError(f"no profile of {configuration} enables {self.name}", hint)


def find(plugins: Sequence[str]) -> Iterator[PluginCheck]:
    """Yield the plugins that are named: ``FILE.py``, ``FILE.py:Class``, ``MODULE`` or ``MODULE:Class``.

    Raises:
        UsageError: one cannot be loaded.
    """
    found = discovery.find(plugins)
    for name in found.named:
        points = [point for point in (*POINTS, *GROUP_POINTS) if found.registry.implements(name, point)]
        yield PluginCheck(name, found.origins[name], points, found.registry[name], plugins)
