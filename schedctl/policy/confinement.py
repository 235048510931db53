"""Which files a policy, or a test of one, may name: those of its repository, and nothing beside it.

A pull request may bring either, so that neither may have other files of the machine read, and printed in a message.
"""

from __future__ import annotations

import glob
from pathlib import Path


def root_of(folder: Path, otherwise: Path) -> Path:
    """Return the folder of the repository around a folder, or another where there is none; both without links.

    Raises:
        OSError: the folder cannot be looked up.
        RuntimeError: its links run in a circle.
    """
    here = folder.resolve()
    return next((each for each in (here, *here.parents) if (each / ".git").exists()), otherwise.resolve())


def is_inside(path: Path, root: Path) -> bool:
    """Return whether a path, or each that a glob stands for, is below a root and not in what git keeps there.

    Links are followed; what cannot be looked up is not inside.
    """
    try:
        reached = [path, *map(Path, glob.glob(str(path), recursive=True))]  # noqa: PTH207
        return all(_is_below(each.resolve(), root) for each in reached)
    except (OSError, ValueError, RuntimeError):
        return False


def _is_below(path: Path, root: Path) -> bool:
    return path.is_relative_to(root) and ".git" not in path.relative_to(root).parts
