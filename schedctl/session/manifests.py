"""The manifests that a command is about: what is to be created, as opposed to the state it is created in (``-f``)."""

from __future__ import annotations

from collections.abc import Sequence

from schedctl import sources
from schedctl.api.custom_kinds import CustomKind
from schedctl.api.kinds import Kind
from schedctl.errors import InputError, Problem, UsageError
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.sources import Manifests, Terms
from schedctl.sources.files import STDIN


def check_sources(paths: Sequence[str], kustomizations: Sequence[str], state: Sequence[str]) -> None:
    """Hold up a question that cannot be answered before anything is read.

    Raises:
        UsageError: there are no manifests, or they and the state are to come from standard input.
    """
    if not (paths or kustomizations):
        raise UsageError("no manifests given", "name files or folders, `-` for standard input, or `-k DIR`")
    if STDIN in paths and STDIN in state:
        raise UsageError("manifests and cluster cannot both be read from standard input", "write one of them to a file")


def load(
    paths: Sequence[str],
    kustomizations: Sequence[str],
    *,
    recursive: bool,
    stdin_filename: str,
    namespace: str,
    allow_empty: bool,
    strict: bool,
    custom_kinds: tuple[CustomKind, ...],
    notifier: Notifier = SILENT,
    kinds: tuple[Kind, ...] = (),
) -> Manifests:
    """Return the objects that are to be created; what the API server would refuse of them is in `problems`.

    Raises:
        InputError: something cannot be read, or there is nothing; with `strict`, also if anything would be refused.
    """
    with notifier.progress("reading") as progress:
        read = sources.load(
            paths,
            recursive=recursive,
            stdin_filename=stdin_filename,
            progress=progress.advance,
            allow_empty=allow_empty,
            terms=Terms(True, custom_kinds, namespace, kinds, strict),
            kustomizations=kustomizations,
        )
    if strict and read.problems:
        raise InputError(read.problems, read.warnings)
    return read


def unread_warnings(read: Manifests) -> list[Problem]:
    """Return a warning for each file in a folder that looks like a manifest and was not read."""
    return [Problem(f"looks like a manifest and is not read: {each.reason}", each.file) for each in read.unread]
