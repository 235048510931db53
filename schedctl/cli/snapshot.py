"""``schedctl snapshot``: a cluster in a file, to be kept, looked into, compared and shown to others."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedctl.cli import faults, options
from schedctl.cli.notifiers import StandardError
from schedctl.cli.state_options import with_state
from schedctl.errors import UsageError
from schedctl.session.states import LIVE, StateSource

if TYPE_CHECKING:
    from schedctl.reports.snapshots import Redaction
    from schedctl.session.states import State

EXAMPLES_OF_CREATE = """\b
Examples:
  schedctl snapshot create prod.json.gz
  schedctl snapshot create prod.json.gz --context prod --scheduler-config-from-cluster
  schedctl snapshot create prod.json.gz --from nodes.json --from pods.json
  schedctl snapshot create bug.json.gz --redact strict --key-file ~/.schedctl.key
"""
EXAMPLES_OF_INSPECT = """\b
Examples:
  schedctl snapshot inspect prod.json.gz
  schedctl snapshot inspect prod.json.gz -o jsonpath='{.snapshot.taken}'
"""
EXAMPLES_OF_DIFF = """\b
Examples:
  schedctl snapshot diff monday.json.gz tuesday.json.gz
  schedctl snapshot diff monday.json.gz tuesday.json.gz --limit 100
  schedctl snapshot diff monday.json.gz tuesday.json.gz --exit-code -o json
"""
EXAMPLES_OF_REDACT = """\b
Examples:
  schedctl snapshot redact prod.json.gz bug.json.gz
  schedctl snapshot redact prod.json.gz bug.json.gz --key-file ~/.schedctl.key
  schedctl snapshot redact raw.json.gz prod.json.gz --redact default
