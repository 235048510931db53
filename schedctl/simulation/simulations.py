"""A whole simulation: manifests to what became of their pods, through expansion, admission, rollouts and the queue.

`simulate` prepares the cluster and runs it (``runs``) with a `RolloutController`; ``report_builder`` makes the report.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from schedctl.errors import InputError
from schedctl.scheduler import Scheduler
from schedctl.simulation.outcomes import Run
from schedctl.simulation.rollout_controller import RolloutController
from schedctl.simulation.runs import Options, Progress, run
from schedctl.simulation.utilisation import Measure, measure
from schedctl.workloads.api_server import Admission, join
from schedctl.workloads.expansion import Expansion, SourcedObject, expand
from schedctl.workloads.rollouts import RolloutStrategy, plan


class Simulation(msgspec.Struct, frozen=True):
    """The facts of a simulated release; the cluster is as the run left it.

    Attributes:
        run: what became of the pods.
        controller: which pods were created, refused and replaced.
        expansion: what the manifests make.
        before, after: how full the cluster was and is.
    """

    run: Run
    controller: RolloutController
    expansion: Expansion
    before: Measure
    after: Measure


def simulate(
    scheduler: Scheduler,
    objects: Iterable[SourcedObject],
    *,
    passed: Mapping[str, int] | None = None,
    strategy: RolloutStrategy = "replace",
    disabled: Collection[str] = (),
    strict: bool = False,
    name: str = "",
    before: Measure | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Simulation:
    """Create objects in the scheduler's cluster, run until nothing can move, and return the facts.

    The cluster is changed; wrap it in ``with scheduler.fork():`` to have it back. Pods that were pending before take
    part as well.

    Args:
        scheduler: the profiles and the cluster.
        objects: the objects, in the order in which they are created.
        passed: how many objects there were beside them that are not read.
        strategy: how new pods take the place of old ones.
        disabled: admission plugins that are switched off.
        strict: whether an object that the API server would refuse ends everything before anything has changed.
        name: the scheduler name of all pods that are created, "" for their own.
        before: how full the cluster was before anything; as it is now if None.
        options: how the run is run.
        progress: is told how far the run has come.

    Raises:
        ValueError: there is no admission plugin of a name in `disabled`.
        InputError: with `strict`.
    """
    cluster = scheduler.cluster
    before = before or measure(cluster)
    expansion = expand(objects, cluster, passed)
    if strict and expansion.refused:
        raise InputError(expansion.refused)
    updates = plan(expansion.groups, cluster, strategy)
    admission = Admission(cluster, disabled)
    created = {id(workload.object) for workload in join(expansion, cluster, admission)}
    updates = [update for update in updates if id(update.workload.object) in created]
    controller = RolloutController(scheduler, updates, admission, scheduler_name=name)
    facts = run(scheduler, options=options, events=controller.start(), controller=controller, progress=progress)
    return Simulation(facts, controller, expansion, before, measure(cluster, before.label))
