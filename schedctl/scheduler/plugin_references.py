"""What stands for a plugin where a scheduler is sent to another process: its class, or the file and the name."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import msgspec

from schedctl.framework.points import Plugin
from schedctl.framework.registries import Registry
from schedctl.scheduler import discovery


class FilePlugin(msgspec.Struct, frozen=True):
    """A plugin of a file, by which another process finds it: the file has to be there, too.

    Attributes:
        file: the file.
        module: the name that its module has in the process where it was loaded.
        name: of the class.
    """

    file: str
    module: str
    name: str

    def load(self, files: dict[Path, ModuleType]) -> type[Plugin]:
        """Return the class, of the module that is there already if there is one.

        Raises:
            UsageError: the file is not there, or cannot be imported.
        """
        module = sys.modules.get(self.module)
        if module is None or module.__file__ != self.file:
            module = discovery.load_file(Path(self.file), files)
        plugin: type[Plugin] = getattr(module, self.name)
        return plugin


PluginReference = type[Plugin] | FilePlugin
"""What stands for a plugin where it is sent to another process."""


def refer(registry: Registry) -> tuple[PluginReference, ...]:
    """Return what stands for the plugins of a registry in another process."""
    return tuple(map(_reference, registry.values()))


def resolve(references: Iterable[PluginReference]) -> Registry:
    """Return the registry that references stand for.

    Raises:
        UsageError: the file of a plugin is not there, or cannot be imported.
    """
    files: dict[Path, ModuleType] = {}
    return Registry(each.load(files) if isinstance(each, FilePlugin) else each for each in references)


def _reference(plugin: type[Plugin]) -> PluginReference:
    module = sys.modules.get(plugin.__module__)
    if module is None or not plugin.__module__.startswith(discovery.OF_FILE) or module.__file__ is None:
        return plugin
    return FilePlugin(module.__file__, plugin.__module__, plugin.__name__)
