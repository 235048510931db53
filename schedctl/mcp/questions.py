"""The questions an agent may ask, each a use case of ``session`` on a fork of the state; none changes anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedctl.api import label_selectors
from schedctl.api.defaults import DEFAULT_NAMESPACE
from schedctl.errors import UsageError
from schedctl.mcp.clusters import SharedCluster, Watch
from schedctl.mcp.roots import Roots
from schedctl.session import manifests as inputs
from schedctl.session import settings

if TYPE_CHECKING:
    from schedctl.session.sessions import Session
    from schedctl.sources import Manifests

_LISTED = 50
_TRIED = 10_000
"""How many pods a capacity is counted up to."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions about one state.

    Attributes:
        shared: the state.
        roots: from where files may be named.
        scratch: a folder of the server's own, where texts are files for as long as a question is asked.
    """

    shared: SharedCluster
    roots: Roots
    scratch: Path

    def cluster(self) -> dict[str, Any]:
        """Return what the state holds: nodes by zone and pool, and which pods are pending."""
        from schedctl.simulation.node_maps import node_map
        from schedctl.workloads import ownership

        cluster = self.shared.cluster
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
        pods: Sequence[str],
        namespace: str,
        *,
        all_pending: bool,
        node: str,
        what_ifs: Sequence[str],
        compare: Sequence[str] = (),
    ) -> Any:
        """Return why pods go where they go, or are pending; under several configurations, how they differ."""
        from schedctl.session import explain as use_case
        from schedctl.session import subjects

        subjects.require_subject(pods, "", all_pending=all_pending)
        question = subjects.question(
            pods, namespace=namespace, all_namespaces=False, selector="", all_pending=all_pending
        )
        with self.shared.session(watch, what_ifs, compare) as session:
            return use_case.explain(session, question, use_case.ExplainOptions(node=node))

    def nodes(self, watch: Watch, names: Sequence[str], selector: str, what_ifs: Sequence[str]) -> Any:
        """Return what is free on nodes, and which pending pods fit there."""
        from schedctl.session.explain_nodes import explain_nodes

        if not (names or selector):
            raise UsageError("no node given", "name nodes, or give a selector of their labels")
        with self.shared.session(watch, what_ifs) as session:
            return explain_nodes(session, names, selector=selector)

    def simulate(
        self,
        watch: Watch,
        text: str,
        paths: Sequence[str],
        namespace: str,
        what_ifs: Sequence[str],
        compare: Sequence[str] = (),
    ) -> Any:
        """Return where the pods of manifests would go."""
        from schedctl.session import simulate as use_case

        with (
            self.shared.session(watch, what_ifs, compare, changed=False) as session,
            self._paths(text, paths) as files,
        ):
            read = self._manifests(session, files, namespace)
            if read.problems and not read.objects:
                raise UsageError(f"{read.problems[0]}", read.problems[0].hint)
            return use_case.simulate(session, read, use_case.SimulateOptions(), namespace=namespace)

    def drain(
        self,
        watch: Watch,
        names: Sequence[str],
        selector: str,
        zone: str,
        *,
        ignore_daemonsets: bool,
        delete_emptydir_data: bool,
        force: bool,
        what_ifs: Sequence[str],
    ) -> Any:
        """Return what draining nodes would do."""
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
        self, watch: Watch, like: Sequence[str], text: str, namespace: str, by: str, most: int, what_ifs: Sequence[str]
    ) -> Any:
        """Return how many more pods fit."""
        from schedctl.session import capacity as use_case
        from schedctl.session import capacity_models

        named = [*like]
        for name in named:
            if capacity_models.is_file(name):
                raise UsageError(f'"{name}" is a file, not an object of the cluster', "give the manifest as text")
        if not (named or text):
            raise UsageError("no pod or workload given", "e.g. like: [deploy/web], or a manifest as text")
        with (
            self.shared.session(watch, what_ifs, changed=False) as session,
            self._paths(text, (), optional=True) as files,
        ):
            most = min(max(most, 1), _TRIED)
            return use_case.capacity(session, [*named, *files], namespace=namespace, by=by, most=most)

    def check(
        self,
        watch: Watch,
        text: str,
        paths: Sequence[str],
        policy_text: str,
        policies: Sequence[str],
        namespace: str,
        *,
        standing: bool,
    ) -> Any:
        """Return whether manifests, or what runs, keep policies."""
        from schedctl.session import check as use_case

        mine = settings.load("", ignored=True)
        with (
            self.shared.session(watch) as session,
            self._paths(text, paths, optional=standing) as files,
            self._paths(policy_text, policies, name="policies.yaml", optional=True) as rules,
        ):
            if standing and files:
                raise UsageError("manifests and `standing` were both given", "give one of them")
            options = use_case.parse_options(mine, standing=standing, jobs=1)
            read = use_case.load(
                session,
                options,
                paths=files,
                kustomizations=(),
                policies=rules,
                namespace=namespace or DEFAULT_NAMESPACE,
                settings=mine,
            )
            return use_case.check(session, read, options)

    def _manifests(self, session: Session, files: Sequence[str], namespace: str) -> Manifests:
        return inputs.load(
            files,
            (),
            recursive=True,
            stdin_filename="",
            namespace=namespace or DEFAULT_NAMESPACE,
            allow_empty=False,
            strict=False,
            custom_kinds=(),
            kinds=session.kinds,
        )

    @contextmanager
    def _paths(
        self, text: str, names: Sequence[str], *, name: str = "manifests.yaml", optional: bool = False
    ) -> Iterator[list[str]]:
        """Yield the paths of files below the roots, and of one that holds a text for as long as the question is asked.

        Only one question is asked at a time, so that a name is enough.

        Raises:
            UsageError: there is neither, or a file is outside of the roots.
        """
        paths = self.roots.files(names)
        if not (paths or text or optional):
            raise UsageError("no manifests given", "give them as text, or name files below the roots")
        if not text:
            yield paths
            return
        file = self.scratch / name
        file.write_text(text, encoding="utf-8")
        try:
            yield [*paths, str(file)]
        finally:
            file.unlink()
