"""The workloads of a state as they run, for a check of the cluster itself: manifests that change nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from schedctl.api.defaults import with_namespace
from schedctl.api.pods import FINISHED, Pod
from schedctl.api.workloads import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from schedctl.documents.findings import Place
from schedctl.documents.texts import Document, Text
from schedctl.session.states import State
from schedctl.sources import Manifests

_KINDS = (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, ReplicationController, Pod)
_NOWHERE = Document(Text("the cluster", None, editable=False), 0, 0, Place(0, 0), json=True)
"""What is found in a cluster is in no file, even where the state was read from one."""


def workloads_of(state: State) -> Manifests:
    """Return what makes pods and has no controller in the state itself.

    Jobs count while they have pods. A CronJob is there by the Jobs that it has made.
    """
    objects = [one for one in state.manifests.objects if isinstance(one.object, _KINDS) and not _has_ended(one.object)]
    there = {(one.kind.name, *_key(one.object)) for one in objects}
    busy = {owner for one in objects if isinstance(one.object, Pod) for owner in _controllers(one.object)}
    return Manifests(
        [
            msgspec.structs.replace(one, document=_NOWHERE, index=-1, line=0, column=0)
            for one in objects
            if there.isdisjoint(_controllers(one.object))
            and (not isinstance(one.object, Job) or (one.kind.name, *_key(one.object)) in busy)
        ]
    )


def _has_ended(obj: Any) -> bool:
    return isinstance(obj, Pod) and obj.status.phase in FINISHED


def _key(obj: Any) -> tuple[str, str]:
    metadata = with_namespace(obj.metadata)
    return metadata.namespace, metadata.name


def _controllers(obj: Any) -> set[tuple[str, str, str]]:
    """Return kind, namespace and name of what controls an object."""
    namespace, _ = _key(obj)
    references = obj.metadata.owner_references or ()
    return {(reference.kind, namespace, reference.name) for reference in references if reference.controller}
