"""The state that a question is about, as a cluster in memory, from a live cluster, from files, or both.

What is odd about it goes to a notifier. `updates` of `workloads` keep the cluster as the live one changes.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from schedctl.session.names import AS_WRITTEN, Names
from schedctl.session.notifiers import SILENT, Notifier
from schedctl.session.version_options import DEFAULT_VERSION, VersionOptions

if TYPE_CHECKING:
    from schedctl.api.gaps import Gap
    from schedctl.api.kinds import Kind
    from schedctl.errors import Problem
    from schedctl.live.connections import Connection
    from schedctl.live.kubeconfigs import Access
    from schedctl.live.listing import Listing
    from schedctl.session.kube_versions import Rules
    from schedctl.session.redactions import RedactionOptions
    from schedctl.sources import Manifests
    from schedctl.workloads.clusters import AssembledCluster

_has_read = False
"""Whether this process has read a state."""
About = Callable[[str, str], bool]
"""Whether a question may be about the object of a kind and a key, of which warnings are then told."""
_SHOWN = 5
_OTHERS = ("Pod", "Deployment", "DaemonSet", "Job", "CronJob")
"""The kinds of which one that is not asked about has no part in the answer but by the room its pods take."""


def about_nothing(kind: str, key: str) -> bool:
    """Return False, for a question that is about no pod or workload of the state in particular."""
    return False


class State(msgspec.Struct, frozen=True):
    """What was read.

    Attributes:
        manifests: the objects, with their places in the files.
        assembled: the cluster they make.
        listing: what the live cluster answered, None where none was asked.
        connection: the live cluster, None where none was asked.
        overlay: what was laid over the live cluster, in words.
        rules: the kube-scheduler that judges, None for the newest.
        names: the names in a question about it, which are others where it was redacted.
    """

    manifests: Manifests
    assembled: AssembledCluster
    listing: Listing | None = None
    connection: Connection | None = None
    overlay: tuple[str, ...] = ()
    rules: Rules | None = None
    names: Names = AS_WRITTEN

    @property
    def missing(self) -> tuple[Gap, ...]:
        """The kinds that could not be listed, by the live cluster or by whoever wrote a snapshot."""
        return tuple(_gaps(self.manifests, self.listing))

    @property
    def taken(self) -> str:
        """When the cluster looked like this, RFC 3339; "" where nobody said."""
        times = [header.taken for header in self.manifests.snapshots if header.taken]
        return self.listing.taken if self.listing else min(times, default="")


@dataclass(slots=True)
class StateSource:
    """Where the state is read from.

    Attributes:
        paths: the files, ``-`` for standard input.
        recursive: whether folders include the folders in them.
        stdin_filename: what to call standard input.
        live: whether the live cluster is asked even though there are files.
        access: which live cluster, and as whom.
        configured: whether the live cluster is asked for the configuration of its scheduler.
        strict: whether foreign files in folders are refused.
        versions: what the options say about the kube-scheduler that judges.
        redaction: how the state is redacted before anything is asked about it, None where it is not.
    """

    paths: tuple[str, ...] = ()
    recursive: bool = True
    stdin_filename: str = "<stdin>"
    live: bool = False
    access: Access | None = None
    configured: bool = False
    strict: bool = False
    versions: VersionOptions = DEFAULT_VERSION
    redaction: RedactionOptions | None = None
    _connection: Connection | None = field(default=None, repr=False)

    @property
    def of_cluster(self) -> bool:
        """Whether a live cluster is asked."""
        return self.live or not self.paths

    @property
    def paths_to_show(self) -> tuple[str, ...]:
        """The files as a command in an answer names them."""
        return self.paths if self.redaction is None else ("STATE",) * bool(self.paths)

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

    def namespace(self, explicit: str) -> str:
        """Return the namespace of names without one: the explicit one, else the context's; "" for the usual one."""
        return explicit or (self.connection().namespace if self.of_cluster else "")

    def load(
        self,
        notifier: Notifier = SILENT,
        *,
        kinds: tuple[Kind, ...] = (),
        about: About | None = None,
        created: Manifests | None = None,
    ) -> State:
        """Return the state; warnings about it go to the notifier.

        Args:
            notifier: hears what is said on the way.
            kinds: other people's kinds that are read besides, as plugins ask for them.
            about: whether a pod or workload is asked about; warnings about others are counted and not told. None
                tells all.
            created: the manifests that are asked about, which are redacted with the state.

        Raises:
            ClusterError: the live cluster cannot be read.
            InputError: the files cannot be read or understood, or hold nothing.
            UsageError: there are names that no token can stand for.
        """
        state = self._read(notifier, kinds, created)
        if not notifier.quiet:
            _warn(state, notifier, about)
        if notifier.verbose:
            cluster = state.assembled.cluster
            notifier.say(
                f"read {len(state.manifests.objects)} objects: {len(cluster.rows)} nodes,"
                f" {len(cluster.pod_table)} pods on them, {len(cluster.pending)} pending"
            )
        return state

    def state_under(self, state: State, rules: Rules, kinds: tuple[Kind, ...]) -> State:
        """Return what was read as a cluster of its own, judged by another kube-scheduler."""
        assembled = self._assemble(state.manifests, state.listing, kinds, rules)
        assembled.cluster.now = state.assembled.cluster.now
        return replace(state, assembled=assembled, rules=rules)

    def _assemble(
        self, manifests: Manifests, listing: Listing | None, kinds: tuple[Kind, ...], rules: Rules
    ) -> AssembledCluster:
        from schedctl.workloads.clusters import assemble
        from schedctl.workloads.volume_controller import complete_written

        objects = (one.object for one in manifests.objects)
        assembled = assemble(objects, _gaps(manifests, listing), kinds, rules.release)
        if self.paths:
            complete_written(assembled.cluster)
        return assembled

    def _read(self, notifier: Notifier, kinds: tuple[Kind, ...], created: Manifests | None) -> State:
        from schedctl import sources
        from schedctl.api import times

        listing = connection = None
        overlaid: tuple[str, ...] = ()
        with _without_collector():
            if self.of_cluster:
                connection = self.connection()
                listing, manifests = _list(connection, notifier, kinds)
            if self.paths:
                with notifier.progress("reading") as progress:
                    files = sources.load(
                        self.paths,
                        recursive=self.recursive,
                        stdin_filename=self.stdin_filename,
                        progress=progress.advance,
                        terms=sources.Terms(kinds=kinds, strict=self.strict),
                    )
                overlaid = _overlaid(files) if self.of_cluster else ()
                manifests = sources.overlay(manifests, files) if self.of_cluster else files
            from schedctl.session import kube_versions

            rules = kube_versions.rules_of(self.versions, kube_versions.state_version(manifests, listing))
            names = AS_WRITTEN
            if self.redaction is not None:
                from schedctl.session import redactions

                manifests, names = redactions.redact_state(self.redaction, manifests, listing, created, notifier)
                listing, connection, overlaid = None, None, ()
            assembled = self._assemble(manifests, listing, kinds, rules)
        state = State(manifests, assembled, listing, connection, overlaid, rules, names)
        if state.taken:
            # Ages and timeouts are as of the snapshot or listing: the same input gives the same answer on any day.
            assembled.cluster.now = times.Moment(times.unix_nanoseconds(state.taken))
        return state


