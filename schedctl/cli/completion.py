"""``schedctl completion``: scripts that teach a shell the commands, options and names."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

from schedctl.cli import suggestions
from schedctl.errors import UsageError

FILES, NO_FILES = 0, 4
"""What kubectl's shell script takes for a directive: whether it offers files where no word is offered."""
SHELLS = ("bash", "zsh", "fish", "powershell")


EXAMPLES = """
Examples:
  source <(schedctl completion bash)
  schedctl completion zsh > "${fpath[1]}/_schedctl"
  schedctl completion fish > ~/.config/fish/completions/schedctl.fish
  schedctl completion powershell >> $PROFILE
"""


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", help="bash, zsh, fish or powershell", autocompletion=suggestions.words(*SHELLS)
        ),
    ],
) -> None:
    """Print a completion script for your shell; no file is changed.

    `kubectl schedctl` completes through the executable `kubectl_complete-schedctl`, which is installed with schedctl.
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from schedctl.cli.program import COMPLETION_VARIABLE

    if shell not in SHELLS:
        raise UsageError(f'no completion for shell "{shell}"', f"the shells are: {', '.join(SHELLS)}")
    typer.echo(get_completion_script(prog_name="schedctl", complete_var=COMPLETION_VARIABLE, shell=shell))


def for_kubectl(words: Sequence[str]) -> int:
    """Print what may come next, one word on a line, and how kubectl goes on from there; return the exit code.

    Args:
        words: those behind ``kubectl schedctl``, the incomplete one last.
    """
    import io
    from contextlib import redirect_stdout

    from schedctl.cli.program import COMPLETION_VARIABLE
    from schedctl.cli.running import run

    # The protocol of bash is the only one without escapes of its own.
    os.environ[COMPLETION_VARIABLE] = "complete_bash"
    os.environ["COMP_WORDS"] = shlex.join(["schedctl", *words])
    os.environ["COMP_CWORD"] = str(max(len(words), 1))
    with redirect_stdout(io.StringIO()) as out, suppress(SystemExit):
        run([])
    offered = [line for line in out.getvalue().splitlines() if line]
    typer.echo("".join(f"{word}\n" for word in offered) + f":{NO_FILES if offered else FILES}")
    return 0
