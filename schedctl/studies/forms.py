"""A ``Study`` as it is written in a file: one base question, and the axes along which it is asked again."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Form(msgspec.Struct, frozen=True, rename="camel", kw_only=True, forbid_unknown_fields=True):
    """Base of the parts of a study."""


class MetadataForm(Form, frozen=True):
    """What the study is called.

    Attributes:
        name: its name.
    """

    name: str = ""


class SimulateForm(Form, frozen=True):
    """Where the pods of manifests go.

    Attributes:
        manifests: files and folders.
        namespace: of objects that name none.
        rollout: how new pods take the place of old ones.
        sampling: whether only as many nodes are looked at as kube-scheduler would look at.
    """

    manifests: tuple[str, ...] = ()
    namespace: str = ""
    rollout: Literal["replace", "add", "rolling"] = "replace"
    sampling: bool = False


class DrainForm(Form, frozen=True):
    """What draining nodes would do.

    Attributes:
        nodes: their names; or one of the two below.
        selector: labels of nodes.
        zone: a zone.
        ignore_daemon_sets: leave pods of DaemonSets where they are.
        delete_empty_dir_data: evict pods with emptyDir volumes.
        force: evict pods that no controller makes again.
    """

    nodes: tuple[str, ...] = ()
    selector: str = ""
    zone: str = ""
    ignore_daemon_sets: bool = True
    delete_empty_dir_data: bool = True
    force: bool = True


class CapacityForm(Form, frozen=True):
    """How many more pods fit.

    Attributes:
        like: pods and workloads as ``KIND/NAME``, or files.
        namespace: of names without one.
        most: how many are tried.
    """

    like: tuple[str, ...] = ()
    namespace: str = ""
    most: int = 10_000


class CheckForm(Form, frozen=True):
    """Whether policies hold.

    Attributes:
        manifests: files and folders.
        policies: files and folders; none for the rule that every pod finds a node.
        namespace: of objects that name none.
    """

    manifests: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    namespace: str = ""


class PendingForm(Form, frozen=True):
    """Which pods of the state stay pending, those included that lose their node to a change."""


class TraceForm(Form, frozen=True):
    """Where the pods that arrive come from; exactly one is given.

    Attributes:
        openb: a list of pods of openb (CSV).
        timeline: a file that ``--trace`` wrote; the pods are those of the state and of `manifests`.
        manifests: files with the pods of the timeline.
    """

    openb: str = ""
    timeline: str = ""
    manifests: tuple[str, ...] = ()


class ArrivalsForm(Form, frozen=True):
    """When pods arrive.

    Attributes:
        process: ``traced``, ``atOnce``, ``poisson`` or ``inflated``.
        rate: of ``poisson``, pods a second.
        count: of ``poisson``, how many pods.
        share: of ``inflated``, how much of the capacity arrives, 1 for all of it.
        of: of ``inflated``, of which resource.
    """

    process: Literal["traced", "atOnce", "poisson", "inflated"] = "traced"
    rate: float = 0.0
    count: int = 0
    share: float = 0.0
    of: str = ""


class ResourceForm(Form, frozen=True):
    """A resource that metrics count besides cpu and memory.

    Attributes:
        name: what metrics call it.
        annotations: those whose values, multiplied, are what a pod asks for; none for what it requests.
        offered: the resource of the nodes, and of the pods' requests; "" for the name.
    """

    name: str = ""
    annotations: tuple[str, ...] = ()
    offered: str = ""


class RunForm(Form, frozen=True):
    """Pods arrive one after another.

    Attributes:
        nodes: a list of nodes of openb (CSV); "" for those of the state.
        trace: the pods.
        arrivals: when they come.
        lifetimes: whether they go again, as in the trace.
        pending: what becomes of a pod that fits nowhere: it is dropped, or waits in kube-scheduler's queue.
        horizon: the run ends after so many seconds; 0 for when nothing is left to happen.
        ties: which of equally good nodes is taken: the first by name; the first in an order of all nodes that the seed
            shuffles once for the run; or one drawn for each pod.
        sampling: whether only as many nodes are looked at as kube-scheduler would look at.
        resources: those that only annotations know.
        by: the resource whose arrived share the metrics go by.
        at: the shares, in percent of the capacity, of which a row has the metrics.
    """

    nodes: str = ""
    trace: TraceForm = TraceForm()
    arrivals: ArrivalsForm = ArrivalsForm()
    lifetimes: bool = False
    pending: Literal["drop", "retry"] = "drop"
    horizon: float = 0.0
    ties: Literal["byName", "shuffled", "drawn"] = "byName"
    sampling: bool = False
    resources: tuple[ResourceForm, ...] = ()
    by: str = "cpu"
    at: tuple[int, ...] = ()


class SeedsForm(Form, frozen=True):
    """Seeds that follow each other.

    Attributes:
        first: the first.
        count: how many.
    """

    first: int = 0
    count: int = 0


class LoseForm(Form, frozen=True):
    """Nodes that are lost.

    Attributes:
        each: ``node``, ``zone`` or a label: each one in turn.
        together: how many of them at once, drawn; 1 for each in turn.
        count: of several at once, how many draws.
        seed: of the draws.
        nothing: whether the cluster as it is is asked about as well, first.
    """

    each: str = ""
    together: int = 1
    count: int = 0
    seed: int = 0
    nothing: bool = False


class WeightsForm(Form, frozen=True):
    """Weights of score plugins, on a grid or drawn.

    Attributes:
        grid: by plugin, the weights; all combinations of all plugins.
        draw: by plugin, the least and the largest weight.
        count: how many draws.
        seed: of the draws.
    """

    grid: dict[str, tuple[int, ...]] = {}
    draw: dict[str, tuple[int, ...]] = {}
    count: int = 0
    seed: int = 0


class AxesForm(Form, frozen=True):
    """What differs from scenario to scenario; every combination is one.

    Attributes:
        states: snapshots, files or folders, one state each.
        versions: of kube-scheduler.
        feature_gates: as ``--feature-gates`` takes them.
        configurations: files, and profiles that ship.
        weights: of score plugins.
        scale: by workload, ``KIND/NAMESPACE/NAME``, how many pods it has; all combinations of all workloads.
        lose: nodes that are lost.
        seeds: of draws among tied nodes, and of arrivals.
    """

    states: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    feature_gates: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    weights: WeightsForm | None = None
    scale: dict[str, tuple[int, ...]] = {}
    lose: LoseForm | None = None
    seeds: SeedsForm | None = None


class StudySpec(Form, frozen=True):
    """What is asked, of what, and what differs; exactly one question is given.

    Attributes:
        state: files and folders of the cluster; an axis `states` takes their place.
        configuration: a KubeSchedulerConfiguration, or a profile that ships.
        plugins: as ``--plugin`` takes them.
        arguments: of plugins, by name, in place of those of every configuration.
        pending: the question of which pods stay pending.
        simulate: the question of where the pods of manifests go.
        drain: the question of what draining nodes does.
        capacity: the question of how many more pods fit.
        check: the question of whether policies hold.
        run: the question of what comes of pods that arrive.
        decisive: the number that decides which scenario is the worst; "" for the question's own.
        worst: whether that is the one with the least or the most of it; "" for what the question has.
        axes: what differs from scenario to scenario.
    """

    state: tuple[str, ...] = ()
    configuration: str = ""
    plugins: tuple[str, ...] = ()
    arguments: dict[str, dict[str, Any]] = {}
    pending: PendingForm | None = None
    simulate: SimulateForm | None = None
    drain: DrainForm | None = None
    capacity: CapacityForm | None = None
    check: CheckForm | None = None
    run: RunForm | None = None
    decisive: str = ""
    worst: Literal["", "least", "most"] = ""
    axes: AxesForm = AxesForm()


class Study(Form, frozen=True):
    """One question in many scenarios, as ``schedctl sweep`` reads it. Paths are relative to the folder of the file.

    Attributes:
        api_version: always `schedctl.dev/v1alpha1`.
        kind: always `Study`.
        metadata: what it is called.
        spec: the question and the axes.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["Study"] = "Study"
    metadata: MetadataForm = MetadataForm()
    spec: StudySpec = StudySpec()
