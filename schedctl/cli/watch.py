"""``schedctl watch``: a pending pod or pod group, explained again whenever the cluster changes, until it is bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from schedctl.cli import options, suggestions
from schedctl.cli.help_text import OUTPUT
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_live_state
from schedctl.errors import UsageError
from schedctl.session.states import StateSource

if TYPE_CHECKING:
    from schedctl.api.pod_groups import PodGroup
    from schedctl.cli.printing import Printer
    from schedctl.session.sessions import Session

EXAMPLES = """
Examples:
  schedctl watch pod web-0 -n shop
  schedctl watch pod shop/web-0 --timeout 10m
  schedctl watch pod web-0 -n shop -o json       # one JSON line per change
  schedctl watch podgroup train -n ml --feature-gates GenericWorkload=true

Exit codes: 0 the pod, or each pod of the group, is bound; 1 it is gone, has ended without a node or is still pending
after --timeout; 2 usage, configuration or output; 4 cluster; 70 a bug; 130 interrupted; 141 output closed
"""


@with_live_state
@with_notifier
def watch(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[pod|podgroup] NAME", help="Also pod/NAME and NS/NAME", autocompletion=suggestions.pods
        ),
    ] = None,
    namespace: options.Namespace = "",
    timeout: Annotated[
        str, typer.Option(metavar="DURATION", help="Stop watching after this time, e.g. 10m (0: never)")
    ] = "0",
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    plugin: options.Plugins = None,
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FORMAT",
            help="text (default), or json: one line per change",
            rich_help_panel=OUTPUT,
            autocompletion=suggestions.words("text", "json"),
        ),
    ] = "text",
    color: options.Color = "auto",
    *,
    notifier: StandardError,
    source: StateSource,
) -> int:
    """Explain a pending pod or pod group of the live cluster again whenever its answer changes, until it is bound.

    Everything that scheduling reads is watched; a change that does not affect the answer prints nothing. Fixes are not
    tried here: `schedctl explain` does that.
    """
    from functools import partial

    from msgspec.structs import replace

    from schedctl.cli import durations
    from schedctl.cli.printing import Printer
    from schedctl.session import configurations
    from schedctl.session import watch as use_case
    from schedctl.session.sessions import SchedulerOptions, Session
    from schedctl.session.subject_kinds import POD, POD_GROUP
    from schedctl.session.subjects import find, named_among, parse_names, scope

    if output not in ("text", "json"):
        raise UsageError(f'unknown output "{output}"', "-o takes text or json")
    if source.paths:
        raise UsageError("watch reads the live cluster, but -f reads files", "use `schedctl explain` with -f")
    printer = Printer.of(output, color)
    _, names = parse_names(subjects or [])
    if len(names) != 1 or names[0].kind not in (POD, POD_GROUP, None):
        raise UsageError("watch takes exactly one pod or pod group", "e.g. `schedctl watch pod web-0 -n shop`")
    seconds = durations.seconds(timeout, "--timeout")
    within = scope(source.namespace(namespace), everywhere=False)
    session = Session(source, SchedulerOptions(scheduler_config, profile, plugins=plugin or ()), notifier)
    session.load(about=partial(named_among, names, within))
    if names[0].kind is POD_GROUP:
        (group,) = find(names[0], session.state.assembled, within)
        return _watch_group(session, group, printer, seconds, in_full=output == "json")
    (pod,) = find(replace(names[0], kind=POD), session.state.assembled, within)
    if not (notifier.quiet or session.choice.profile):
        configurations.suggest_profile_for(pod, session.choice, notifier)
    digest = use_case.headline if output == "text" else lambda answer: answer
    return use_case.watch(session, pod, printer.tell, seconds=seconds, digest=digest)


def _watch_group(session: Session, group: PodGroup, printer: Printer, seconds: float | None, *, in_full: bool) -> int:
    """Watch a pod group and return the exit code.

    Raises:
        UsageError: groups are off.
    """
    from schedctl.releases import GENERIC_WORKLOAD
    from schedctl.session import watch_groups

    if not session.cluster.release.enabled(GENERIC_WORKLOAD):
        raise UsageError(
            f"PodGroup {group.key} cannot be watched: {GENERIC_WORKLOAD} is off, and its pods are scheduled one by one",
            f"`--feature-gates {GENERIC_WORKLOAD}=true`",
        )
    if in_full:
        return watch_groups.watch_group(session, group, printer.tell, seconds=seconds)
    return watch_groups.watch_group(session, group, printer.tell, seconds=seconds, digest=watch_groups.headline)
