"""Values for options that were not given behind the command: from in front of it, or from the user's configuration.

An option that may have such a default names the environment variable ``SCHEDCTL_…`` for it, which comes before the
configuration file; the field of the file is of the same name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schedctl.errors import ConfigError

PREFIX = "SCHEDCTL_"
_CHANGING = ("bind",)
"""Commands that change a cluster: no file that came with a repository has a say in them."""
_REPORTING = ("check",)
"""Commands that read the same files again, and put what is wrong with them into their report files."""
_CONFIG, _NO_CONFIG = "--config", "--no-config"


class Defaults(dict[str, Any]):
    """What the configuration files set, by the name of the option's parameter; they are read when one is looked up.

    Args:
        parameters: those of the command.
        arguments: what was given to it, which may name another configuration file.
        command: its name.
    """

    def __init__(self, parameters: Sequence[Any], arguments: Sequence[str], command: str) -> None:
        super().__init__()
        self._fields = {each.name for each in parameters if str(getattr(each, "envvar", "") or "").startswith(PREFIX)}
        takes_config = any(_CONFIG in getattr(each, "opts", ()) for each in parameters)
        self._file, self._ignored = _config_file(arguments) if takes_config else ("", False)
        self._of_repository = command not in _CHANGING
        self._is_reporting = command in _REPORTING
        self._read: dict[str, Any] | None = None

    def get(self, name: str, default: Any = None) -> Any:
        """Return what is set for an option, else a default."""
        if name not in self._fields or self._ignored:
            return default
        if self._read is None:
            from schedctl.session import settings

            try:
                self._read = settings.defaults(self._file, of_repository=self._of_repository)
            except ConfigError:
                if not self._is_reporting:
                    raise
                self._read = {}
        return self._read.get(name, default)


def options_before_command(parameters: Sequence[Any], root: Any) -> list[str]:
    """Return the options in front of the command, as kubectl takes them, that the command takes behind it."""
    found = []
    for each in parameters:
        value = root.params.get(each.name)
        source = root.get_parameter_source(each.name) if value else None
        if source is not None and source.name == "COMMANDLINE" and each.opts:
            found.append(f"{each.opts[-1]}={value}" if isinstance(value, str) else each.opts[-1])
    return found


def _config_file(arguments: Sequence[str]) -> tuple[str, bool]:
    """Return the configuration file that the arguments name, and whether none is to be read."""
    file = ""
    for number, argument in enumerate(arguments):
        if argument == "--":
            break
        if argument == _CONFIG:
            file = next(iter(arguments[number + 1 :]), "")
        elif argument.startswith(f"{_CONFIG}="):
            file = argument.removeprefix(f"{_CONFIG}=")
        elif argument == _NO_CONFIG:
            return "", True
    return file, False
