"""Where plugins come from that are not Kubernetes' own: packages that are installed, modules and files that are named.

Installed packages offer plugins under the entry point ``schedctl.plugins``; whoever installed them has decided to trust
them. A module or a file runs only because somebody named it on the command line, never because a configuration in a
repository does: cloned code must not run by itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import msgspec

from schedctl.documents.spelling import nearest
from schedctl.errors import UsageError
from schedctl.framework import contracts, faults
from schedctl.framework.points import Plugin
from schedctl.framework.registries import Registry
from schedctl.plugins.in_tree import IN_TREE, plugins_of
from schedctl.releases import NEWEST, Release

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "schedctl.plugins"
"""The entry point under which packages offer plugins."""


def _is_here(path: str) -> bool:
    """Return whether a path is the current folder, which may be gone."""
    try:
        return Path(path).samefile(Path())
    except OSError:
        return False


# Taken at import, before `_look_also_in` adds folders. What lies in the current folder is never taken for an installed
# package, even if it has a package's metadata.
_INSTALLED = tuple(path for path in sys.path if Path(path).is_absolute() and not _is_here(path))
"""Where installed packages lie: what Python looked in before a plugin was named, without the current folder."""
OF_FILE = "schedctl_plugin_"
"""How the names of modules begin that are files which somebody named."""
_HOW = "e.g. file.py, file.py:Class, module or module:Class"


class PluginCatalog(msgspec.Struct, frozen=True):
    """The plugins there are.

    Attributes:
        registry: all of them.
        origins: by name, where a plugin that is not Kubernetes' own comes from, in words.
        named: the names of those that somebody named.
        broken: by the name of an entry point, why what it offers could not be loaded.
        release: the kube-scheduler whose own plugins are among them.
    """

    registry: Registry = msgspec.field(default_factory=lambda: IN_TREE)
    origins: Mapping[str, str] = msgspec.field(default_factory=dict)
    named: tuple[str, ...] = ()
    broken: Mapping[str, str] = msgspec.field(default_factory=dict)
    release: Release = NEWEST

    @classmethod
    def of(cls, release: Release) -> PluginCatalog:
        """Return the plugins of a release, and no others."""
        return cls(plugins_of(release), release=release)

    def unknown_names(self, names: Collection[str]) -> list[str]:
        """Return those of some names that no plugin has and no entry point was asked for."""
        return [name for name in names if name not in self.registry and name not in self.broken]


def find(named: Iterable[type[Plugin] | str] = (), release: Release = NEWEST) -> PluginCatalog:
    """Return Kubernetes' own plugins and those that are named.

    Args:
        named: ``module:Class``, ``module``, ``file.py:Class`` or ``file.py``, without a class all defined there; or
            classes.
        release: whose plugins Kubernetes' own are.

    Raises:
        UsageError: what is named cannot be loaded, is no plugin, or has the name of another.
    """
    plugins: dict[str, type[Plugin]] = dict(plugins_of(release))
    origins: dict[str, str] = {}
    files: dict[Path, ModuleType] = {}
    for each in named:
        text = each if isinstance(each, str) else each.__module__
        for plugin in load(each, files) if isinstance(each, str) else _check([each], each.__name__):
            if plugin.name in plugins and plugins[plugin.name] is not plugin:
                whose = f"from {origins[plugin.name]}" if plugin.name in origins else "built in"
                raise UsageError(
                    f"{text}: duplicate plugin {plugin.name}: another is {whose}", "give it another `name`"
                )
            plugins[plugin.name] = plugin
            origins.setdefault(plugin.name, text)
    if not origins:
        return PluginCatalog.of(release)
    return PluginCatalog(Registry(plugins.values()), origins, tuple(origins), release=release)


def with_installed(found: PluginCatalog, names: Collection[str] | None = None) -> PluginCatalog:
    """Return the plugins found and those that installed packages offer.

    Args:
        found: what there is.
        names: those to look for, None for all; nothing else is imported.
    """
    plugins: dict[str, type[Plugin]] = dict(found.registry)
    origins, broken = dict(found.origins), dict(found.broken)
    for point in _entry_points():
        if names is not None and point.name not in names:
            continue
        whose = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
        try:
            offered = _of_package(point.value)
        except UsageError as fault:
            broken[point.name] = f"{fault} (of {whose})"
            continue
        # The entry point says the name without an import, so it has to be true.
        plugin_names = [plugin.name for plugin in offered]
        if plugin_names != [point.name]:
            broken[point.name] = f"{point.value} of {whose} is {' and '.join(plugin_names)}, not {point.name}"
        elif point.name not in plugins:
            plugins[point.name] = offered[0]
            origins[point.name] = whose
        elif plugins[point.name] is not offered[0]:
            broken[point.name] = f"{point.value} of {whose}: there is a plugin {point.name} already"
    return PluginCatalog(Registry(plugins.values()), origins, found.named, broken, found.release)


def load(text: str, files: dict[Path, ModuleType] | None = None) -> list[type[Plugin]]:
    """Return the plugins that a text names; see `find`.

    Args:
        text: the text.
        files: the files that have run already, which do not run twice.

    Raises:
        UsageError: they cannot be loaded, or are no plugins.
    """
    place, _, name = text.rpartition(":") if ":" in text else (text, "", "")
    if not place:
        raise UsageError(f'no module in "{text}"', _HOW)
    module = load_file(Path(place), {} if files is None else files) if place.endswith(".py") else _module(place)
    return _in(module, name, text)


def _entry_points() -> Iterator[EntryPoint]:
    from importlib import metadata  # most configurations name Kubernetes' own plugins only

    for package in metadata.distributions(path=list(_INSTALLED)):
        yield from package.entry_points.select(group=GROUP)


def _of_package(text: str) -> list[type[Plugin]]:
    """Return the plugins that an entry point names, whose module is imported from where packages are installed.

    Raises:
        UsageError: they cannot be loaded, or are no plugins.
    """
    place, _, name = text.partition(":")
    # A module of the same name in the current folder, or beside a plugin that was named, must not be taken for it.
    before = list(sys.path)
    sys.path[:] = _INSTALLED
    try:
        with _import_errors_in_words(place):
            module = importlib.import_module(place)
    finally:
        sys.path[:] = dict.fromkeys([*before, *sys.path])  # with what the module itself added
    return _in(module, name, text)


def _in(module: ModuleType, name: str, text: str) -> list[type[Plugin]]:
    """Return the plugin of a name, or all that a module defines.

    Raises:
        UsageError: there is none.
    """
    if name:
        candidates: list[object] = [_attribute(module, name, text)]
    else:
        candidates = [each for each in vars(module).values() if _is_defined_in(each, module)]
        if not candidates:
            raise UsageError(f"no plugin in {text}", "a plugin is a subclass of e.g. FilterPlugin")
    return _check(candidates, text)


def _check(candidates: Sequence[object], text: str) -> list[type[Plugin]]:
    """Return what keeps the contract of plugins.

    Raises:
        UsageError: something does not.
    """
    for candidate in candidates:
        wrong = contracts.broken_rules(candidate)
        if wrong:
            raise UsageError(f"{text}: " + "; ".join(wrong))
    return [each for each in candidates if isinstance(each, type) and issubclass(each, Plugin)]


def load_file(path: Path, files: dict[Path, ModuleType]) -> ModuleType:
    """Return the module in a file.

    Args:
        path: the file.
        files: the files that have run already, which do not run twice; this one is added.

    Raises:
        UsageError: it is not there, or cannot be imported.
    """
    if not path.is_file():
        raise UsageError(f"no such file: {path}", _HOW)
    whole = path.resolve()
    if whole in files:
        return files[whole]
    spec = importlib.util.spec_from_file_location(f"{OF_FILE}{path.stem}_{len(files)}", whole)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file", _HOW)
    module = importlib.util.module_from_spec(spec)
    _look_also_in(whole.parent)
    sys.modules[spec.name] = module  # before it runs, as dataclasses and pickles in it look themselves up
    try:
        with _import_errors_in_words(str(path), str(whole)):
            spec.loader.exec_module(module)
    except UsageError:
        del sys.modules[spec.name]
        raise
    files[whole] = module
    return module


def _module(name: str) -> ModuleType:
    _look_also_in(Path.cwd())
    with _import_errors_in_words(name):
        return importlib.import_module(name)


def _look_also_in(folder: Path) -> None:
    """Let a plugin import what lies beside it, behind everything that is installed."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@contextmanager
