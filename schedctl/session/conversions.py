"""Configurations of other times written as kube-scheduler reads them today, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from schedctl.config import loading
from schedctl.config.legacy import converting
from schedctl.config.legacy.converting import Conversion
from schedctl.documents import heads
from schedctl.documents.decoding import Decoder
from schedctl.errors import ConfigError, Problem
from schedctl.plugins.in_tree import IN_TREE
from schedctl.releases import NEWEST, Release
from schedctl.scheduler import discovery
from schedctl.scheduler.configurations import makeable
from schedctl.session import configurations


class CurrentConfiguration(msgspec.Struct, frozen=True):
    """A configuration of the version that kube-scheduler reads.

    Attributes:
        source: what it was read from, in words.
        document: the configuration.
        conversion: what became of what was in it, None where it was of today's version already.
    """

    source: str
    document: dict[str, Any]
    conversion: Conversion | None


def convert(file: str, others: Sequence[str] = ()) -> CurrentConfiguration:
    """Return a configuration of any version in today's.

    Args:
        file: its name, ``-`` for standard input.
        others: files that may hold the Policy to which it refers.

    Raises:
        ConfigError: it cannot be read, or is none, or has plugins that kube-scheduler would not find.
    """
    text, source = configurations.contents(file)
    texts = [(configurations.name_of(each), configurations.read_bytes(each)) for each in others]
    conversion = converting.convert(text, IN_TREE, source, files=[(source, text), *texts])
    if conversion is not None:
        return CurrentConfiguration(source, conversion.document, conversion)
    # What is of today's version is looked at as by `validate`, but for the plugins of other projects.
    loading.load(text, source, lambda configuration: makeable(configuration, IN_TREE, partial=True))
    return CurrentConfiguration(source, Decoder().free(heads.read_tree(text, source), ""), None)


def validate(
    files: Sequence[str], plugins: Sequence[str] = (), release: Release = NEWEST
) -> Iterator[tuple[str, list[str]]]:
    """Yield the source of each valid configuration, and the names of its profiles.

    Args:
        files: their names, ``-`` for standard input.
        plugins: what ``--plugin`` names.
        release: the kube-scheduler that is to follow them.

    Raises:
        ConfigError: some are not valid, after all were looked at; with every problem of each.
        UsageError: a plugin cannot be loaded.
    """
    found = discovery.find(plugins, release)
    problems: list[Problem] = []
    for file in files:
        try:
            text, source = configurations.contents(file)
            outdated = _version_problems(text, source, file, release)
            problems += outdated
            # an outdated one is still read: what else is wrong with it is worth knowing before it is converted
            configuration = configurations.parse(text, source, found)
            if not outdated:
                yield source, [profile.scheduler_name for profile in configuration.profiles]
        except ConfigError as wrong:
            problems += wrong.problems
    if problems:
        raise ConfigError(problems)


def _version_problems(text: bytes, source: str, file: str, release: Release) -> list[Problem]:
    """Return that a configuration is of another time, [] if it is of today."""
    version = converting.legacy_version_in(text, source)
    if version is None:
        return []
    head = heads.read_tree(text, source).value
    line, column = next((value.line, value.column) for key, value in head if key.value == "apiVersion")
    message = f"is {version}, which kube-scheduler {release.version} refuses"
    hint = f"`schedctl profiles convert {file}` converts it"
    return [Problem(message, source, line, column, path="apiVersion", hint=hint)]
