"""Where the ready profiles and the example clusters are.

The repository keeps both at its root, where a reader looks for them; the wheel carries them inside the package. An
editable checkout has the first, an installation has the second, and nobody else needs to know which.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def profiles() -> Path:
    """The folder of ready KubeSchedulerConfigurations, ``profiles/`` of the repository."""
    return _folder("profiles")


def fixtures() -> Path:
    """The folder of example clusters, workloads and scenarios, ``fixtures/`` of the repository."""
    return _folder("fixtures")


def _folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
