"""The way in: text of any old version to today's, with a report; or to every problem it has.

A problem that only the reader of today finds is reported at the place of the old file where it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from schedctl.config.args import ARGS, PluginArgs
from schedctl.config.expansion import KnownPlugins
from schedctl.config.legacy import configurations, policies, policy_sources
from schedctl.config.legacy.changes import Change, ConversionLog, Outcome
from schedctl.config.legacy.plugin_sets import Plain
from schedctl.config.legacy.policy_sources import PolicyText
from schedctl.config.legacy.releases import POLICY, LegacyVersion, legacy_version
from schedctl.config.legacy.translations import Draft
from schedctl.config.loading import Check, load
from schedctl.config.types import SchedulerConfiguration
from schedctl.documents.decoding import Decoder
from schedctl.documents.heads import head_of, place, read_tree
from schedctl.documents.trees import Node
from schedctl.errors import ConfigError, Problem

_ARGUMENTS: Final = re.compile(r"profiles\[(\d+)\]\.pluginConfig\[(\d+)\](.*)")


class Conversion(msgspec.Struct, frozen=True):
    """A configuration of another time as it is written today.

    Attributes:
        version: what it was.
        document: what it is now, as plain values.
        configuration: the same, read.
        changes: what became of what.
        missing: the Policy that it refers to, in words, if that is not folded in; "" otherwise.
    """

    version: LegacyVersion
    document: Plain
    configuration: SchedulerConfiguration
    changes: tuple[Change, ...]
    missing: str = ""

    def count(self, outcome: Outcome) -> int:
        """Return how many things came to such an end."""
        return sum(change.outcome is outcome for change in self.changes)

    def summary(self) -> str:
        """Return the counts in words, ``3 carried, 1 dropped, 0 lost``; what is lost is told even when nothing is."""
        counts = [(self.count(outcome), outcome) for outcome in Outcome]
        words = [f"{count} {outcome}" for count, outcome in counts if count or outcome is Outcome.LOST]
        return ", ".join(words)


def legacy_version_in(text: bytes | str, source: str = "") -> LegacyVersion | None:
    """Return the old version a text says it is of; None for today's, and for what is nothing we know.

    Raises:
        ConfigError: it is neither YAML nor JSON.
    """
    return _legacy_version(read_tree(text, source))


def convert(
    text: bytes | str,
    known: KnownPlugins,
    source: str = "",
    check: Check = lambda _: (),
    args: Mapping[str, type[PluginArgs]] = ARGS,
    files: Iterable[tuple[str, bytes]] = (),
) -> Conversion | None:
    """Return a configuration of another time in today's version; None when it is of none we know.

    Args:
        text: the file's content, UTF-8.
        known: the plugins there are today.
        source: the file as the user named it, for problems.
        check: what else must hold of the result, as for `load`.
        args: the types of the arguments of plugins, as for `load`.
        files: names and contents of files that may hold a Policy to which it refers.

    Raises:
        ConfigError: everything that is wrong with it, in the words of its own version or of today's.
    """
    node = read_tree(text, source)
    version = _legacy_version(node)
    if version is None:
        return None
    decoder, missing = Decoder(), ""
    log = ConversionLog(decoder.places)
    # a decoder of its own: `check` reports repeated fields, and would report them twice
    old = _without_null(Decoder().free(node, ""))
    if version.kind == POLICY:
        policy = policies.check(node, decoder)
        _raise(decoder, source)
        document = policies.convert(policy, policies.plain_extenders(node, Decoder()), log, known)
    else:
        configurations.check(node, decoder, version)
        _raise(decoder, source)
        reference = configurations.policy_reference(old, version)
        referred = policy_sources.find(reference, files) if reference else None
        folded = None if referred is None else _fold(referred, old, log, known)
        if reference and folded is None:
            missing = policy_sources.describe(reference)
        document = configurations.convert(old, version, log, known, folded)
    # read back with today's reader, so that nothing leaves here that kube-scheduler would refuse
    try:
        configuration = load(msgspec.json.encode(document), check=check, args=args)
    except ConfigError as wrong:
        raise ConfigError([_trace_back(one, document, old, decoder.places, source) for one in wrong.problems]) from None
    return Conversion(version, document, configuration, tuple(log.changes), missing)


def _fold(policy: PolicyText, old: Plain, log: ConversionLog, known: KnownPlugins) -> Plain:
    """Return the Policy that a configuration refers to in today's version, with what that says besides.

    Raises:
        ConfigError: everything that is wrong with it.
    """
    decoder = Decoder()
    checked = policies.check(policy.node, decoder)
    _raise(decoder, policy.source)
    of_policy = ConversionLog(decoder.places)

    def settle(draft: Draft) -> None:
        # What these mean stands in the file that refers to the Policy.
        draft.log = log
        configurations.settle(draft, old, with_policy=True)
        draft.log = of_policy
        for field in ("plugins", "pluginConfig"):
            if old.get(field):
                hint = "write them into the profile of the result"
                log.add_lost(field, f"{field} beside a Policy", "the profile is that of the Policy", hint)

    folded = policies.convert(checked, policies.plain_extenders(policy.node, Decoder()), of_policy, known, settle)
    line, column = log.places.get(policy_sources.REFERENCE, (0, 0))
    log.add_carried(policy_sources.REFERENCE, f"the Policy of {policy.source}", "the profile", "it is folded in")
    log.changes += (
        replace(each, path=f"{policy_sources.REFERENCE}: {each.path}", line=line, column=column)
        for each in of_policy.changes
    )
    return folded


def _legacy_version(node: Node) -> LegacyVersion | None:
    kind, api_version = head_of(node)
    return legacy_version(kind, api_version) if isinstance(kind, str) and isinstance(api_version, str) else None


def _raise(decoder: Decoder, source: str) -> None:
    if decoder.problems:
        problems = sorted(dict.fromkeys(decoder.problems), key=lambda one: (one.line, one.column))
        raise ConfigError([replace(problem, source=source) for problem in problems])


def _trace_back(
    problem: Problem, document: Plain, old: Plain, places: dict[str, tuple[int, int]], source: str
) -> Problem:
    """Return a problem of the converted document at the field of the old one it comes from.

    Profiles stand where they stood, but for the one that was the whole document; arguments may have moved.
    """
    path = problem.path
    found = _ARGUMENTS.fullmatch(path)
    if found:
        profile, number, rest = int(found[1]), int(found[2]), found[3]
        name = document["profiles"][profile]["pluginConfig"][number]["name"]
        before, held = (f"profiles[{profile}].", old["profiles"][profile]) if old.get("profiles") else ("", old)
        indices = [index for index, one in enumerate(held.get("pluginConfig") or ()) if one.get("name") == name]
        path = f"{before}pluginConfig[{indices[0]}]{rest}" if indices else before.removesuffix(".")
    return place(replace(problem, source=source, path=path), places)


def _without_null(value: Any) -> Any:
    """Return plain values without null, which is an absent field to Kubernetes, and in a list an empty element."""
    if isinstance(value, dict):
        return {key: _without_null(one) for key, one in value.items() if one is not None}
    if isinstance(value, list):
        text = any(isinstance(one, str) for one in value)
        return [("" if text else {}) if one is None else _without_null(one) for one in value]
    return value