"""
STDOUT = "-"

Redact = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="default: only what scheduling reads; strict: names and values hashed; none: objects as they are.",
    ),
]
RedactFurther = Annotated[
    str, typer.Option(metavar="LEVEL", help="strict: names and values hashed; default: only what scheduling reads.")
]
KeyFile = Annotated[
    str,
    typer.Option(metavar="FILE", help="The key of the hashes; made if it is not there. Without one, nobody keeps it."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it is there.")]

application = typer.Typer(rich_markup_mode=None, help="Keep, inspect, compare and redact clusters as files.")


@application.command("create", short_help="Write a cluster to a file.", epilog=EXAMPLES_OF_CREATE)
@with_state
def create(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Packed if it ends in .gz; - for standard output.")],
    origin: Annotated[
        list[str] | None,
        typer.Option("--from", metavar="PATH", help="The same as -f: make it of files, not of the live cluster."),
    ] = None,
    redact: Redact = "default",
    key_file: KeyFile = "",
    scheduler_config: Annotated[
        str, typer.Option(metavar="FILE", help="Put this KubeSchedulerConfiguration in, to be followed later.")
    ] = "",
    force: Force = False,
    yes: Annotated[bool, typer.Option("-y", "--yes", help="Do not ask before writing without redaction.")] = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
    no_progress: options.NoProgress = False,
    source: StateSource = LIVE,
) -> None:
    """Write what scheduling reads of a cluster to a file, of mode 0600, which -f reads like any other.

    Secrets and ConfigMaps are not asked for, and environment variables, commands and annotations are left out. What
    could not be listed is noted in the file, so that answers which would need it are inconclusive.
    """
    from schedctl.reports.snapshots import Header
    from schedctl.session import configurations
    from schedctl.snapshots import documents, levels
    from schedctl.versions import __version__

    notifier = StandardError(quiet=quiet, verbose=verbose, bars=not no_progress)
    level = _level(redact, key_file)
    source = _with_files(source, tuple(origin or ()))
    _check_target(file, force=force)
    if level == "none":
        _agree_to_everything(source, yes=yes)
    text = configurations.text(scheduler_config, source, notifier)
    key = _key(level, key_file)
    state = source.load(notifier)
    _refuse_hashed(state)
    listing, connection = state.listing, state.connection
    header = Header(
        tool_version=__version__,
        source=connection.name if connection is not None else "files",
        server_version=listing.server_version if listing is not None else _server_version(state),
        taken=state.taken,
        missing=list(state.missing),
        scheduler_configuration=text or _configuration_of(state),
        configuration_left_out=any(one.configuration_left_out for one in state.manifests.snapshots),
    )
    with notifier.progress("writing") as progress:
        progress.advance(0, 1)
        if level == "none":
            objects = _as_sent(state)
        else:
            found = ((one.kind, one.object) for one in state.manifests.objects)
            objects = documents.by_kind(found)
        data = levels.snapshot(header, objects, level, key)
        size = _write(file, data, force=force)
    if not quiet:
        _tell(file, data, size, key_file)


@application.command("inspect", short_help="Show what a snapshot holds.", epilog=EXAMPLES_OF_INSPECT)
def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The snapshot.")],
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FORMAT", help="text, json, yaml or jsonpath=TEMPLATE.")
    ] = "text",
    color: options.Color = "auto",
    debug: options.Debug = False,
) -> None:
    """Show what a snapshot holds: when and where it is from, how much of what, what is missing.

    And how many names of which sort can be read in it, which is worth a look before others are shown it.
    """
    import time

    from schedctl.api import times
    from schedctl.api.kinds import kind_named
    from schedctl.cli.printing import Printer
    from schedctl.plugins.in_tree import IN_TREE
    from schedctl.snapshots import inspection
    from schedctl.sources import snapshots

    printer = Printer.of(output, color)
    found = snapshots.load(file)
    taken = found.read.header.taken
    age = (time.time_ns() - times.unix_nanoseconds(taken)) / 1e9 if taken else None
    report = inspection.report(
        found.name, found.size, len(found.data), found.read, lambda kind: IN_TREE.reading(kind_named(kind).struct), age
    )
    printer.write(report)


@application.command("diff", short_help="Show what changed between two snapshots.", epilog=EXAMPLES_OF_DIFF)
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A snapshot.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="A later one.")],
    output: options.Output = "text",
    limit: options.Limit = 0,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 1 if anything differs.")] = False,
    color: options.Color = "auto",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> int:
    """Show which objects came, went and changed between two snapshots, and in which fields.

    Only what a snapshot keeps is compared. Two that are redacted strictly compare if their key is the same.
    """
    from schedctl.cli.printing import Printer
    from schedctl.snapshots import comparison
    from schedctl.sources import snapshots

    printer = Printer.of(output, color)
    first, second = snapshots.load(before), snapshots.load(after)
    for one in (first, second):
        if not one.read.intact and not quiet:
            faults.say(f"warning: {one.name}: {snapshots.CHANGED}")
    report = comparison.diff((first.name, first.read), (second.name, second.read), fail=exit_code)
    printer.write(report, limit=limit)
    return report.summary.exit_code


@application.command("redact", short_help="Take more out of a snapshot.", epilog=EXAMPLES_OF_REDACT)
def redact_further(
    source: Annotated[str, typer.Argument(metavar="IN", help="The snapshot.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The new one; - for standard output.")],
    redact: RedactFurther = "strict",
    key_file: KeyFile = "",
    force: Force = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a snapshot anew with more taken out of it; every verdict and score stays what it was.

    Strictly redacted, names, namespaces and the values of labels are keyed hashes that sort as the names did. Keys of
    labels, names of resources and drivers, numbers and times stay.
    """
    import msgspec

    from schedctl.snapshots import documents, levels
    from schedctl.sources import snapshots
    from schedctl.versions import __version__

    level = _level(redact, key_file)
    _check_target(target, force=force)
    found = snapshots.load(source)
    header = found.read.header
    if header.redaction == "strict":
        raise UsageError(f"{source} is redacted strictly already", "there is no more to take out")
    if levels.LEVELS.index(level) <= levels.LEVELS.index(header.redaction):
        raise UsageError(
            f"{source} has redaction {header.redaction}: {level} takes no more out of it", "`--redact strict` does"
        )
    if not found.read.intact and not quiet:
        faults.say(f"warning: {found.name}: {snapshots.CHANGED}")
    key = _key(level, key_file)
    objects = documents.by_kind((kind, obj) for kind, each in found.read.objects for obj in each)
    data = levels.snapshot(msgspec.structs.replace(header, tool_version=__version__), objects, level, key)
    size = _write(target, data, force=force)
    if not quiet:
        _tell(target, data, size, key_file)


# --- What is asked for ------------------------------------------------------------------------------------------------


def _level(text: str, key_file: str) -> Redaction:
    """Return how much is to be taken out.

    Raises:
        UsageError: there is no such level, or a key for what is not hashed.
    """
    from schedctl.snapshots.levels import LEVELS

    for level in LEVELS:
        if text == level:
            if key_file and level != "strict":
                raise UsageError("--key-file is for names that are hashed", "`--redact strict` hashes them")
            return level
    raise UsageError(f'there is no redaction "{text}"', f"--redact takes {', '.join(LEVELS)}")


