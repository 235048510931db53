"""The command line: parse, call, render; one module per command.

A command module declares its options and imports what it needs when it runs, so that ``schedctl --help`` does not wait
for NumPy. The result, and nothing else, goes to standard output; ``faults`` makes a message on standard error and an
exit code of whatever goes wrong.
"""

from __future__ import annotations

import sys
from typing import NoReturn

COLLECT_AFTER = 200_000
"""After how many new objects the garbage collector looks among them.

Nearly all that starting makes (classes, functions, the cluster) stays until the end: to look for garbage among it after
every 700 new objects, as Python does, costs a twentieth of a short command and finds none.
"""


def main() -> NoReturn:
    """Run the command line of this process and end it with the exit code."""
    import gc

    from schedctl.cli.running import run

    gc.set_threshold(COLLECT_AFTER)
    code = run(sys.argv[1:])
    gc.freeze()  # what is left goes with the process, so that no garbage need be looked for among it
    sys.exit(code)


def complete_for_kubectl() -> NoReturn:
    """Complete ``kubectl schedctl ...``: kubectl runs ``kubectl_complete-schedctl`` with the words behind it."""
    from schedctl.cli.completion import for_kubectl

    sys.exit(for_kubectl(sys.argv[1:]))