def _gaps(manifests: Manifests, listing: Listing | None) -> Iterator[Gap]:
    from schedctl.api.gaps import Gap

    yield from listing.missing if listing else ()
    for header in manifests.snapshots:
        yield from header.missing
    if _lacks_pods(manifests, listing):
        yield Gap("Pod", "LeftOut")


def _lacks_pods(manifests: Manifests, listing: Listing | None) -> bool:
    """Whether workloads in files report pods, and nobody has listed any."""
    from schedctl.api.pods import Pod

    if listing is not None or manifests.snapshots or not manifests.reported:
        return False
    # A pod that is neither on a node nor from a cluster is one to ask about, beside the state.
    pods = (one.object for one in manifests.objects if isinstance(one.object, Pod))
    return not any(pod.metadata.uid or pod.spec.node_name for pod in pods)


def _missing_pods(manifests: Manifests) -> Problem:
    """Return the warning about a state that has workloads and none of their pods."""
    from schedctl.reports import counts

    number = counts.of(len(manifests.reported), "workload")
    reports = "reports" if len(manifests.reported) == 1 else "report"
    message = f"{number} {reports} pods, but none of them is in the input"
    hint = "read the pods, too; without them the nodes look empty"
    return manifests.reported[0].problem(message, ("status",), hint)


