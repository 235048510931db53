"""A server over standard input and output, and the SDK's own client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.render.html.conftest import large_cluster

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "fixtures/clusters/shop"


@pytest.fixture
def converse() -> Callable[..., Any]:
    """Return a function that starts a server with these arguments and has a dialogue with it."""
    pytest.importorskip("mcp", reason="the extra schedctl[mcp] is not installed")
    import anyio
    from mcp import Client, StdioServerParameters

    def converse(dialogue: Callable[[Any], Awaitable[Any]], *arguments: str) -> Any:
        command = ["-m", "schedctl", "mcp", "--no-progress", *(arguments or ("-f", str(SHOP)))]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=str(ROOT))

        async def talk() -> Any:
            with anyio.fail_after(120):
                async with Client(server) as client:
                    return await dialogue(client)

        return anyio.run(talk)

    return converse


@pytest.fixture(scope="session")
def large(tmp_path_factory) -> Path:
    """Return a file with a cluster of 5,000 nodes."""
    file: Path = tmp_path_factory.mktemp("large") / "cluster.json"
    file.write_text(json.dumps(large_cluster(5_000)))
    return file
