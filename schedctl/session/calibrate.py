"""How far the decisions that a cluster shows come out as they were."""

from __future__ import annotations

from schedctl.calibration import replays, report_builder, timelines
from schedctl.calibration.traces import KnownHistory, nominations, shunned_nodes
from schedctl.reports.calibrations import CalibrationReport
from schedctl.reports.metadata import Metadata
from schedctl.session import histories
from schedctl.session.sessions import Session


def calibrate(session: Session, *, last: int) -> CalibrationReport:
    """Make the newest decisions again, and return how many come out as they were.

    Args:
        session: with its state loaded.
        last: how many decisions.
    """
    state, cluster = session.state, session.cluster
    scheduled, preempted, failed, notes = histories.read_decisions(state)
    scheduler = session.scheduler()
    timeline = timelines.timeline(scheduler, scheduled)
    with session.notifier.progress("deciding") as progress:
        lines = replays.recorded_refusals(scheduler, failed)
        made = replays.replay(scheduler, timeline, most=last, lines=lines, progress=progress.advance)
    known = KnownHistory(
        timeline,
        timelines.pods_gone(cluster, list(state.assembled.finished.values()), scheduled),
        nominations(preempted),
        sorted({info.pod.spec.node_name for info in cluster.strays.values()}),
        shunned_nodes(made.replays),
    )
    metadata = Metadata(configuration=session.choice.origin, inputs=session.inputs, **session.version_fields)
    return report_builder.report(made, known, metadata=metadata, notes=notes)