def _overlaid(files: Manifests) -> tuple[str, ...]:
    """Say of each file how much of it is laid over the live cluster."""
    from schedctl.reports import counts

    found = Counter(one.source for one in files.objects)
    return tuple(
        f"{counts.of(number, 'object')} of {name} replaced or added in the cluster as read"
        for name, number in found.items()
    )


def _list(connection: Connection, notifier: Notifier, kinds: tuple[Kind, ...]) -> tuple[Listing, Manifests]:
    from schedctl import sources
    from schedctl.api.kinds import KINDS
    from schedctl.live import listing

    counts: dict[str, int] = {}
    with notifier.step_progress("listing") as progress:

        def advance(kind: str, done: int, total: int) -> None:
            counts[kind] = done
            progress.advance(kind, done, total)

        found = listing.read(connection, (*KINDS, *kinds), progress=advance)
    if notifier.verbose:
        _say_listed(connection, found, counts, notifier)
    terms = sources.Terms(kinds=kinds)
    return found, sources.load_listed(connection.name, (page.body for page in found.pages), terms)


def _say_listed(connection: Connection, found: Listing, counts: Mapping[str, int], notifier: Notifier) -> None:
    """Say of each kind how much of it there is, or why nobody knows."""
    notifier.say(f"listed {connection.name}, Kubernetes {found.server_version or 'of unknown version'}")
    for kind, version in found.versions.items():
        notifier.say(f"  {kind}: {counts.get(kind, 0)}, at resourceVersion {version}")
    for gap in found.missing:
        notifier.say(f"  {gap.kind}: unknown: {gap.text or gap.reason}")
    for kind in found.unserved:
        notifier.say(f"  {kind}: none: the server does not serve them")


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the garbage collector away from objects that live as long as the process, now and later.

    That is the first state that a process reads, and the only one of nearly all; later ones are collected as usual.
    """
    global _has_read  # asking the collector what is frozen takes as long as all that is frozen has objects
    gc.disable()
    try:
        yield
    finally:
        if not _has_read:
            gc.freeze()  # what was read is never garbage, so that later collections need not look through it
            _has_read = True
        gc.enable()


def _warn(state: State, notifier: Notifier, about: About | None) -> None:
    from schedctl.reports import counts

    def is_told(problem: Problem) -> bool:
        kind, _, key = problem.subject.partition(" ")
        return notifier.verbose or about is None or kind not in _OTHERS or about(kind, key)

    found = state.manifests.warnings
    about_these = [*filter(is_told, found)]
    if _lacks_pods(state.manifests, state.listing):
        notifier.report([_missing_pods(state.manifests)], "warning")
    notifier.report(about_these, "warning")
    all_refused = _refusals(state.manifests, state.assembled)
    refused = [*filter(is_told, all_refused)]
    shown = refused if notifier.verbose else refused[:_SHOWN]
    notifier.report(shown, "warning")
    if len(refused) > len(shown):
        notifier.say(f"warning: {len(refused) - len(shown)} more like these; `-v` lists them")
    others = len(found) + len(all_refused) - len(about_these) - len(refused)
    if others:
        notifier.say(f"{counts.of(others, 'warning')} about other objects: -v")
    _say_ignored(state.manifests, notifier)


def _refusals(manifests: Manifests, assembled: AssembledCluster) -> list[Problem]:
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


def _say_ignored(manifests: Manifests, notifier: Notifier) -> None:
    """Count objects of kinds that scheduling does not read, once for all."""
    if manifests.ignored:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(manifests.ignored.items()))
        total = manifests.ignored.total()
        notifier.say(f"ignored {total} object{'s' if total > 1 else ''} that scheduling does not read: {kinds}")
