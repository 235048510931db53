"""``schedctl watch``: a pending pod, explained again whenever the cluster changes, until it is bound."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_live_state
from schedctl.errors import UsageError
from schedctl.session.states import StateSource

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
@with_notifier
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
    *,
    notifier: StandardError,
    source: StateSource,
) -> int:
    """Explain a pending pod of the live cluster, and again whenever its answer changes, until it is bound.

    Everything that scheduling reads is watched. What changes at once is one change; what changes nothing about the pod
    is not told. Next steps are not looked for: `schedctl explain` does.
    """
    from schedctl.cli import durations
    from schedctl.cli.printing import Printer
    from schedctl.session import configurations
    from schedctl.session import watch as use_case
    from schedctl.session.sessions import SchedulerOptions, Session
    from schedctl.session.subjects import POD, find, parse_names, scope

    if output not in ("text", "json"):
        raise UsageError(f'there is no output "{output}" of watch', "-o takes text or json")
    if source.paths:
        raise UsageError("files do not change: watch asks the live cluster", "`schedctl explain` takes -f")
    printer = Printer.of(output, color)
    _, names = parse_names(subjects or [])
    if len(names) != 1 or names[0].kind is not POD:
        raise UsageError("say which pod to watch, one at a time", "e.g. `schedctl watch pod web-0 -n shop`")
    seconds = durations.seconds(timeout, "--timeout")
    within = scope(source.namespace(namespace), everywhere=False)
    session = Session(source, SchedulerOptions(scheduler_config, profile), notifier)
    session.load()
    (pod,) = find(names[0], session.state.assembled, within)
    if not (notifier.quiet or session.choice.profile):
        configurations.suggest_profile_for(pod, session.choice, notifier)
    digest = use_case.headline if output == "text" else lambda answer: answer
    return use_case.watch(session, pod, printer.tell, seconds=seconds, digest=digest)
