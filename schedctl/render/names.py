"""``-o name``: a line for each pod, as kubectl writes names, and the node it goes to."""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.explain.reports import ExplainReport
from schedctl.render import sanitise


def lines(report: ExplainReport) -> Iterator[str]:
    """Yield ``pod/web-7 node/node-3``, the pod alone where no node was chosen."""
    for result in report.results:
        pod = f"pod/{sanitise.text(result.pod.name)}"
        yield f"{pod} node/{sanitise.text(result.chosen)}" if result.chosen else pod