def _import_errors_in_words(text: str, file: str = "") -> Iterator[None]:
    """Turn whatever somebody's code raises while it is imported into words; what it prints is talk, not output.

    Raises:
        UsageError: it raised something.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except ModuleNotFoundError as fault:
        itself = fault.name is not None and f"{text}.".startswith(f"{fault.name}.")
        hint = (
            "run schedctl in the module's folder, or name the file: FILE.py"
            if itself
            else "install its dependencies next to schedctl"
        )
        raise UsageError(f"{text} cannot be imported: no module {fault.name}", hint) from fault
    except KeyboardInterrupt:
        raise
    except faults.ESCAPING as fault:
        reason = faults.describe(fault) if not file else faults.describe_in(fault, file)
        raise UsageError(f"{text} cannot be imported: {reason}") from fault


def _attribute(module: ModuleType, name: str, text: str) -> object:
    if not hasattr(module, name):
        close = nearest(name, vars(module))
        raise UsageError(f"{text}: the module has no {name}", f"did you mean {close}?" if close else "")
    found: object = getattr(module, name)
    return found


def _is_defined_in(candidate: object, module: ModuleType) -> bool:
    if not (isinstance(candidate, type) and issubclass(candidate, Plugin)):
        return False
    return candidate.__module__ == module.__name__ and not candidate.__name__.startswith("_")
