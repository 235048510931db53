"""What is said about storage besides refusals: steps that only people can take, and what the state leaves untold.

Nothing here can be tried: a volume is made by its provisioner, and what keeps it from that stands in its events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedctl.api.storage import CSIDriver, CSINode, PersistentVolume
from schedctl.cache.cluster import Cluster
from schedctl.engine.attempts import Attempt
from schedctl.explain.evidence import Evidence
from schedctl.explain.similar import did_you_mean, meant
from schedctl.framework.wording import few, name_of
from schedctl.plugins.node_volume_limits.plugin import NodeVolumeLimits
from schedctl.plugins.node_volume_limits.volumes import attachments
from schedctl.plugins.volume_binding.claims import Because
from schedctl.plugins.volume_binding.provisioning import NO_PROVISIONER
from schedctl.reports.reasons import Hint, Reason


def steps(reasons: Sequence[Reason], cluster: Cluster) -> list[Hint]:
    """Return what to do for claims that the pod waits for though the scheduler has no part in it."""
    unbound = (each for reason in reasons for each in reason.evidence.get("unbound", ()))
    return [hint for each in unbound for hint in _steps(each, cluster)]


def uncounted(outcome: Attempt) -> str:
    """Return the note that no limit of attached volumes is known, "" where one is, or where none concerns the pod."""
    judged_by = {plugin.name for plugin in outcome.profile.filter}
    if outcome.filtering is None or NodeVolumeLimits.__name__ not in judged_by or outcome.cluster.every(CSINode):
        return ""
    wanted = attachments(outcome.cluster, outcome.pod, migrating=True, running=False)
    drivers = [driver for driver in wanted.drivers if _attaches(driver, outcome.cluster)]
    if not drivers:
        return ""
    return f"no CSINode was given: how many volumes of {few(drivers)} a node can attach is not known, and not judged"


def _attaches(driver: str, cluster: Cluster) -> bool:
    known = cluster.get(CSIDriver, driver)
    return driver != NO_PROVISIONER and (known is None or known.spec.attach_required is not False)


def _steps(unbound: Evidence, cluster: Cluster) -> Iterator[Hint]:
    claim, volume = unbound["claim"], unbound["volume"]
    namespace, _, name = claim.partition("/")
    command = f"kubectl describe pvc {name} -n {namespace}"
    match Because(unbound["because"]):
        case Because.NO_VOLUME:
            other = did_you_mean(meant(volume, cluster.every(PersistentVolume)))
            yield Hint(type="create-volume", text=f"create volume {volume} for claim {name_of(claim)}{other}")
        case Because.UNFINISHED:
            text = f"the volume controller should complete the binding of claim {name_of(claim)} to volume {volume}"
            yield Hint(type="wait-for-binding", text=f"{text}; `{command}` shows what it says", command=command)
        case Because.IMMEDIATE if unbound["provisioner"] in ("", NO_PROVISIONER):
            text = f"create a volume of class {unbound['storageClass']} for claim {name_of(claim)}"
            yield Hint(type="create-volume", text=text)
        case Because.IMMEDIATE:
            maker = unbound["provisioner"]
            text = (
                f"find out why {maker} has not made a volume for claim {name_of(claim)}: `{command}` shows its events"
            )
            yield Hint(type="ask-provisioner", text=text, command=command)
