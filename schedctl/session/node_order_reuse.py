"""What a run says of OpportunisticBatching, which is not reproduced: where it can matter, a warning.

While the gate is on, kube-scheduler may place a pod by the node order of an equal one right before it, for half a
second; whether it does depends on time and on what else is scheduled in between.
"""

from __future__ import annotations

from collections import Counter

from schedctl.cache.pod_info import PodInfo
from schedctl.framework.profiles import Profile
from schedctl.scheduler import Scheduler
from schedctl.session.notifiers import Notifier
from schedctl.simulation.outcomes import Run

GATE = "OpportunisticBatching"
_SPREAD = "PodTopologySpread"


def warn_of_reuse(run: Run, scheduler: Scheduler, notifier: Notifier) -> None:
    """Say that kube-scheduler may place equal pods of a run otherwise, where its profile lets it."""
    release = scheduler.cluster.release
    if not release.enabled(GATE):
        return
    reusing = {name for name, profile in scheduler.profiles.items() if not _spreads_by_default(profile)}
    infos = (outcome.pod for outcome in run.pods.values())
    alike = Counter(_key(info) for info in infos if info.pod.spec.scheduler_name in reusing and _has_key(info))
    names = sorted({name for (name, *_), number in alike.items() if number > 1})
    if names:
        which = f"profile {names[0]} has" if len(names) == 1 else f"profiles {', '.join(names)} have"
        notifier.warn(
            f"{which} no default spreading constraints, so that kube-scheduler {release.version} may place equal pods"
            f" by the node order of the one before ({GATE}); this is not reproduced, and it may take other nodes",
            f"`--feature-gates {GATE}=false` answers for a kube-scheduler that is started with it off",
        )


def _spreads_by_default(profile: Profile) -> bool:
    plugin = profile.plugins.get(_SPREAD)
    return plugin is not None and (plugin.args.defaulting_type == "System" or bool(plugin.args.default_constraints))


def _has_key(info: PodInfo) -> bool:
    """Return whether kube-scheduler compares the pod with others at all."""
    spec, affinity = info.pod.spec, info.pod.spec.affinity
    among_pods = affinity is not None and bool(affinity.pod_affinity or affinity.pod_anti_affinity)
    return not (among_pods or spec.topology_spread_constraints or spec.resource_claims)


def _key(info: PodInfo) -> tuple[str, object, frozenset[tuple[str, str]]]:
    return info.pod.spec.scheduler_name, info.demand.needs, frozenset(info.labels.items())
