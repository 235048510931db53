"""The state that a question is about, as a cluster in memory; what is odd about it is said on standard error.

It is that of a live cluster, unless ``-f`` names files; ``--live`` lays the files over the live cluster. A command gets
the options that say so by one line, and the answer as one argument::

    @with_state
    def explain(..., where: Where) -> int:
        state = where.load(...)
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from schedctl.cli import faults, options
from schedctl.cli.progress import Bar, Bars
from schedctl.cli.signatures import Command, extended
from schedctl.errors import UsageError

if TYPE_CHECKING:
    from schedctl.api.gaps import Gap
    from schedctl.api.kinds import Kind
    from schedctl.errors import Problem
    from schedctl.live.connections import Connection
    from schedctl.live.kubeconfigs import Access
    from schedctl.live.listing import Listing
    from schedctl.sources import Manifests
    from schedctl.workloads.clusters import AssembledCluster

_SHOWN = 5
_OPTIONS = {
    "filename": (options.State, None),
    "recursive": (options.Recursive, False),
    "stdin_filename": (options.StdinFilename, "<stdin>"),
    "live": (options.Live, False),
    "context": (options.Context, ""),
    "kubeconfig": (options.Kubeconfig, ""),
    "as_user": (options.As, ""),
    "as_group": (options.AsGroup, None),
    "request_timeout": (options.RequestTimeout, ""),
    "scheduler_config_from_cluster": (options.SchedulerConfigFromCluster, False),
}
_OF_A_CLUSTER = (
    "context",
    "kubeconfig",
    "as_user",
    "as_group",
    "request_timeout",
    "scheduler_config_from_cluster",
)


@dataclass(frozen=True, slots=True)
class State:
    """What was read.

    Attributes:
        manifests: the objects, with their places in the files.
        assembled: the cluster they make.
        listing: what the live cluster answered, None where none was asked.
        connection: the live cluster, None where none was asked.
        laid_over: what was laid over the live cluster, in words.
    """

    manifests: Manifests
    assembled: AssembledCluster
    listing: Listing | None = None
    connection: Connection | None = None
    laid_over: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[Gap, ...]:
        """The kinds that could not be listed, by the live cluster or by whoever wrote a snapshot."""
        return tuple(_missing(self.manifests, self.listing))

    @property
    def taken(self) -> str:
        """When the cluster looked like this, RFC 3339; "" where nobody said."""
        times = [header.taken for header in self.manifests.snapshots if header.taken]
        return self.listing.taken if self.listing else min(times, default="")


@dataclass(slots=True)
class Where:
    """Where the state is.

    Attributes:
        paths: the files, ``-`` for standard input.
        recursive: whether folders include the folders in them.
        stdin_filename: what to call standard input.
        live: whether the live cluster is asked even though there are files.
        access: which live cluster, and as whom.
        configured: whether the live cluster is asked for the configuration of its scheduler.
    """

    paths: tuple[str, ...] = ()
    recursive: bool = False
    stdin_filename: str = "<stdin>"
    live: bool = False
    access: Access | None = None
    configured: bool = False
    _connection: Connection | None = field(default=None, repr=False)

    @property
    def of_cluster(self) -> bool:
        """Whether a live cluster is asked."""
        return self.live or not self.paths

    def connection(self) -> Connection:
        """Return the live cluster, opened once.

        Raises:
            ClusterError: it cannot be.
        """
        if self._connection is None:
            from schedctl.live.connections import Connection
            from schedctl.live.kubeconfigs import Access

            self._connection = Connection.open(self.access or Access())
        return self._connection

    def namespace(self, given: str) -> str:
        """Return the namespace of names without one: the one given, else that of the context; "" for the usual one."""
        return given or (self.connection().namespace if self.of_cluster else "")

    def load(self, *, quiet: bool, verbose: bool, progress: bool, kinds: tuple[Kind, ...] = ()) -> State:
        """Return the state and print warnings about it.

        Args:
            quiet: print none.
            verbose: print all, and what was read.
            progress: show how far reading is.
            kinds: other people's kinds that are read besides, as plugins ask for them.

        Raises:
            ClusterError: the live cluster cannot be read.
            InputError: the files cannot be read or understood, or hold nothing.
        """
        state = self._read(verbose, progress, kinds)
        if not quiet:
            _warn(state, verbose)
        if verbose:
            cluster = state.assembled.cluster
            faults.say(
                f"read {len(state.manifests.objects)} objects: {len(cluster.rows)} nodes,"
                f" {len(cluster.pod_table)} pods on them, {len(cluster.pending)} pending"
            )
        return state

    def _read(self, verbose: bool, progress: bool, kinds: tuple[Kind, ...]) -> State:
        from schedctl import sources
        from schedctl.api import times
        from schedctl.workloads.clusters import assemble

        listing = connection = None
        over: tuple[str, ...] = ()
        with _uncollected():
            if self.of_cluster:
                connection = self.connection()
                listing, manifests = _listed(connection, verbose, progress, kinds)
            if self.paths:
                with Bar("reading", wanted=progress) as bar:
                    given = sources.load(
                        self.paths,
                        recursive=self.recursive,
                        stdin_filename=self.stdin_filename,
                        progress=bar.advance,
                        terms=sources.Terms(kinds=kinds),
                    )
                over = _laid_over(given) if self.of_cluster else ()
                manifests = sources.laid_over(manifests, given) if self.of_cluster else given
            assembled = assemble((one.object for one in manifests.objects), _missing(manifests, listing), kinds)
        state = State(manifests, assembled, listing, connection, over)
        if state.taken:
            moment = times.unix_nanoseconds(state.taken)
            assembled.cluster.now = lambda: moment
        return state


LIVE = Where()
"""The live cluster of the current context."""


def with_state(command: Command) -> Command:
    """Give a command the options that say where the state is; it gets them as the argument ``where``."""
    return extended(command, "where", _OPTIONS, _where)


def with_live_state(command: Command) -> Command:
    """Do as `with_state` for a command that is about a live cluster: the options about files are not in its help."""
    return extended(
        command, "where", {name: (_unseen(name), default) for name, (_, default) in _OPTIONS.items()}, _where
    )


def _unseen(name: str) -> Any:
    """Return the annotation of an option, out of sight where it is about files."""
    annotation = _OPTIONS[name][0]
    if name in _OF_A_CLUSTER:
        return annotation
    kind, option = get_args(annotation)
    option = copy(option)
    option.hidden = True
    return Annotated[kind, option]


def _where(given: Mapping[str, Any], context: typer.Context) -> Where:
    """Return where the state is.

    Raises:
        UsageError: a live cluster is described and none is to be asked.
    """
    from schedctl.cli import durations
    from schedctl.live.kubeconfigs import Access

    paths = tuple(given["filename"] or ())
    described = [name for name in _OF_A_CLUSTER if given[name]]
    if paths and described and not given["live"]:
        flag = f"--{described[0].replace('as_user', 'as').replace('_', '-')}"
        raise UsageError(
            f"{flag} is about a live cluster, and -f about files", "--live lays the files over the cluster"
        )
    access = Access(
        context=given["context"],
        kubeconfig=given["kubeconfig"],
        user=given["as_user"],
        groups=tuple(given["as_group"] or ()),
        timeout=durations.seconds(given["request_timeout"], "--request-timeout"),
    )
    return Where(
        paths,
        given["recursive"],
        given["stdin_filename"],
        given["live"],
        access,
        given["scheduler_config_from_cluster"],
    )


def _missing(manifests: Manifests, listing: Listing | None) -> Iterator[Gap]:
    yield from listing.missing if listing else ()
    for header in manifests.snapshots:
        yield from header.missing


def _laid_over(given: Manifests) -> tuple[str, ...]:
    """Say of each file how much of it is laid over the live cluster."""
    from schedctl.reports import counts

    found = Counter(one.source for one in given.objects)
    return tuple(f"{counts.of(number, 'object')} of {name} laid over the cluster" for name, number in found.items())


def _listed(
    connection: Connection, verbose: bool, progress: bool, kinds: tuple[Kind, ...]
) -> tuple[Listing, Manifests]:
    from schedctl import sources
    from schedctl.api.kinds import KINDS
    from schedctl.live import listing

    counts: dict[str, int] = {}
    with Bars("listing", wanted=progress) as bars:

        def advance(kind: str, done: int, total: int) -> None:
            counts[kind] = done
            bars.advance(kind, done, total)

        found = listing.read(connection, (*KINDS, *kinds), progress=advance)
    if verbose:
        _tell_listed(connection, found, counts)
    terms = sources.Terms(kinds=kinds)
    return found, sources.load_listed(connection.name, (page.body for page in found.pages), terms)


def _tell_listed(connection: Connection, found: Listing, counts: Mapping[str, int]) -> None:
    """Say of each kind how much of it there is, or why nobody knows."""
    faults.say(f"listed {connection.name}, Kubernetes {found.server_version or 'of unknown version'}")
    for kind, version in found.versions.items():
        faults.say(f"  {kind}: {counts.get(kind, 0)}, at resourceVersion {version}")
    for gap in found.missing:
        faults.say(f"  {gap.kind}: unknown: {gap.text or gap.reason}")
    for kind in found.unserved:
        faults.say(f"  {kind}: none, the server does not serve them")


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector away from objects that live as long as the process, now and later."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _warn(state: State, verbose: bool) -> None:
    faults.report(state.manifests.warnings, "warning")
    refused = _refused(state.manifests, state.assembled)
    shown = refused if verbose else refused[:_SHOWN]
    faults.report(shown, "warning")
    if len(refused) > len(shown):
        faults.say(f"warning: {len(refused) - len(shown)} more like these; `-v` lists them")
    _tell_ignored(state.manifests)


def _refused(manifests: Manifests, assembled: AssembledCluster) -> list[Problem]:
    """Return why an API server would have refused pods that were written by hand, with their places."""
    from schedctl.api.pods import Pod
    from schedctl.errors import Problem

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
