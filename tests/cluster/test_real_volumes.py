"""Stories about storage, acted out by the real controllers: kube-controller-manager binds, a provisioner makes volumes.

Where it ends is written down in `volume_stories`, to which ``tests/simulation/test_volumes.py`` holds a run of ours.
"""

from __future__ import annotations

import threading
import time
from contextlib import closing, contextmanager
from itertools import pairwise

import pytest

from tests.cluster.control_plane import Api, Refused
from tests.cluster.volume_stories import ANYWHERE, PROVISIONED, PROVISIONER, STORIES, nodes

pytestmark = pytest.mark.cluster

RESYNC = 15.0
"""Seconds after which kube-controller-manager looks again at claims that it could do nothing for."""
LONGEST = 4 * RESYNC
NAMED_PROVISIONER = "volume.kubernetes.io/storage-provisioner"


def test_real_controllers_end_every_story_as_written(controlled_api):
    for node in nodes():
        controlled_api.create(node)
    with provisioning(controlled_api):
        together = [story for story in STORIES if not story.alone]
        for story in together:
            tell(controlled_api, story)
        found = endings(controlled_api, together)
        clean(controlled_api)
        for story in STORIES:
            if story.alone:
                tell(controlled_api, story)
                found |= endings(controlled_api, [story])
                clean(controlled_api)
    differing = {name: ending for name, ending in found.items() if ending != written(name, ending)}
    assert not differing, "\n".join(f"{name}: {ending}" for name, ending in differing.items())


def tell(api, story):
    """Create the objects of a story, and what comes after volumes when kube-controller-manager has seen all of them.

    It watches claims apart from volumes, and would bind a claim to the best of those it has seen by then.
    """
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": story.space}})
    for obj, following in pairwise((*story.objects, None)):
        api.create(obj)
        if obj["kind"] == "PersistentVolume" and (following is None or following["kind"] != obj["kind"]):
            wait_for_volumes(api)


def wait_for_volumes(api):
    """Wait until each volume has the phase that kube-controller-manager gives it when it has taken it in."""
    deadline = time.monotonic() + LONGEST
    while any(volume["status"].get("phase", "Pending") == "Pending" for volume in api.all("PersistentVolume")):
        assert time.monotonic() < deadline, "kube-controller-manager does not see a volume"
        time.sleep(0.02)


def endings(api, stories):
    """How the stories end, by name: at once if as written, else as they are when nothing can change any more.

    A claim that is to stay pending is looked at twice by the controller before that is believed.
    """
    began = time.monotonic()
    least = 2 * RESYNC if any("" in (*each.volumes.values(), *each.nodes.values()) for each in stories) else 0.0
    while True:
        found = ending_of(api, stories)
        age = time.monotonic() - began
        if age > LONGEST or (age >= least and all(ending == written(name, ending) for name, ending in found.items())):
            return found
        time.sleep(0.5)


def ending_of(api, stories):
    """By the name of each story, the volumes of its claims and the nodes of its pods."""
    claims, pods, found = api.all("PersistentVolumeClaim"), api.all("Pod"), {}
    for story in stories:
        volumes, places = {}, {}
        for claim in claims:
            if claim["metadata"]["namespace"] == story.space:
                name = claim["spec"].get("volumeName", "") if claim["status"]["phase"] == "Bound" else ""
                volumes[claim["metadata"]["name"]] = PROVISIONED if name.startswith("pvc-") else name
        for pod in pods:
            if pod["metadata"]["namespace"] == story.space:
                places[pod["metadata"]["name"]] = pod["spec"].get("nodeName", "")
        found[story.name] = (volumes, places)
    return found


def written(name, ending):
    """The ending of a story as it is written down, with the nodes of `ending` where any will do."""
    (story,) = (each for each in STORIES if each.name == name)
    places = {pod: ending[1].get(pod) or node if node == ANYWHERE else node for pod, node in story.nodes.items()}
    return story.volumes, places


def clean(api):
    """Delete what the stories made; what controllers hold on to by finalizers goes by force."""
    for kind in ("StatefulSet", "Pod", "PersistentVolumeClaim", "PersistentVolume", "StorageClass"):
        for obj in api.all(kind):
            api.delete(obj)
        deadline = time.monotonic() + LONGEST
        while left := api.all(kind):
            assert time.monotonic() < deadline, f"{len(left)} objects of kind {kind} stay"
            for obj in left:
                if obj["metadata"].get("finalizers"):
                    free_of_finalizers(api, obj)
            time.sleep(0.2)


def free_of_finalizers(api, obj):
    """Let an object go; it may be gone already, or have changed, and is looked at again."""
    obj["metadata"]["finalizers"] = []
    try:
        api.replace(obj)
    except Refused:
        return


@contextmanager
def provisioning(api):
    """A provisioner at work: it makes a volume for each claim that kube-controller-manager gives to it."""
    done, made = threading.Event(), set()

    def work():
        with closing(Api(api.kubeconfig)) as own:
            while not done.wait(0.2):
                for claim in own.all("PersistentVolumeClaim"):
                    metadata, by = claim["metadata"], claim["metadata"].get("annotations", {}).get(NAMED_PROVISIONER)
                    if by == PROVISIONER and not claim["spec"].get("volumeName") and metadata["uid"] not in made:
                        made.add(metadata["uid"])
                        own.create(volume_for(claim))

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        yield
    finally:
        done.set()
        worker.join()


def volume_for(claim):
    """The volume that the provisioner makes for a claim, which it names."""
    spec, metadata = claim["spec"], claim["metadata"]
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": f"pvc-{metadata['uid']}",
            "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER},
        },
        "spec": {
            "capacity": spec["resources"]["requests"],
            "accessModes": spec["accessModes"],
            "storageClassName": spec["storageClassName"],
            "persistentVolumeReclaimPolicy": "Delete",
            "csi": {"driver": PROVISIONER, "volumeHandle": metadata["uid"]},
            "claimRef": {**reference, **{key: metadata[key] for key in ("namespace", "name", "uid")}},
        },
    }
