"""The state that ``-f`` names, as a cluster in memory; what is odd about it is said on standard error."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from schedctl import sources
from schedctl.api.kinds import KINDS, Kind
from schedctl.api.pods import Pod
from schedctl.cli import faults
from schedctl.cli.progress import Bar
from schedctl.errors import Problem, UsageError
from schedctl.sources import Manifests
from schedctl.workloads.clusters import Assembled, assemble


def _resource(kind: Kind) -> str:
    """Return what ``kubectl get`` calls the objects of a kind."""
    name = kind.name.lower()
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"


NOT_SERVED = "DeviceTaintRule"
"""The kind that an API server does not serve unless told to; kubectl refuses a whole list for one such name."""
RESOURCES = ",".join(_resource(kind) for kind in KINDS if kind.name != NOT_SERVED)
"""All that scheduling reads and a cluster has, as ``kubectl get`` takes it."""
NEXT_STEP = f"e.g. `-f cluster.json`, as `kubectl get {RESOURCES} -A -o json` writes it"
"""Clusters are read from files only; this is how to get one."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class State:
    """What was read.

    Attributes:
        manifests: the objects, with their places in the files.
        assembled: the cluster they make.
    """

    manifests: Manifests
    assembled: Assembled


def load(
    paths: Sequence[str], *, recursive: bool, stdin_filename: str, quiet: bool, verbose: bool, progress: bool
) -> State:
    """Return the cluster in these files and print warnings about it.

    Raises:
        UsageError: no file was named.
        InputError: the files cannot be read or understood, or hold nothing.
    """
    if not paths:
        raise UsageError("say where the cluster is, with -f", NEXT_STEP)
    with _uncollected(), Bar("reading", wanted=progress) as bar:
        manifests = sources.load(paths, recursive=recursive, stdin_filename=stdin_filename, progress=bar.advance)
        assembled = assemble(one.object for one in manifests.objects)
    if not quiet:
        faults.report(manifests.warnings, "warning")
        refused = _refused(manifests, assembled)
        shown = refused if verbose else refused[:_SHOWN]
        faults.report(shown, "warning")
        if len(refused) > len(shown):
            faults.say(f"warning: {len(refused) - len(shown)} more like these; `-v` lists them")
        _tell_ignored(manifests)
    if verbose:
        cluster = assembled.cluster
        faults.say(
            f"read {len(manifests.objects)} objects: {len(cluster.rows)} nodes, {len(cluster.pod_table)} pods on them,"
            f" {len(cluster.pending)} pending"
        )
    return State(manifests, assembled)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away from objects that live as long as the process, now and later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _refused(manifests: Manifests, assembled: Assembled) -> list[Problem]:
    """Return why an API server would have refused pods that were written by hand, with their places."""
    if not assembled.warnings:
        return []
    pods = {one.object.key: one for one in manifests.objects if isinstance(one.object, Pod)}
    return [
        pods[key].problem(text) if key in pods else Problem(text, subject=f"Pod {key}")
        for key, texts in assembled.warnings.items()
        for text in texts
    ]


def _tell_ignored(manifests: Manifests) -> None:
    """Count objects of kinds that scheduling does not read, once for all."""
    if manifests.ignored:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(manifests.ignored.items()))
        total = manifests.ignored.total()
        faults.say(f"ignored {total} object{'s' if total > 1 else ''} that scheduling does not read: {kinds}")