def _with_files(source: StateSource, paths: tuple[str, ...]) -> StateSource:
    """Return where the state is with the files of ``--from``.

    Raises:
        UsageError: a live cluster is described and none is to be asked.
    """
    from schedctl.live.kubeconfigs import Access

    if not paths:
        return source
    if not (source.live or source.paths) and (source.configured or source.access != Access()):
        raise UsageError("--from is about files, and the other options about a live cluster", "`--live` takes both")
    return replace(source, paths=(*source.paths, *paths))


def _agree_to_everything(source: StateSource, *, yes: bool) -> None:
    """See to it that nobody writes everything there is to a file without knowing.

    Raises:
        UsageError: there is nobody to ask, or files are to be written as they are.
        typer.Abort: the terminal is gone.
        typer.Exit: the user would rather not.
    """
    from schedctl.cli import questions

    if source.paths:
        raise UsageError("--redact none is of a live cluster; files are as they are already", "keep the files")
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "--redact none asks before it writes environment variables, commands and all annotations to a file",
            "`--yes` writes them without asking",
        )
    questions.ask(
        "environment variables, commands and all annotations go into the file, with what is secret in them; write it?",
        "nothing was written",
    )


def _key(level: Redaction, path: str) -> bytes:
    """Return the key of the hashes, and say where it is if it was made.

    Raises:
        UsageError: it cannot be had.
    """
    from schedctl.snapshots import files

    if level != "strict":
        return b""
    if not path:
        return files.one_time_key()
    key, made = files.load_key(Path(path).expanduser())
    if files.is_readable_by_others(Path(path).expanduser()):
        faults.say(f"warning: others can read the key {path}, and try names out with it", f"`chmod 600 {path}`")
    if made:
        faults.say(
            f"made the key {path}: whoever has it can try names out, so keep it, and keep it apart from snapshots"
        )
    return key


def _refuse_hashed(state: State) -> None:
    """See to it that names which are hashes already do not pass for names.

    Raises:
        UsageError: there are some.
    """
    if any(header.redaction == "strict" for header in state.manifests.snapshots):
        raise UsageError("a snapshot that is redacted strictly goes into no other", "copy the file")


def _server_version(state: State) -> str:
    return next((one.server_version for one in state.manifests.snapshots if one.server_version), "")


def _configuration_of(state: State) -> str:
    """Return the configuration that the snapshots among the files agree on, "" where they do not."""
    texts = {one.scheduler_configuration for one in state.manifests.snapshots if one.scheduler_configuration}
    return texts.pop() if len(texts) == 1 else ""


def _as_sent(state: State) -> dict[str, list[Any]]:
    """Return the objects as the API server sent them, by kind."""
    import msgspec

    from schedctl.snapshots.levels import as_sent

    found: dict[str, list[Any]] = {}
    for page in state.listing.pages if state.listing is not None else ():
        items = msgspec.json.decode(page.body).get("items") or ()
        found.setdefault(page.kind.name, []).extend(map(as_sent, items))
    return found


# --- Files ------------------------------------------------------------------------------------------------------------


def _check_target(file: str, *, force: bool) -> None:
    """See to it that the result can be written, before any work is done.

    Raises:
        UsageError: it cannot.
    """
    from schedctl.snapshots import files

    if file != STDOUT:
        files.check_writable(Path(file), replace=force)


def _write(file: str, data: bytes, *, force: bool) -> int:
    """Write a snapshot and return how many bytes that took.

    Raises:
        OSError: it cannot be written.
        UsageError: there is a file of that name by now.
    """
    from schedctl.snapshots import documents, files

    if file == STDOUT:
        sys.stdout.buffer.write(data)
        return len(data)
    packed = documents.pack(data) if file.endswith(documents.PACKED) else data
    files.write(Path(file), packed, replace=force)
    return len(packed)


def _tell(file: str, data: bytes, size: int, key_file: str) -> None:
    """Say what was written."""
    from schedctl.render import snapshots
    from schedctl.snapshots import documents

    header = documents.header(data)
    for text in snapshots.write_summary("standard output" if file == STDOUT else file, size, header, key_file):
        faults.say(text)


def add_to(parent: typer.Typer) -> None:
    """Register the commands."""
    parent.add_typer(application, name="snapshot")
