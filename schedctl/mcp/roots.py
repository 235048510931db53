"""The folders from which an agent may name files; none outside of them is read, whatever a name or a link says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from schedctl.errors import UsageError


class Roots(msgspec.Struct, frozen=True):
    """Folders, resolved.

    Attributes:
        folders: from which files may be named; none where no file may be.
    """

    folders: tuple[Path, ...] = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> Roots:
        """Return the folders of these names.

        Raises:
            UsageError: one is not there.
        """
        folders = []
        for name in names:
            folder = Path(name)
            if not folder.is_dir():
                raise UsageError(f"--root: no folder {name}", "name a folder that exists")
            folders.append(folder.resolve())
        return cls(tuple(folders))

    def files(self, names: Sequence[str]) -> list[str]:
        """Return the paths of files and folders below the roots; relative names are looked up in each root.

        Raises:
            UsageError: one is outside of the roots, or not there.
        """
        return [str(self._resolve(name)) for name in names]

    def _resolve(self, name: str) -> Path:
        if not self.folders:
            raise UsageError(
                f'"{name}" cannot be read: this server was started without --root', "give the manifests as text instead"
            )
        for folder in self.folders:
            try:
                path = (folder / name).resolve()
                if path.exists() and path.is_relative_to(folder):
                    return path
            except (OSError, ValueError):
                continue
        listed = ", ".join(map(str, self.folders))
        raise UsageError(f'no file "{name}" below the roots of this server', f"the roots are: {listed}")
