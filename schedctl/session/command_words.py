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
    words = [*_repeated("-f", source.paths_to_show), *_flag("--no-recursive", not source.recursive)]
    words += [*_valued("--kube-version", source.versions.kube_version)]
    words += [*_valued("--feature-gates", source.versions.feature_gates)]
    if source.redaction is not None:
        return words
    words += _of_live_cluster(source)
    words += [*_valued("--scheduler-config", chosen.configuration), *_valued("--profile", chosen.profile)]
    words += [*_repeated("--plugin", chosen.plugins), *_flag("--allow-extenders", chosen.extenders.allowed)]
    words += [*_valued("--extender-replay", chosen.extenders.replay)]
    return words + [word for option, text in session.what_if_words for word in (f"--{option}", text)]


def _of_live_cluster(source: StateSource) -> list[str]:
    access = source.access
    words = [*_flag("--live", source.live), *_flag("--scheduler-config-from-cluster", source.configured)]
    if access is not None:
        words += [*_valued("--context", access.context), *_valued("--kubeconfig", access.kubeconfig)]
        words += [*_valued("--as", access.user), *_repeated("--as-group", access.groups)]
    return words


def _valued(option: str, value: str) -> tuple[str, ...]:
    return (option, value) if value else ()


def _repeated(option: str, values: Sequence[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _flag(option: str, is_set: bool) -> tuple[str, ...]:
    return (option,) if is_set else ()
