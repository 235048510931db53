"""How a run is run, by the words of the command line, and how its progress and its timeline leave it."""

from __future__ import annotations

import random

from typing_extensions import override

from schedctl.cache.cluster import Cluster
from schedctl.documents.spelling import nearest
from schedctl.errors import UsageError
from schedctl.session import notifiers
from schedctl.simulation import tie_breaking
from schedctl.simulation.outcomes import Run
from schedctl.simulation.runs import Progress
from schedctl.simulation.tie_breaking import TieBreaker
from schedctl.workloads.admission import PLUGINS
from schedctl.workloads.rollouts import ROLLOUT_STRATEGIES, RolloutStrategy


def rollout_strategy(name: str) -> RolloutStrategy:
    """Return what ``--rollout`` stands for.

    Raises:
        UsageError: there is no such strategy.
    """
    for known in ROLLOUT_STRATEGIES:
        if known == name:
            return known
    raise UsageError(f'unknown rollout strategy "{name}"', f"--rollout takes {', '.join(ROLLOUT_STRATEGIES)}")


def draw_first_node(cluster: Cluster, seed: int) -> None:
    """Have the first search of a run that samples begin at a node that the seed draws.

    Where it begins depends on all that kube-scheduler has placed before, which nobody knows.
    """
    if len(cluster.rows):
        cluster.start_next_at(random.Random(f"{seed}/start").randrange(len(cluster.rows)))


def admission_plugins(names: str) -> tuple[str, ...]:
    """Return the admission plugins that ``--skip-admission`` names, in any case of letters.

    Raises:
        UsageError: there is no such plugin.
    """
    known = {plugin.lower(): plugin for plugin in PLUGINS}
    named = [name.strip() for name in names.split(",") if name.strip()]
    for name in named:
        if name.lower() not in known:
            close = nearest(name, known) or next((each for each in known if name.lower() in each), "")
            hint = f"did you mean {known[close]}?" if close else f"expected one of {', '.join(PLUGINS)}"
            raise UsageError(f'unknown admission plugin "{name}"', hint)
    return tuple(plugin for plugin in PLUGINS if plugin.lower() in {name.lower() for name in named})


def chooser(seed: int | None) -> TieBreaker:
    """Return what decides between equally good nodes."""
    return tie_breaking.first_by_name if seed is None else tie_breaking.draw_ties(seed)


class RunProgress(Progress):
    """Tells how far a run is; how much is left is known only from what is queued at the moment."""

    def __init__(self, progress: notifiers.Progress) -> None:
        self._progress = progress

    @override
    def on_attempt(self, run: Run, queued: int) -> None:
        self._progress.advance(run.attempts, run.attempts + queued, f"{queued} queued")
