"""Objects from YAML, as a manifest would bring them, and clusters of them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import pytest

from schedctl.api.custom_kinds import CUSTOM_KINDS
from schedctl.releases import NEWEST
from schedctl.sources import Manifests, Terms, load_text
from schedctl.workloads.clusters import assemble

ReadManifests = Callable[[str], Manifests]


def yaml(text: str) -> bytes:
    """The text as YAML also where it begins with a brace, which would be taken for JSON."""
    return re.sub(r"\A(\s*(---\n)?\s*)\{", r"\1# YAML\n{", textwrap.dedent(text)).encode()


@pytest.fixture
def manifests_of() -> ReadManifests:
    """Reads YAML as what is about to be created."""

    def read(text: str) -> Manifests:
        terms = Terms(creating=True, custom_kinds=CUSTOM_KINDS)
        return load_text(yaml(text), "given.yaml", terms=terms)

    return read


@pytest.fixture
def cluster_of():
    """Makes a cluster of YAML."""

    def make(text: str = "", release=NEWEST):
        manifests = load_text(yaml(text), "cluster.yaml", allow_empty=True)
        return assemble((one.object for one in manifests.objects), release=release).cluster

    return make
