"""The state that ``-f`` names, as a cluster in memory; what is odd about it is said on standard error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedctl import sources
from schedctl.cli import faults
from schedctl.cli.progress import Bar
from schedctl.errors import UsageError
from schedctl.sources import Manifests
from schedctl.workloads.clusters import Assembled, assemble

MISSING = UsageError(
    "say where the cluster is, with -f",
    "e.g. `-f cluster.json`, as `kubectl get nodes,pods,namespaces,services,replicasets,statefulsets,priorityclasses,pv,"
    "pvc,storageclasses,csinodes -A -o json` writes it",
)
"""Clusters are read from files only; this is what to do about it."""


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
        raise MISSING
    with Bar("reading", wanted=progress) as bar:
        manifests = sources.load(paths, recursive=recursive, stdin_filename=stdin_filename, progress=bar.advance)
    assembled = assemble(one.object for one in manifests.objects)
    if not quiet:
        faults.report(manifests.warnings, "warning")
        _tell_ignored(manifests)
    if verbose:
        cluster = assembled.cluster
        faults.say(
            f"read {len(manifests.objects)} objects: {len(cluster.rows)} nodes, {len(cluster.pod_table)} pods on them,"
            f" {len(cluster.pending)} pending"
        )
    return State(manifests, assembled)


def _tell_ignored(manifests: Manifests) -> None:
    """Count objects of kinds that scheduling does not read, once for all."""
    if manifests.ignored:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(manifests.ignored.items()))
        total = manifests.ignored.total()
        faults.say(f"ignored {total} object{'s' if total > 1 else ''} that scheduling does not read: {kinds}")
