"""The page of settings: the variables of the environment, and the fields of schedctl's own configuration file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from docs._reference.commands import commands
from docs._reference.markdown import GENERATED, anchor, code, prose, sentence, table
from docs._reference.schemas import record_table, records
from schedctl.config.settings_file import OF_USER_ONLY
from schedctl.session.schemas import SCHEMAS
from schedctl.session.settings import NAME

OTHERS = {
    "KUBECONFIG": "kubeconfig files of the live cluster, as for kubectl",
    "XDG_CONFIG_HOME": "folder of `schedctl/config.yaml`; `~/.config` unless given",
    "NO_COLOR": "no colour, if it is not empty",
    "FORCE_COLOR": "colour even where the output is not a terminal, unless it is empty or `0`",
    "CLICOLOR_FORCE": "the same",
    "COLUMNS": "width of the output in columns",
}
"""Variables that are no option's, which other programs know, too."""


def page() -> str:
    """Return the page."""
    found = records(SCHEMAS["Config"]())
    links = {name: f"#{anchor(_title(name))}" for name in found}
    sections = [
        f"### {_title(name)}\n\n{sentence(record['description'])}\n\n{record_table(record, links, read=True)}"
        for name, record in found.items()
    ]
    return f"""{GENERATED}

# Settings

Where can options stand that I always give? In variables of the environment, or in a file. An option on the command line
comes first, then its variable, then the user's own file, then the file of the repository.

```yaml
apiVersion: schedctl.dev/v1alpha1
kind: Config
defaults:
  output: wide
  context: staging
```

## Variables

{table(["Variable", "Stands for", "What it is"], _variables())}
{table(["Variable", "What it does"], [[code(name), sentence(text)] for name, text in OTHERS.items()])}
## Files

- `~/.config/schedctl/config.yaml` is the user's own.
- `{NAME}` is that of a repository: the nearest one from the current folder up to the root of the git repository. It
  sets neither {_listed(OF_USER_ONLY)}, and `bind` does not read it.

`--config FILE` of `check`, `simulate` and `test` reads that file alone, and their `--no-config` reads none. A
field that does not exist is an error, with its line. `schedctl schema Config` prints the JSON Schema for an editor.

{chr(10).join(sections)}
Next: [which fields does a policy have?](policy-fields.md)
"""


def _title(record: str) -> str:
    return {"Config": "The file", "PodsEntry": "An entry of customKinds"}.get(record) or record.removesuffix(
        "Config"
    ).lower()


def _listed(names: Iterable[str]) -> str:
    *others, last = map(code, names)
    return f"{', '.join(others)} nor {last}"


def _variables() -> Iterator[list[str]]:
    """Yield the variables of options with the texts that most commands have for them."""
    seen = set()
    for _, command, _ in commands():
        for option in command.params:
            variable = str(getattr(option, "envvar", "") or "")
            if variable.startswith("SCHEDCTL_") and variable not in seen:
                seen.add(variable)
                yield [code(variable), " or ".join(map(code, option.opts)), prose(option.help)]
