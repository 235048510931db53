"""``schedctl watch``: a pending pod, explained again whenever the cluster changes, until it is bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedctl.cli import options, suggestions
from schedctl.errors import UsageError
from schedctl.session.states import LIVE, Where, with_live_state

if TYPE_CHECKING:
    from schedctl.api.pods import Pod
    from schedctl.live.watching import News
    from schedctl.reports.explanations import Explanation
    from schedctl.reports.watches import WatchLine
    from schedctl.workloads.clusters import AssembledCluster

EXAMPLES = """\b
Examples:
  schedctl watch pod web-0 -n shop
  schedctl watch pod shop/web-0 --timeout 10m
  schedctl watch pod web-0 -n shop -o json               a document a line, for each change of the answer

\b
Exit codes: 0 the pod is bound, 1 it is gone, has ended without a node or is still pending after --timeout, 2 usage,
configuration or output, 4 cluster, 70 a bug, 130 interrupted, 141 the reader went away.
"""


@with_live_state
def watch(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(metavar="pod NAME", help="Also pod/NAME and NS/NAME.", autocompletion=suggestions.subjects),
    ] = None,
    namespace: Annotated[str, typer.Option("-n", "--namespace", metavar="NS", help="Of a name without one.")] = "",
    timeout: Annotated[str, typer.Option(metavar="DURATION", help="Watch no longer than this; 0 is for ever.")] = "0",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    output: Annotated[str, typer.Option("-o", "--output", metavar="FORMAT", help="text, or json lines.")] = "text",
    color: options.Color = "auto",
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
    where: Where = LIVE,
) -> int:
    """Explain a pending pod of the live cluster, and again whenever its answer changes, until it is bound.

    Everything that scheduling reads is watched. What changes at once is one change; what changes nothing about the pod
    is not told. Next steps are not looked for: `schedctl explain` does.
    """
    from schedctl.cli import durations
    from schedctl.cli.printing import Printer
    from schedctl.live.watching import Watch
    from schedctl.reports import watches
    from schedctl.session import configurations
    from schedctl.session.subjects import POD, find, named, scope
    from schedctl.session.watch import Troubles

    if output not in ("text", "json"):
        raise UsageError(f'there is no output "{output}" of watch', "-o takes text or json")
    if where.paths:
        raise UsageError("files do not change: watch asks the live cluster", "`schedctl explain` takes -f")
    printer = Printer.of(output, color)
    _, names = named(subjects or [])
    if len(names) != 1 or names[0].kind is not POD:
        raise UsageError("say which pod to watch, one at a time", "e.g. `schedctl watch pod web-0 -n shop`")
    seconds = durations.seconds(timeout, "--timeout")
    within = scope(where.namespace(namespace), everywhere=False)
    chosen = configurations.choose(scheduler_config, profile, where)
    if not quiet:
        configurations.warn(chosen)
    state = where.load(quiet=quiet, verbose=verbose, progress=not no_progress, kinds=chosen.registry.kinds)
    (pod,) = find(names[0], state.assembled, within)
    assert state.connection is not None
    assert state.listing is not None
    ask = _asking(state.assembled, pod, chosen)
    if not (quiet or chosen.profile):
        configurations.offer_for(pod, chosen)
    with Watch(state.connection, state.listing) as watched:
        return _until_bound(
            state.assembled,
            pod,
            ask,
            watched.news,
            printer.tell,
            seconds=seconds,
            said=Troubles(quiet).said,
            news_of=watches.headline if output == "text" else lambda answer: answer,
        )


def _asking(assembled: AssembledCluster, pod: Pod, chosen: Any) -> Callable[[Pod], Explanation]:
    """Return what explains the pod as it is now on the cluster as it is now."""
    import msgspec

    from schedctl.explain import explanations
    from schedctl.scheduler import Scheduler

    def ask(now: Pod) -> Explanation:
        if chosen.profile:
            spec = msgspec.structs.replace(now.spec, scheduler_name=chosen.profile)
            now = msgspec.structs.replace(now, spec=spec)
        scheduler = Scheduler(assembled.cluster, chosen.configuration, chosen.registry, extenders=chosen.extenders)
        return explanations.explain(scheduler, now, hints=False)

    return ask


def _until_bound(
    assembled: AssembledCluster,
    pod: Pod,
    ask: Callable[[Pod], Explanation],
    news: Callable[[float | None], list[News]],
    tell: Callable[[WatchLine], None],
    *,
    seconds: float | None,
    said: Callable[[Iterable[News]], None],
    news_of: Callable[[Explanation], Any],
) -> int:
    """Tell each change of the answer until the pod is bound, gone, or watched for long enough; return the exit code."""
    from schedctl.api.pods import FINISHED
    from schedctl.reports import watches
    from schedctl.reports.watches import Event, WatchLine
    from schedctl.session.watch import applied
    from schedctl.workloads.clusters import every_pod

    until = None if seconds is None else time.monotonic() + seconds
    last: Explanation | None = None
    changed = True
    while True:
        if changed:
            pods = [info.pod for info in every_pod(assembled.cluster)] + list(assembled.finished.values())
            now = next((each for each in pods if each.key == pod.key), None)
            if now is None or now.metadata.uid != pod.metadata.uid:
                tell(WatchLine(time=_now(), event=Event.DELETED, pod=pod.key, text=f"pod {pod.key} is gone"))
                return 1
            if now.spec.node_name:
                text = watches.bound(pod.key, now.spec.node_name, last)
                tell(WatchLine(time=_now(), event=Event.BOUND, pod=pod.key, node=now.spec.node_name, text=text))
                return 0
            if now.status.phase in FINISHED:
                text = f"pod {pod.key} has ended without a node ({now.status.phase})"
                tell(WatchLine(time=_now(), event=Event.ENDED, pod=pod.key, text=text))
                return 1
            answer = ask(now)
            if last is None or news_of(answer) != news_of(last):
                tell(WatchLine(time=_now(), event=Event.ANSWER, pod=pod.key, result=answer))
            last = answer
        left = None if until is None else until - time.monotonic()
        if left is not None and left <= 0:
            tell(WatchLine(time=_now(), event=Event.PENDING, pod=pod.key, text=f"pod {pod.key} is still pending"))
            return 1
        heard = news(left)
        said(heard)
        changed = applied(assembled, heard)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def add_to(application: typer.Typer) -> None:
    """Register the command."""
    application.command(short_help="Explain a pending pod again whenever the cluster changes.", epilog=EXAMPLES)(watch)
