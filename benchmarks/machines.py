"""What a result was measured on: without it, times say nothing, and with it, still little."""

import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from schedctl import KUBERNETES_VERSION, __version__

CPUS = Path("/proc/cpuinfo")


def about() -> dict[str, Any]:
    """Processor, cores, how busy they were in the last minute, and the versions of everything."""
    lines = CPUS.read_text().splitlines() if CPUS.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {
        "processor": model or platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "schedctl": __version__,
        "kubernetes": KUBERNETES_VERSION,
    }


def sentence(about: dict[str, Any]) -> str:
    """The same in words."""
    return (
        f"Measured on {about['cores']} cores ({about['processor']}), load {about['load']} at the start, with Python "
        f"{about['python']}, NumPy {about['numpy']} and kube-scheduler {about['kubernetes']}."
    )
