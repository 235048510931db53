"""The server: which tools and resources there are, over standard input and output.

This is the only module that imports the SDK. A question runs in a thread of its own and is called off with its request;
what is wrong with it comes back as the message and the next step that the command line would give.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import FunctionResource
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from schedctl.errors import Problem, ProblemsError, SchedctlError
from schedctl.mcp.answers import NOTHING_CHANGED, answer
from schedctl.mcp.clusters import Watch
from schedctl.mcp.questions import Questions
from schedctl.session.schemas import SCHEMAS
from schedctl.versions import __version__

Detail = Annotated[Literal["short", "full"], Field(description="short, or full: the whole report")]
Namespace = Annotated[str, Field(description="Namespace of names given without one")]
WhatIfs = Annotated[
    list[str],
    Field(
        description="Changes made before the question is asked, e.g. `lose zone=eu-1a`, `drain node-3`, "
        "`add-node like:node-1=2`, `scale deploy/web=5`, `taint node-1:key=value:NoSchedule`"
    ),
]
Compare = Annotated[list[str], Field(description="Names of scheduler configurations, at least one")]
Manifests = Annotated[str, Field(description="Kubernetes manifests as YAML")]
Files = Annotated[list[str], Field(description="Files or folders below the roots of this server")]
_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_INSTRUCTIONS = (
    "schedctl is a dry run of kube-scheduler over one cluster, as it was when this server was started. Ask `cluster` "
    "first. No tool changes anything; answers begin with the verdict, then the causes, then fixes that were tried."
)
_MOST_PROBLEMS = 20


def server(questions: Questions, *, seconds: float, docs: Path | None) -> MCPServer:
    """Return the server for a state.

    Args:
        questions: about the state.
        seconds: how long an answer may take.
        docs: the folder of the documentation, None where there is none.
    """
    made = MCPServer("schedctl", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR")
    _Tools(questions, seconds).register(made)
    for kind, make in SCHEMAS.items():
        made.add_resource(
            FunctionResource(
                uri=f"schedctl://schemas/{kind}",
                name=kind,
                description=f"JSON Schema of {kind}",
                mime_type="application/schema+json",
                fn=partial(_schema, make),
            )
        )
    for page in sorted(docs.glob("*.md")) if docs is not None else ():
        made.add_resource(
            FunctionResource(
                uri=f"schedctl://docs/{page.stem}",
                name=page.stem,
                description=_title(page),
                mime_type="text/markdown",
                fn=partial(page.read_text, encoding="utf-8"),
            )
        )
    return made


def _schema(make: Callable[[], dict[str, Any]]) -> str:
    return json.dumps(make(), indent=2)


def _title(page: Path) -> str:
    lines = page.read_text(encoding="utf-8").splitlines()
    return next((line.removeprefix("# ") for line in lines if line.startswith("# ")), page.stem)


class _Tools:
    """The tools; the name of each is that of its method, and its docstring what an agent reads."""

    def __init__(self, questions: Questions, seconds: float) -> None:
        self._questions = questions
        self._seconds = seconds

    def register(self, made: MCPServer) -> None:
        """Add the tools to a server."""
        tools: tuple[Callable[..., Awaitable[CallToolResult]], ...] = (
            self.cluster,
            self.explain,
            self.explain_nodes,
            self.simulate,
            self.drain,
            self.capacity,
            self.check,
            self.compare,
        )
        for tool in tools:
            description = " ".join((tool.__doc__ or "").split())
            made.add_tool(
                tool, description=f"{description} {NOTHING_CHANGED}", annotations=_READ_ONLY, structured_output=False
            )

    async def cluster(self) -> CallToolResult:
        """Tell which cluster this is: nodes by zone and pool, and the pending pods by owner."""
        found = await anyio.to_thread.run_sync(self._questions.cluster)
        return _result(f"{json.dumps(found, indent=1)}\n{NOTHING_CHANGED}", found)

    async def explain(
        self,
        pods: Annotated[list[str], Field(description="e.g. shop/web-0, deploy/web; empty with all_pending")] = [],  # noqa: B006
        namespace: Namespace = "",
        all_pending: Annotated[bool, Field(description="Explain every pending pod")] = False,
        node: Annotated[str, Field(description="Every verdict and score of this node: why not there?")] = "",
        what_ifs: WhatIfs = [],  # noqa: B006
        detail: Detail = "short",
    ) -> CallToolResult:
        """Explain where pods would go and why, or why they are pending and what was tried that helps.

        A workload stands for the pod that it would create next.
        """
        ask = partial(
            self._questions.explain,
            pods=pods,
            namespace=namespace,
            all_pending=all_pending,
            node=node,
            what_ifs=what_ifs,
        )
        return await self._answer(ask, detail)

    async def explain_nodes(
        self,
        names: Annotated[list[str], Field(description="Names of nodes")] = [],  # noqa: B006
        selector: Annotated[str, Field(description="Labels of nodes, e.g. pool=spot")] = "",
        what_ifs: WhatIfs = [],  # noqa: B006
        detail: Detail = "short",
    ) -> CallToolResult:
        """Tell what is free on nodes, which pending pods fit there now, and why the others do not."""
        ask = partial(self._questions.nodes, names=names, selector=selector, what_ifs=what_ifs)
        return await self._answer(ask, detail)

    async def simulate(
        self,
        manifests: Manifests = "",
        files: Files = [],  # noqa: B006
        namespace: Namespace = "",
        what_ifs: WhatIfs = [],  # noqa: B006
        detail: Detail = "short",
    ) -> CallToolResult:
        """Tell where the pods of manifests would go if they were applied.

        Also which running pods would be preempted, and which pods would stay pending and why.
        """
        ask = partial(self._questions.simulate, text=manifests, paths=files, namespace=namespace, what_ifs=what_ifs)
        return await self._answer(ask, detail)

    async def drain(
        self,
        names: Annotated[list[str], Field(description="Names of nodes, drained one after another")] = [],  # noqa: B006
        selector: Annotated[str, Field(description="Or labels of nodes")] = "",
        zone: Annotated[str, Field(description="Or a zone")] = "",
        ignore_daemonsets: bool = True,
        delete_emptydir_data: bool = False,
        force: bool = False,
        what_ifs: WhatIfs = [],  # noqa: B006
        detail: Detail = "short",
    ) -> CallToolResult:
        """Tell what `kubectl drain` would do to nodes.

        Which evictions are refused, where the pods would go, and which would stay pending.
        """
        ask = partial(
            self._questions.drain,
            names=names,
            selector=selector,
            zone=zone,
            what_ifs=what_ifs,
            ignore_daemonsets=ignore_daemonsets,
            delete_emptydir_data=delete_emptydir_data,
            force=force,
        )
        return await self._answer(ask, detail)

    async def capacity(
        self,
        like: Annotated[list[str], Field(description="Pods or workloads of the cluster, e.g. deploy/web")] = [],  # noqa: B006
        manifest: Annotated[str, Field(description="Or a pod or workload as YAML")] = "",
        namespace: Namespace = "",
        by: Annotated[str, Field(description="Count by zone, node or any label; default zone and pool")] = "",
        most: Annotated[int, Field(description="Stop after this many", ge=1, le=10_000)] = 1_000,
        what_ifs: WhatIfs = [],  # noqa: B006
        detail: Detail = "short",
    ) -> CallToolResult:
        """Count how many more pods like some would fit, where, and what stops the next one."""
        ask = partial(
            self._questions.capacity, like=like, text=manifest, namespace=namespace, by=by, most=most, what_ifs=what_ifs
        )
        return await self._answer(ask, detail)

    async def check(
        self,
        manifests: Manifests = "",
        files: Files = [],  # noqa: B006
        policies: Annotated[str, Field(description="CheckPolicies as YAML; default: every pod finds a node")] = "",
        policy_files: Files = [],  # noqa: B006
        standing: Annotated[bool, Field(description="Check the workloads of the cluster as they run")] = False,
        namespace: Namespace = "",
        detail: Detail = "short",
    ) -> CallToolResult:
        """Check whether manifests, or the workloads that run, keep placement policies.

        Such as that they survive the loss of a zone.
        """
        ask = partial(
            self._questions.check,
            text=manifests,
            paths=files,
            policy_text=policies,
            policies=policy_files,
            namespace=namespace,
            standing=standing,
        )
        return await self._answer(ask, detail)

    async def compare(
        self,
        configurations: Compare,
        manifests: Manifests = "",
        files: Files = [],  # noqa: B006
        pods: Annotated[list[str], Field(description="Pods or workloads; default all pending pods")] = [],  # noqa: B006
        namespace: Namespace = "",
        detail: Detail = "short",
    ) -> CallToolResult:
        """Compare scheduler configurations with the one in force.

        Which pods would move, become unschedulable or schedulable. With manifests these are simulated, else pods of the
        cluster are explained.
        """
        ask: Callable[..., Any]
        if manifests or files:
            ask = partial(
                self._questions.simulate,
                text=manifests,
                paths=files,
                namespace=namespace,
                what_ifs=(),
                compare=configurations,
            )
        else:
            ask = partial(
                self._questions.explain,
                pods=pods,
                namespace=namespace,
                all_pending=not pods,
                node="",
                what_ifs=(),
                compare=configurations,
            )
        return await self._answer(ask, detail)

    async def _answer(self, ask: Callable[..., Any], detail: str) -> CallToolResult:
        """Ask in a thread, which ends at its next step once nobody waits any more."""
        watch, scratch = Watch(self._seconds), str(self._questions.scratch)

        def work() -> CallToolResult:
            try:
                found = answer(ask(watch), full=detail == "full", scratch=scratch)
            except SchedctlError as fault:
                raise ToolError(_said(fault).replace(f"{scratch}/", "")) from None
            return _result(found.text, found.report)

        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        finally:
            watch.call_off()


def _result(text: str, report: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=report)


def _said(fault: SchedctlError) -> str:
    """Return what is wrong, and what to do next."""
    if isinstance(fault, ProblemsError):
        lines = [_problem(each) for each in fault.problems[:_MOST_PROBLEMS]]
        rest = len(fault.problems) - len(lines)
        return "\n".join([*lines, *([f"and {rest} more problems"] if rest > 0 else [])])
    hint = getattr(fault, "hint", "")
    return f"{fault}; {hint}" if hint else str(fault)


def _problem(problem: Problem) -> str:
    return f"{problem}; {problem.hint}" if problem.hint else str(problem)
