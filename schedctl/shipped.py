"""Where the ready profiles, the roles, the example clusters and the proof of exactness are.

The repository keeps them at its root, where a reader looks for them; the wheel carries them inside the package. An
editable checkout has the first, an installation has the second, and nobody else needs to know which.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def profiles() -> Path:
    """The folder of ready KubeSchedulerConfigurations, ``profiles/`` of the repository."""
    return _shipped_folder("profiles")


def fixtures() -> Path:
    """The folder of example clusters, workloads and scenarios, ``fixtures/`` of the repository."""
    return _shipped_folder("fixtures")


def scenario() -> Path:
    """The example cluster of ``schedctl demo``."""
    return fixtures() / "clusters/shop"


def proof() -> Path:
    """The numbers of the comparison with kube-scheduler's own plugins, ``conformance/proof.json`` of the repository."""
    return _shipped_folder("conformance/proof.json")


def docs() -> Path | None:
    """The pages of the documentation, ``docs/`` of the repository; None where they are not installed."""
    folder = _shipped_folder("docs")
    return folder if folder.is_dir() else None


def roles() -> str:
    """The file of the roles that schedctl needs, as a user finds it: by its path where schedctl is installed."""
    name = "deploy/clusterrole.yaml"
    installed = _PACKAGE / "_data" / name
    return str(installed) if installed.exists() else name


def _shipped_folder(name: str) -> Path:
    installed = _PACKAGE / "_data" / name
    return installed if installed.exists() else _PACKAGE.parent / name
