"""``schedctl completion``: scripts that teach a shell the commands, options and names."""

from __future__ import annotations

from typing import Annotated

import typer

from schedctl.errors import UsageError

SHELLS = ("bash", "zsh", "fish", "powershell")


EXAMPLES = """\b
Examples:
  source <(schedctl completion bash)
  schedctl completion zsh > "${fpath[1]}/_schedctl"
  schedctl completion fish > ~/.config/fish/completions/schedctl.fish
  schedctl completion powershell >> $PROFILE
"""


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
) -> None:
    """Print a completion script; no file of yours is changed."""
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from schedctl.cli.program import COMPLETION_VARIABLE

    if shell not in SHELLS:
        raise UsageError(f'there is no completion for "{shell}"', f"the shells are: {', '.join(SHELLS)}")
    typer.echo(get_completion_script(prog_name="schedctl", complete_var=COMPLETION_VARIABLE, shell=shell))
