"""The questions an agent may ask, each a use case of ``session`` on a fork of the state; none changes anything.

A question is a tool: its name, its docstring and its annotated parameters, all but the `Watch`, are what an agent sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from schedctl.api import label_selectors
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.errors import UsageError
from schedctl.mcp.clusters import SharedCluster, Watch
from schedctl.mcp.files import FileTexts
from schedctl.session import manifests as inputs
from schedctl.session import settings

if TYPE_CHECKING:
    from schedctl.session.sessions import Session
    from schedctl.sources import Manifests

_LISTED = 50
_MOST_COUNTED = 10_000
"""How many pods a capacity is counted up to."""

NamespaceName = Annotated[str, "Namespace of names given without one"]
WhatIfTexts = Annotated[
    Sequence[str],
    "Changes made before the question is asked, e.g. `lose zone=eu-1a`, `drain node-3`, `add-node like:node-1=2`, "
    "`scale deploy/web=5`, `taint node-1:key=value:NoSchedule`",
]
ManifestText = Annotated[str, "Kubernetes manifests as YAML"]
FileNames = Annotated[Sequence[str], "Files or folders below the roots of this server"]
PodNames = Annotated[Sequence[str], "e.g. shop/web-0, deploy/web, podgroup/train; empty with all_pending"]


class Questions(msgspec.Struct, frozen=True):
    """The questions about one state.

    Attributes:
        shared: the state.
        files: the texts and files that a question is about.
    """

    shared: SharedCluster
    files: FileTexts

    def every(self) -> tuple[Callable[..., Any], ...]:
        """Return the questions in the order in which an agent is told of them."""
        return (
            self.cluster,
            self.explain,
            self.explain_nodes,
            self.simulate,
            self.drain,
            self.capacity,
            self.nodes,
            self.n_minus_1,
            self.check,
            self.compare,
        )

    def cluster(self, watch: Watch) -> dict[str, Any]:
        """Tell which cluster this is: nodes by zone and pool, and the pending pods by owner."""
        from schedctl.simulation.node_maps import node_map
        from schedctl.workloads import ownership

        with self.shared.session(watch) as session:
            cluster = session.cluster
            nodes = node_map(cluster)
            pools = Counter((node.zone, node.pool) for node in nodes.nodes)
            places = [{"zone": zone, "pool": pool, "nodes": number} for (zone, pool), number in sorted(pools.items())]
            owners = Counter(ownership.owner_name(key, cluster) or f"Pod {key}" for key in cluster.pending)
            return {
                "nodes": len(nodes.nodes),
                "runningPods": len(cluster.pod_table),
                "pendingPods": len(cluster.pending),
                "nodesByZoneAndPool": places[:_LISTED],
                "pendingByOwner": dict(owners.most_common(_LISTED)),
                "files": list(self.shared.source.paths),
                "live": self.shared.source.of_cluster,
            }

    def explain(
        self,
        watch: Watch,
        pods: PodNames = (),
        namespace: NamespaceName = "",
        all_pending: Annotated[bool, "Explain every pending pod"] = False,
        node: Annotated[str, "Every verdict and score of this node: why not there?"] = "",
        what_ifs: WhatIfTexts = (),
    ) -> Any:
        """Explain where pods would go and why, or why they are pending and what was tried that helps.

        A workload stands for the pod that it would create next.
        """
        return self._explain(watch, pods, namespace, all_pending=all_pending, node=node, what_ifs=what_ifs)

    def explain_nodes(
        self,
        watch: Watch,
        names: Annotated[Sequence[str], "Names of nodes"] = (),
        selector: Annotated[str, "Labels of nodes, e.g. pool=spot"] = "",
        what_ifs: WhatIfTexts = (),
    ) -> Any:
        """Tell what is free on nodes, which pending pods fit there now, and why the others do not."""
        from schedctl.session.explain_nodes import explain_nodes

        if not (names or selector):
            raise UsageError("no node given", "name nodes, or give a selector of their labels")
        with self.shared.session(watch, what_ifs) as session:
            return explain_nodes(session, names, selector=selector)

    def simulate(
        self,
        watch: Watch,
        manifests: ManifestText = "",
        files: FileNames = (),
        namespace: NamespaceName = "",
        what_ifs: WhatIfTexts = (),
    ) -> Any:
        """Tell where the pods of manifests would go if they were applied.

        Also which running pods would be preempted, and which pods would stay pending and why.
        """
        return self._simulate(watch, manifests, files, namespace, what_ifs)

    def drain(
        self,
        watch: Watch,
        names: Annotated[Sequence[str], "Names of nodes, drained one after another"] = (),
        selector: Annotated[str, "Or labels of nodes"] = "",
        zone: Annotated[str, "Or a zone"] = "",
        ignore_daemonsets: Annotated[bool, "Leave the pods of DaemonSets where they are"] = True,
        delete_emptydir_data: Annotated[bool, "Evict pods with emptyDir volumes, whose data would be lost"] = False,
        force: Annotated[bool, "Evict pods without a controller, which nothing would recreate"] = False,
        what_ifs: WhatIfTexts = (),
    ) -> Any:
        """Tell what `kubectl drain` would do to nodes.

        Which evictions are refused, where the pods would go, and which would stay pending.
        """
        from schedctl.session import drain as use_case
        from schedctl.simulation.drains import DrainFlags

        if sum(map(bool, (names, selector, zone))) != 1:
            raise UsageError("give nodes, a selector or a zone, one of them", "e.g. names: [node-3]")
        flags = DrainFlags(
            ignore_daemonsets=ignore_daemonsets,
            delete_emptydir_data=delete_emptydir_data,
            force=force,
            disable_eviction=False,
            pod_selector=label_selectors.parse(""),
            grace_period=None,
        )
        with self.shared.session(watch, what_ifs, changed=False) as session:
            return use_case.drain(session, use_case.NodeSelection(names, selector, zone), flags)

    def capacity(
        self,
        watch: Watch,
        like: Annotated[Sequence[str], "Pods or workloads of the cluster, e.g. deploy/web"] = (),
        manifest: Annotated[str, "Or a pod or workload as YAML"] = "",
        namespace: NamespaceName = "",
        by: Annotated[str, "Count by zone, node or any label; default zone and pool"] = "",
        most: Annotated[int, "Stop after this many, at most 10000"] = 1_000,
        what_ifs: WhatIfTexts = (),
    ) -> Any:
        """Count how many more pods like some would fit, where, and what stops the next one."""
        from schedctl.session import capacity as use_case
        from schedctl.session import capacity_models

        for name in like:
            if capacity_models.is_file(name):
                raise UsageError(f'"{name}" is a file, not an object of the cluster', "give the manifest as text")
        if not (like or manifest):
            raise UsageError("no pod or workload given", "e.g. like: [deploy/web], or a manifest as text")
        if not 1 <= most <= _MOST_COUNTED:
            raise UsageError(f"most: {most} is out of range", f"it is from 1 to {_MOST_COUNTED}")
        with (
            self.shared.session(watch, what_ifs, changed=False) as session,
            self.files.paths(manifest) as files,
        ):
            return use_case.capacity(session, [*like, *files], namespace=namespace, by=by, most=most)

    def nodes(
        self,
        watch: Watch,
        shrink: Annotated[bool, "Which nodes can go, rather than which to add"] = False,
        manifests: Annotated[str, "To add nodes: place these manifests besides the pending pods"] = "",
        files: FileNames = (),
        namespace: NamespaceName = "",
        node_groups: Annotated[str, "Groups of nodes as YAML of kind NodeGroups, besides those that are detected"] = "",
        instance_types: Annotated[str, "Instance types and prices as CSV"] = "",
        minimize: Annotated[Literal["count", "cost"], "Add the fewest nodes, or the cheapest"] = "count",
        delete_emptydir_data: Annotated[bool, "To shrink: move pods with emptyDir volumes"] = False,
        force: Annotated[bool, "To shrink: evict pods without a controller, which nothing would recreate"] = False,
        what_ifs: WhatIfTexts = (),
    ) -> Any:
        """Tell how many nodes of which group would place the pending pods, or which nodes can go.

        With every pod placed again, what keeps the other nodes, and how far from the best the answer may be.
        """
        from schedctl.session import nodes as use_case
        from schedctl.simulation.scale_downs.rules import RemovalRules

        if shrink and (manifests or files):
            raise UsageError("manifests and `shrink` were both given", "ask one after the other")
        with (
            self.shared.session(watch, what_ifs, changed=False) as session,
            self.files.paths(manifests, files) as paths,
            self.files.paths(node_groups, name="node-groups.yaml") as groups,
            self.files.paths(instance_types, name="instance-types.csv") as types,
        ):
            options = use_case.NodesOptions(
                node_groups="".join(groups),
                instance_types="".join(types),
                minimize=minimize,
                rules=RemovalRules(delete_emptydir_data=delete_emptydir_data, force=force),
            )
            if shrink:
                return use_case.shrink(session, options)
            read = _manifests(session, paths, namespace) if paths else None
            return use_case.plan(session, read, options, namespace=namespace)

    def n_minus_1(
        self,
        watch: Watch,
        by: Annotated[Sequence[str], "node, zone or labels of nodes; default node and zone"] = (),
        what_ifs: WhatIfTexts = (),
    ) -> Any:
        """Tell which single node or zone would leave pods pending if it were lost, the worst first."""
        from schedctl.studies import node_losses

        with self.shared.session(watch, what_ifs, changed=False) as session:
            return node_losses.lose(session, by)

    def check(
        self,
        watch: Watch,
        manifests: ManifestText = "",
        files: FileNames = (),
        policies: Annotated[str, "CheckPolicies as YAML; default: every pod finds a node"] = "",
        policy_files: FileNames = (),
        standing: Annotated[bool, "Check the workloads of the cluster as they run"] = False,
        namespace: NamespaceName = "",
    ) -> Any:
        """Check whether manifests, or the workloads that run, keep placement policies.

        Such as that they survive the loss of a zone.
        """
        from schedctl.session import check as use_case

        mine = settings.load("", ignored=True)
        with (
            self.shared.session(watch) as session,
            self.files.paths(manifests, files) as paths,
            self.files.paths(policies, policy_files, name="policies.yaml") as rules,
        ):
            if standing and paths:
                raise UsageError("manifests and `standing` were both given", "give one of them")
            if not (standing or paths):
                raise _no_manifests()
            options = use_case.parse_options(mine, standing=standing, jobs=1)
            read = use_case.load(
                session,
                options,
                paths=paths,
                kustomizations=(),
                policies=rules,
                namespace=namespace or DEFAULT_NAMESPACE,
                settings=mine,
            )
            return use_case.check(session, read, options)

    def compare(
        self,
        watch: Watch,
        configurations: Annotated[Sequence[str], "Names of scheduler configurations, at least one"],
        manifests: ManifestText = "",
        files: FileNames = (),
        pods: Annotated[Sequence[str], "Pods or workloads; default all pending pods"] = (),
        namespace: NamespaceName = "",
    ) -> Any:
        """Compare scheduler configurations with the one in force.

        Which pods would move, become unschedulable or schedulable. With manifests these are simulated, else pods of the
        cluster are explained.
        """
        if not configurations:
            raise UsageError("no configuration given", "e.g. configurations: [bin-packing]")
        if manifests or files:
            return self._simulate(watch, manifests, files, namespace, (), configurations)
        return self._explain(watch, pods, namespace, all_pending=not pods, compare=configurations)

    def _explain(
        self,
        watch: Watch,
        pods: Sequence[str],
        namespace: str,
        *,
        all_pending: bool,
        node: str = "",
        what_ifs: Sequence[str] = (),
        compare: Sequence[str] = (),
    ) -> Any:
        """Explain pods; under several configurations, how they differ."""
        from schedctl.session import explain as use_case
        from schedctl.session import subjects
        from schedctl.session.node_inventories import NO_GROUP_OPTIONS

        if not (pods or all_pending):
            raise UsageError("no pod or workload given", "e.g. pods: [shop/web-0], or all_pending: true")
        question = subjects.question(
            pods, namespace=namespace, all_namespaces=False, selector="", all_pending=all_pending
        )
        with self.shared.session(watch, what_ifs, compare) as session:
            groups = None if compare else NO_GROUP_OPTIONS.groups(session)
            return use_case.explain(session, question, use_case.ExplainOptions(node=node, groups=groups))

    def _simulate(
        self,
        watch: Watch,
        manifests: str,
        files: Sequence[str],
        namespace: str,
        what_ifs: Sequence[str],
        compare: Sequence[str] = (),
    ) -> Any:
        """Simulate manifests; under several configurations, how the runs differ."""
        from schedctl.session import simulate as use_case

        with (
            self.shared.session(watch, what_ifs, compare, changed=False) as session,
            self.files.paths(manifests, files) as paths,
        ):
            if not paths:
                raise _no_manifests()
            read = _manifests(session, paths, namespace)
            return use_case.simulate(session, read, use_case.SimulateOptions(), namespace=namespace)


def _no_manifests() -> UsageError:
    return UsageError("no manifests given", "give them as text, or name files below the roots")


def _manifests(session: Session, paths: Sequence[str], namespace: str) -> Manifests:
    """Read manifests.

    Raises:
        UsageError: there is nothing in them but a mistake.
    """
    read = inputs.load(
        paths,
        (),
        recursive=True,
        stdin_filename="",
        namespace=namespace or DEFAULT_NAMESPACE,
        allow_empty=False,
        strict=False,
        custom_kinds=(),
        kinds=session.kinds,
    )
    if read.problems and not read.objects:
        raise UsageError(f"{read.problems[0]}", read.problems[0].hint)
    return read
