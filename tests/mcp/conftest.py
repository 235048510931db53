"""A server over standard input and output, and the SDK's own client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.render.html.conftest import large_cluster

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures/clusters/shop"


Dialogue = Callable[[Any], Awaitable[Any]]


def server(*arguments: str) -> Any:
    """Return how a server with these arguments is started."""
    from mcp import StdioServerParameters

    command = ["-m", "schedctl", "mcp", "--no-progress", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(ROOT))


@contextmanager
def client_of(*arguments: str) -> Iterator[Callable[[Dialogue], Any]]:
    """Start a server, and give what has a dialogue with it."""
    pytest.importorskip("mcp", reason="the extra schedctl[mcp] is not installed")
    import anyio
    from anyio.from_thread import start_blocking_portal
    from mcp import Client

    async def talk(dialogue: Dialogue, client: Any) -> Any:
        with anyio.fail_after(600):  # a server that hangs, and not one on a slow machine
            return await dialogue(client)

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server(*arguments))) as client:
        yield lambda dialogue: portal.call(talk, dialogue, client)


@pytest.fixture(scope="module")
def shared() -> Iterator[Callable[[Dialogue], Any]]:
    """A server about the example cluster, for all dialogues: a question leaves nothing behind."""
    with client_of("-f", str(SHOP)) as talk:
        yield talk


@pytest.fixture
def converse(shared) -> Callable[..., Any]:
    """Return a function that has a dialogue, with a server of its own where arguments are given."""

    def converse(dialogue: Dialogue, *arguments: str) -> Any:
        if not arguments:
            return shared(dialogue)
        with client_of(*arguments) as talk:
            return talk(dialogue)

    return converse


@pytest.fixture(scope="session")
def large(tmp_path_factory) -> Path:
    """Return a file with a cluster of 5,000 nodes."""
    file: Path = tmp_path_factory.mktemp("large") / "cluster.json"
    file.write_text(json.dumps(large_cluster(5_000)))
    return file
