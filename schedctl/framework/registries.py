"""Where plugins are found by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schedctl.framework.points import POINTS, Plugin


class Registry(Mapping[str, type[Plugin]]):
    """Plugin classes by Kubernetes name.

    Raises:
        ValueError: two plugins share a name.
    """

    def __init__(self, plugins: Iterable[type[Plugin]]) -> None:
        self._plugins: dict[str, type[Plugin]] = {}
        for plugin in plugins:
            if plugin.name in self._plugins:
                raise ValueError(f"plugin {plugin.name} is registered twice")
            self._plugins[plugin.name] = plugin

    def __getitem__(self, name: str) -> type[Plugin]:
        return self._plugins[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._plugins)

    def __len__(self) -> int:
        return len(self._plugins)

    def implements(self, name: str, point: str) -> bool:
        """Return whether a plugin takes part in an extension point, e.g. ``("NodePorts", "filter")``."""
        base = POINTS.get(point)
        return base is not None and name in self._plugins and issubclass(self._plugins[name], base)
