"""How much processor time starting costs: commands beside the imports that they cannot do without.

Each is a process of its own. All are run in turn, so that what else the machine does hits all alike; byte code is
cached by a first round.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import machines

ROOT = Path(__file__).parents[1]
RUNS = 15
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
SHOP = "fixtures/clusters/shop"
POD = "shop/web-7d9c6b5f4d-jbljm"
COMMANDS = {
    "bare interpreter": ["-c", "pass"],
    "import typer": ["-c", "import typer"],
    "import numpy, msgspec, rich.table, typer": ["-c", "import numpy, msgspec, rich.table, typer"],
    "schedctl version": ["-m", "schedctl", "version"],
    "schedctl --help": ["-m", "schedctl", "--help"],
    "schedctl explain": ["-m", "schedctl", "explain", "pod", POD, "-f", SHOP],
    "schedctl simulate": ["-m", "schedctl", "simulate", "fixtures/releases/spring/web.yaml", "-f", SHOP],
}
LIBRARIES = "import numpy, msgspec, rich.table, typer"
GOALS = {
    "schedctl --help": ("import typer", 1.2),
    "schedctl explain": (LIBRARIES, 2.0),
    "schedctl simulate": (LIBRARIES, 2.0),
}
"""What each is at most a multiple of."""


def processor_seconds(arguments: list[str]) -> float:
    """The user and system time of one process."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env=ENVIRONMENT,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    print(machines.sentence(machines.about()), flush=True)
    rounds = [{name: processor_seconds(arguments) for name, arguments in COMMANDS.items()} for _ in range(RUNS + 1)][1:]
    medians = {name: statistics.median(one[name] for one in rounds) for name in COMMANDS}
    for name, seconds in medians.items():
        line = f"{name:42} {seconds * 1000:6.0f} ms"
        if name in GOALS:
            beside, goal = GOALS[name]
            ratio = statistics.median(one[name] / one[beside] for one in rounds)
            line += f"   {ratio:.2f}x of `{beside}` (goal {goal}x)"
        print(line)


if __name__ == "__main__":
    main()
