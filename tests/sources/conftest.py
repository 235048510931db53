from __future__ import annotations

import textwrap

import pytest

from schedctl.errors import InputError, Problem
from schedctl.sources import Manifests, load_text


class Reader:
    """Reads manifests written in a test; indentation and the first line break do not count."""

    def __call__(self, text: str | bytes, name: str = "m.yaml") -> Manifests:
        return load_text(self.bytes(text), name)

    def problems(self, text: str | bytes, name: str = "m.yaml") -> list[Problem]:
        """The problems with a text; none is a failure."""
        with pytest.raises(InputError) as caught:
            self(text, name)
        return list(caught.value.problems)

    def one(self, text: str | bytes):
        """The only object of a text."""
        (sourced,) = self(text).objects
        return sourced.object

    @staticmethod
    def bytes(text: str | bytes) -> bytes:
        return text if isinstance(text, bytes) else textwrap.dedent(text).lstrip("\n").encode()


@pytest.fixture
def read() -> Reader:
    return Reader()
