"""The options by which another command asks about the same: the state, whose rules hold, the scheduler, the what-ifs.

An answer ends with commands to paste. One that left an option out would be about another cluster, or other rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedctl.session.sessions import Session
    from schedctl.session.states import StateSource


def options_of(session: Session) -> list[str]:
    """Return the options that ask about what a session is about, each with its value as a word of its own.

    Where names are redacted, those stay out that may have some.
    """
    source, chosen = session.source, session.options
    words = [*_with_each("-f", source.paths_to_show), *_flag("--no-recursive", not source.recursive)]
    words += [*_with_value("--kube-version", source.versions.kube_version)]
    words += [*_with_value("--feature-gates", source.versions.feature_gates)]
    if source.redaction is not None:
        return words
    words += _of_live_cluster(source)
    words += [*_with_value("--scheduler-config", chosen.configuration), *_with_value("--profile", chosen.profile)]
    words += [*_with_each("--plugin", chosen.plugins), *_flag("--allow-extenders", chosen.extenders.allowed)]
    words += [*_with_value("--extender-replay", chosen.extenders.replay)]
    return words + [word for option, text in session.what_if_words for word in (f"--{option}", text)]


def _of_live_cluster(source: StateSource) -> list[str]:
    access = source.access
    words = [*_flag("--live", source.live), *_flag("--scheduler-config-from-cluster", source.configured)]
    if access is not None:
        words += [*_with_value("--context", access.context), *_with_value("--kubeconfig", access.kubeconfig)]
        words += [*_with_value("--as", access.user), *_with_each("--as-group", access.groups)]
    return words


def _with_value(option: str, value: str) -> tuple[str, ...]:
    return (option, value) if value else ()


def _with_each(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _flag(option: str, is_set: bool) -> tuple[str, ...]:
    return (option,) if is_set else ()
