"""``schedctl mcp``: answers for agents, over the Model Context Protocol on standard input and output."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from schedctl.cli import options
from schedctl.cli.help_text import CLUSTER, SCHEDULER
from schedctl.cli.notifiers import StandardError, with_notifier
from schedctl.cli.state_options import with_state
from schedctl.errors import UsageError
from schedctl.session.states import StateSource

EXAMPLES = """
Examples:
  schedctl mcp                           # about the live cluster, as it is now
  schedctl mcp -f prod.json.gz           # about a snapshot
  schedctl mcp --live --root deploy/     # with manifests below deploy/

In the configuration of a client:
  {"mcpServers": {"schedctl": {"command": "schedctl", "args": ["mcp", "-f", "prod.json.gz"]}}}
"""


@with_state
@with_notifier
def mcp(
    root: Annotated[
        list[str] | None,
        typer.Option(
            "--root",
            metavar="DIR",
            help="Let questions name files in this folder; repeatable (default: no file may be named)",
            rich_help_panel=CLUSTER,
        ),
    ] = None,
    scheduler_config: options.SchedulerConfig = "",
    profile: options.Profile = "",
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A configuration that questions may compare with, besides the shipped profiles; repeatable",
            rich_help_panel=SCHEDULER,
        ),
    ] = None,
    plugin: options.Plugins = None,
    timeout: Annotated[int, typer.Option(min=1, metavar="SECONDS", help="Longest time for one answer")] = 120,
    *,
    notifier: StandardError,
    source: StateSource,
) -> int:
    """Answer questions of agents about a cluster, over the Model Context Protocol on standard input and output.

    The state is read once, at the start. Nothing is changed: no tool binds, evicts or applies, reads a file outside of
    the roots, or runs a plugin that is not named here. Needs the extra: `pip install 'schedctl[mcp]'`.
    """
    if find_spec("mcp") is None:
        raise UsageError("schedctl mcp needs the package `mcp`, which is not installed", "pip install 'schedctl[mcp]'")
    from schedctl import shipped
    from schedctl.mcp.clusters import SharedCluster
    from schedctl.mcp.files import FileTexts
    from schedctl.mcp.questions import Questions
    from schedctl.mcp.roots import Roots
    from schedctl.mcp.servers import server
    from schedctl.session.sessions import SchedulerOptions

    roots = Roots.of(root or ())
    scheduler = SchedulerOptions(scheduler_config, profile, plugins=plugin or ())
    shared = SharedCluster(source, scheduler, compare or ())
    shared.load(notifier)
    notifier.say("schedctl mcp: the state is read; waiting for questions on standard input")
    with tempfile.TemporaryDirectory(prefix="schedctl-mcp-") as scratch:
        questions = Questions(shared, FileTexts(roots, Path(scratch)))
        server(questions, seconds=timeout, docs=shipped.docs()).run("stdio")
    return 0
