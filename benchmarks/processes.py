"""Measuring in a process of its own: its memory and its caches are then nobody else's.

What is run is a function of one of our modules, by name. Its arguments and what it returns travel as JSON. The process
collects garbage as seldom as schedctl's own do.
"""

import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from schedctl.cli import COLLECT_AFTER

ROOT = Path(__file__).parents[1]
CODE = (
    "import gc, json, sys; from {0} import {1}; gc.set_threshold({2}); "
    "json.dump({1}(*json.loads(sys.argv[1])), sys.stdout)"
)
STATUS = Path("/proc/self/status")


def command(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """The words that call a function in a process of its own; they are run in `ROOT`."""
    module = function.__globals__["__spec__"].name  # not `__module__`, which is __main__ for whoever was run with -m
    code = CODE.format(module, function.__name__, COLLECT_AFTER)
    return [sys.executable, "-c", code, json.dumps(arguments)]


def in_new_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns in a process of its own."""
    ran = subprocess.run(command(function, *arguments), cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout)


def peak() -> int:
    """The most bytes that this process has been resident with."""
    # Not `ru_maxrss` if it can be helped: it counts what the parent held when it made this process.
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def resident() -> int:
    """The bytes that this process is resident with, garbage collected."""
    gc.collect()
    return _status("VmRSS") or int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(os.getpid())])) * 1024


def _status(field: str) -> int:
    lines = STATUS.read_text().splitlines() if STATUS.exists() else []
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), 0)
