"""schedctl: a dry-run kube-scheduler.

It loads a cluster into memory, runs the scheduling framework of a chosen profile for a pod, and keeps every verdict,
score and choice that kube-scheduler computes and throws away. What is listed here is the library; each name is imported
when it is first used, so that ``import schedctl`` costs next to nothing::

    from schedctl import Scheduler, read

    scheduler = Scheduler(read("cluster.yaml"))
    for pod in scheduler.cluster.pending.values():
        print(pod.key, scheduler.judge(pod).feasible)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedctl.versions import KUBERNETES_VERSION, __version__

if TYPE_CHECKING:
    from schedctl.cache.cluster import Cluster
    from schedctl.cache.pod_info import PodInfo
    from schedctl.engine.attempts import Attempt
    from schedctl.errors import ConfigError, InputError, NotModelled, SchedctlError, UsageError
    from schedctl.scheduler import Scheduler
    from schedctl.scheduler.judgements import Judgement, NodeJudgement
    from schedctl.session.library import objects, pod, read, simulate
    from schedctl.simulation.outcomes import PodOutcome, Run
    from schedctl.simulation.simulations import Simulation

__all__ = [
    "KUBERNETES_VERSION",
    "Attempt",
    "Cluster",
    "ConfigError",
    "InputError",
    "Judgement",
    "NodeJudgement",
    "NotModelled",
    "PodInfo",
    "PodOutcome",
    "Run",
    "SchedctlError",
    "Scheduler",
    "Simulation",
    "UsageError",
    "__version__",
    "objects",
    "pod",
    "read",
    "simulate",
]

_HOMES = {
    "Attempt": "schedctl.engine.attempts",
    "Cluster": "schedctl.cache.cluster",
    "ConfigError": "schedctl.errors",
    "InputError": "schedctl.errors",
    "Judgement": "schedctl.scheduler.judgements",
    "NodeJudgement": "schedctl.scheduler.judgements",
    "NotModelled": "schedctl.errors",
    "PodInfo": "schedctl.cache.pod_info",
    "PodOutcome": "schedctl.simulation.outcomes",
    "Run": "schedctl.simulation.outcomes",
    "SchedctlError": "schedctl.errors",
    "Scheduler": "schedctl.scheduler",
    "Simulation": "schedctl.simulation.simulations",
    "UsageError": "schedctl.errors",
    "objects": "schedctl.session.library",
    "pod": "schedctl.session.library",
    "read": "schedctl.session.library",
    "simulate": "schedctl.session.library",
}
"""Where each name lives."""


def __getattr__(name: str) -> Any:
    """Import a name of the library when it is first used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(home), name)
    return found


def __dir__() -> list[str]:
    return __all__
