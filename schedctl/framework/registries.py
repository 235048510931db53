"""Where plugins are found by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schedctl.api.kinds import Kind
from schedctl.config.args import ARGS, PluginArgs
from schedctl.framework.group_points import GROUP_POINTS
from schedctl.framework.points import POINTS, Plugin


class Registry(Mapping[str, type[Plugin]]):
    """Plugin classes by the name that configurations use.

    Raises:
        ValueError: two plugins share a name.
    """

    def __init__(self, plugins: Iterable[type[Plugin]]) -> None:
        self._plugins: dict[str, type[Plugin]] = {}
        for plugin in plugins:
            if plugin.name in self._plugins:
                raise ValueError(f"plugin {plugin.name} is registered twice")
            self._plugins[plugin.name] = plugin
        self._implemented: dict[tuple[str, str], bool] = {}

    def __getitem__(self, name: str) -> type[Plugin]:
        return self._plugins[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plugins)

    def __len__(self) -> int:
        return len(self._plugins)

    @property
    def args_types(self) -> dict[str, type[PluginArgs]]:
        """The types of the arguments of plugins that take any, by name."""
        plugin_args = {name: plugin.args_type for name, plugin in self._plugins.items() if plugin.args_type is not None}
        return ARGS | plugin_args

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that plugins read and that are not Kubernetes' own, each once."""
        return tuple(dict.fromkeys(kind for plugin in self._plugins.values() for kind in plugin.kinds))

    def plugins_reading(self, kind: type) -> tuple[str, ...]:
        """Return the plugins, by name, whose answers may be guesses where objects of a kind are not known.

        Every plugin reads nodes and pods, so that none is named for them.
        """
        return tuple(name for name, plugin in self._plugins.items() if kind in plugin.reads)

    def implements(self, name: str, point: str) -> bool:
        """Return whether a plugin takes part in an extension point, e.g. ``("NodePorts", "filter")``."""
        known = self._implemented.get((name, point))
        if known is None:
            base = POINTS.get(point) or GROUP_POINTS.get(point)
            known = base is not None and name in self._plugins and issubclass(self._plugins[name], base)
            self._implemented[name, point] = known  # every new scheduler asks this of every plugin at every point
        return known
