"""Texts that a question is about as files, for those who read files, and the files below the roots that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from schedctl.mcp.roots import Roots


class FileTexts(msgspec.Struct, frozen=True):
    """Where texts are written, and from where files may be named.

    Attributes:
        roots: from where files may be named.
        scratch: a folder of the server's own, where texts are files for as long as a question is asked.
    """

    roots: Roots
    scratch: Path

    @contextmanager
    def paths(self, text: str, names: Sequence[str] = (), *, name: str = "manifests.yaml") -> Iterator[list[str]]:
        """Yield the paths of files below the roots, and of one that holds a text for as long as the question is asked.

        Only one question is asked at a time, so that a name is enough.

        Raises:
            UsageError: a file is outside of the roots.
        """
        paths = self.roots.files(names)
        if not text:
            yield paths
            return
        file = self.scratch / name
        file.write_text(text, encoding="utf-8")
        try:
            yield [*paths, str(file)]
        finally:
            file.unlink()

    def without_folder(self, text: str) -> str:
        """Return a text in which the files that were texts are without the folder."""
        return text.replace(f"{self.scratch}/", "")
