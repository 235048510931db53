"""The short ways in for programs: from files and mappings to a cluster, a pod, or a simulation.

What the command line takes many options for is a call here, with the same reading, the same admission and the same
words for what is wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from typing import Any

import msgspec

from schedctl import sources
from schedctl.api import defaults, times
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.api.kinds import Kind
from schedctl.api.pods import Pod
from schedctl.cache.cluster import Cluster
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import InputError, Problem
from schedctl.scheduler import Scheduler
from schedctl.simulation.runs import Options
from schedctl.simulation.simulations import Simulation
from schedctl.simulation.simulations import simulate as run_simulation
from schedctl.sources.terms import READING, Terms
from schedctl.workloads.clusters import assemble
from schedctl.workloads.rollouts import RolloutStrategy
from schedctl.workloads.volume_controller import complete_written

Source = str | PathLike[str] | Mapping[str, Any]
"""A path (a file, folder or glob), or an object as JSON would have it, be it a single one or a List."""
_OBJECT = "<object>"
"""What messages call an object that is from no file."""


def read(*inputs: Source, kinds: Iterable[Kind] = ()) -> Cluster:
    """Return the cluster that files and objects describe.

    Args:
        *inputs: manifests, `kubectl get -o json` outputs, snapshots, or objects; later ones take the place of earlier
            ones of the same kind and name.
        kinds: other people's kinds to read, as plugins ask for them (`Plugin.kinds`).

    Raises:
        InputError: something cannot be read or understood, or there is nothing at all; with every problem.
    """
    manifests = _load(inputs, Terms(kinds=tuple(kinds)))
    missing = [gap for header in manifests.snapshots for gap in header.missing]
    cluster = assemble((one.object for one in manifests.objects), missing).cluster
    complete_written(cluster)
    taken = min((header.taken for header in manifests.snapshots if header.taken), default="")
    if taken:
        cluster.now = times.Moment(times.unix_nanoseconds(taken))
    return cluster


def objects(*inputs: Source) -> list[Any]:
    """Return the API structs of files and objects, pods with Kubernetes' defaults, for `Cluster.add_node` and `put`.

    Raises:
        InputError: something cannot be read or understood, or there is nothing at all; with every problem.
    """
    found = (one.object for one in _load(inputs, READING).objects)
    return [defaults.pod(obj) if isinstance(obj, Pod) else obj for obj in found]


def pod(source: Source) -> PodInfo:
    """Return the one pod that a file or an object describes, with Kubernetes' defaults, to judge or attempt it.

    Raises:
        InputError: it cannot be read or understood, or is not one pod.
    """
    found = objects(source)
    if len(found) != 1 or not isinstance(found[0], Pod):
        what = f"{len(found)} objects" if len(found) != 1 else f"a {type(found[0]).__name__}"
        raise InputError([Problem(f"expected one Pod, got {what}", source=_name(source))])
    return PodInfo(found[0])


def simulate(
    scheduler: Scheduler,
    *inputs: Source,
    namespace: str = DEFAULT_NAMESPACE,
    strategy: RolloutStrategy = "replace",
    skip_admission: Collection[str] = (),
    options: Options | None = None,
) -> Simulation:
    """Create manifests in the scheduler's cluster, run until nothing can move, and return the facts.

    The cluster is changed; wrap it in ``with scheduler.fork():`` to have it back. Without manifests, the pods that are
    pending in the cluster are scheduled.

    Args:
        scheduler: the profiles and the cluster.
        *inputs: what is to be created, in this order.
        namespace: of objects that name none.
        strategy: how new pods take the place of old ones: ``replace``, ``add`` or ``rolling``.
        skip_admission: admission plugins that are switched off.
        options: how the run is run.

    Raises:
        InputError: something cannot be read, or the API server would refuse an object; then nothing is changed.
        ValueError: there is no admission plugin of a name in `skip_admission`.
    """
    manifests = _load(inputs, Terms(creating=True, namespace=namespace)) if inputs else sources.Manifests([])
    if manifests.problems:
        raise InputError(manifests.problems, manifests.warnings)
    return run_simulation(
        scheduler,
        manifests.objects,
        passed=manifests.ignored,
        strategy=strategy,
        disabled=skip_admission,
        strict=True,
        options=options,
    )


def _load(inputs: Iterable[Source], terms: Terms) -> sources.Manifests:
    """Return what is in some sources, each after the other."""
    found: sources.Manifests | None = None
    for source in inputs:
        if isinstance(source, Mapping):
            more = sources.load_text(msgspec.json.encode(source), _name(source), terms=terms)
        else:
            more = sources.load([_name(source)], terms=terms)
        if found is None:
            found = more
        else:
            problems = found.problems + more.problems
            found = sources.overlay(found, more)
            found.problems += problems
    if found is None:
        raise InputError([Problem("no objects in the input")])
    return found


def _name(source: Source) -> str:
    return _OBJECT if isinstance(source, Mapping) else str(source)
