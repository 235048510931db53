"""The server: which tools and resources there are, over standard input and output.

This is the only module that imports the SDK. A question runs in a thread of its own and is called off with its request;
what is wrong with it comes back as the message and the next step that the command line would give.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import FunctionResource
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError
from typing_extensions import override

from schedctl.documents.spelling import nearest
from schedctl.errors import Problem, ProblemsError, SchedctlError
from schedctl.mcp.answers import NOTHING_CHANGED, answer
from schedctl.mcp.clusters import Watch
from schedctl.mcp.questions import Questions
from schedctl.mcp.wording import Wording
from schedctl.session.schemas import SCHEMAS
from schedctl.versions import __version__

_DETAIL = Annotated[Literal["short", "full"], Field(description="short, or full: the whole report")]
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
    made = _Server(_Tools(questions, seconds).tools())
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


class _Server(MCPServer[Any]):
    """A server that says what is wrong with a call: the SDK passes over arguments that a tool does not have."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(
            "schedctl", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR", tools=list(tools)
        )
        self._arguments = {tool.name: list(tool.parameters["properties"]) for tool in tools}

    @override
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool by name.

        Raises:
            ToolError: there is no such tool or argument, an argument is of another type, or there is no answer.
        """
        known = self._arguments.get(name)
        if known is None:
            raise ToolError(f'no tool "{name}"; {_suggest(name, list(self._arguments), "the tools")}')
        for argument in arguments:
            if argument not in known:
                raise ToolError(f'{name}: no argument "{argument}"; {_suggest(argument, known, "its arguments")}')
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as fault:
            if isinstance(fault.__cause__, ValidationError):
                raise ToolError(f"{name}: {_mistakes(fault.__cause__)}") from None
            raise


def _suggest(name: str, known: Sequence[str], what: str) -> str:
    """Return the name that was probably meant, and all that there are."""
    close = nearest(name.replace("-", "_"), known)
    meant = f'did you mean "{close}"? ' if close else ""
    return f"{meant}{what} are {', '.join(known)}" if known else f"{meant}it takes none"


def _mistakes(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, each['loc']))}: {each['msg'][:1].lower()}{each['msg'][1:]}, found {each['input']!r:.100}"
        for each in error.errors()
    )


class _Tools:
    """The questions as tools."""

    def __init__(self, questions: Questions, seconds: float) -> None:
        self._questions = questions
        self._seconds = seconds
        self._wording = Wording({})

    def tools(self) -> list[Tool]:
        """Return a tool for each question."""
        made = [self._tool(question) for question in self._questions.every()]
        self._wording = Wording({tool.name: tuple(tool.parameters["properties"]) for tool in made})
        return made

    def _tool(self, question: Callable[..., Any]) -> Tool:
        """Return the tool that asks a question: with its name, its docstring, and its parameters but for the watch."""

        async def tool(*, detail: Literal["short", "full"] = "short", **arguments: Any) -> CallToolResult:
            return await self._answer(partial(question, **arguments), question.__name__, full=detail == "full")

        signature = inspect.signature(question, eval_str=True)
        tool.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*_parameters(signature.parameters)], return_annotation=CallToolResult
        )
        words = " ".join((question.__doc__ or "").split())
        made = Tool.from_function(
            tool,
            name=question.__name__,
            description=f"{words} {NOTHING_CHANGED}",
            annotations=_READ_ONLY,
            structured_output=False,
        )
        made.parameters["additionalProperties"] = False
        return made

    async def _answer(self, ask: Callable[[Watch], Any], tool: str, *, full: bool) -> CallToolResult:
        """Ask in a thread, which ends at its next step once nobody waits any more."""
        watch, wording, files = Watch(self._seconds), self._wording, self._questions.files

        def work() -> CallToolResult:
            try:
                found = answer(ask(watch), full=full)
            except SchedctlError as fault:
                raise ToolError(wording.text(files.without_folder(_message(fault)), tool)) from None
            text = wording.text(files.without_folder(found.text), tool)
            report = json.loads(files.without_folder(json.dumps(wording.report(found.report, tool))))
            return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=report)

        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        finally:
            watch.call_off()


def _parameters(parameters: Mapping[str, inspect.Parameter]) -> list[inspect.Parameter]:
    """Return what an agent may give of the parameters of a question, described, and how much it wants to hear."""
    made = []
    for each in parameters.values():
        if each.annotation is Watch:
            continue
        kind, description = get_args(each.annotation)
        kind = list[str] if kind == Sequence[str] else kind  # the word that agents know
        described = Annotated[kind, Field(description=description)]  # type: ignore[valid-type]  # known when it runs
        made.append(each.replace(annotation=described, kind=inspect.Parameter.KEYWORD_ONLY))
    detail = inspect.Parameter("detail", inspect.Parameter.KEYWORD_ONLY, default="short", annotation=_DETAIL)
    return [*made, detail]


def _message(fault: SchedctlError) -> str:
    """Return what is wrong, and what to do next."""
    if isinstance(fault, ProblemsError):
        lines = [_problem(each) for each in fault.problems[:_MOST_PROBLEMS]]
        rest = len(fault.problems) - len(lines)
        return "\n".join([*lines, *([f"and {rest} more problems"] if rest > 0 else [])])
    hint = getattr(fault, "hint", "")
    return f"{fault}; {hint}" if hint else str(fault)


def _problem(problem: Problem) -> str:
    return f"{problem}; {problem.hint}" if problem.hint else str(problem)
