"""Extenders on loopback, and what they are asked with."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from schedctl.api.durations import Duration
from schedctl.config import types as config
from schedctl.extenders import webhooks
from tests.cli.conftest import schedctl  # noqa: F401  the command line, as a fixture
from tests.live.conftest import authority, serve  # noqa: F401  servers that pretend, as fixtures
from tests.live.servers import FakeServer, Reply, Request

SECOND = 1_000_000_000


def settings(url: str, **fields: Any) -> config.Extender:
    """The configuration of an extender that does everything, under the address."""
    verbs = {"filter_verb": "filter", "prioritize_verb": "prioritize", "preempt_verb": "preempt", "weight": 1}
    timeout = Duration(fields.pop("seconds", 5) * SECOND)
    return config.Extender(url_prefix=url, http_timeout=timeout, **{**verbs, **fields})


def connect_extender(url: str, **fields: Any):
    """An extender that is asked over the network."""
    (extender,) = webhooks.connect([settings(url, **fields)], "config.yaml")
    return extender


def question(request: Request) -> Any:
    """What an extender was asked."""
    return json.loads(request.body)


@pytest.fixture
def serve_extender(serve) -> Callable[..., FakeServer]:  # noqa: F811
    """Start an extender that gives one answer: ``answering({"Nodes": ...})``, or a `Reply`."""

    def start(answer: Any, **options: Any) -> FakeServer:
        reply = answer if isinstance(answer, Reply) else Reply(answer)
        return serve(lambda request: reply, **options)

    return start
