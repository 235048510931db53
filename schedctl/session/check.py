"""Whether placement policies hold for manifests on a state."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from schedctl.api import autoscalers
from schedctl.api.custom_kinds import CustomWorkload
from schedctl.api.durations import Duration
from schedctl.api.policies import ResourceQuota
from schedctl.api.short_names import NAMES
from schedctl.api.times import unix_nanoseconds
from schedctl.autoscaling import group_files
from schedctl.autoscaling.group_files import NO_FILES, GroupFiles
from schedctl.documents.spelling import nearest
from schedctl.errors import InputError, Problem, UsageError
from schedctl.policy import baselines, reading
from schedctl.policy.baselines import Baseline, CheckBaseline
from schedctl.policy.builtins.snapshot_fresh import is_to_come
from schedctl.policy.documents import BUILT_IN_POLICY, CheckPolicy, Schedulable
from schedctl.policy.evaluations import Conditions, evaluate
from schedctl.policy.exemptions import Acceptances
from schedctl.policy.fingerprints import fingerprint
from schedctl.policy.side_by_side import count_cores
from schedctl.policy.summaries import FailOn, OnInconclusive, summarize, without_verdicts
from schedctl.policy.tags import select_by_tags
from schedctl.policy.verdicts import ObserveCondition
from schedctl.reports import counts, exit_codes
from schedctl.reports.checks import CheckOutcome, CheckReport, CheckResult, CheckRule, PolicyRules, Severity
from schedctl.reports.metadata import Input, Metadata, ReportedAssumption
from schedctl.scheduler.gaps import log_assumptions
from schedctl.session import manifest_edits, node_maps, runs
from schedctl.session import manifests as inputs
from schedctl.session.machine_objects import refuse_machine_objects
from schedctl.session.sessions import Session
from schedctl.session.settings import Settings
from schedctl.session.standing_workloads import workloads_of
from schedctl.session.states import StateSource
from schedctl.sources import Manifests
from schedctl.sources.files import STDIN
from schedctl.sources.pins import split_pin
from schedctl.workloads.rollouts import RolloutStrategy

FAIL_ON: tuple[FailOn, ...] = ("error", "warning", "info", "never")
ON_INCONCLUSIVE: tuple[OnInconclusive, ...] = ("fail", "warn", "ignore")
_ALLOW_EMPTY = "use `--allow-empty` to accept this"
_COMMAND_LINE, _MAX_AGE = "command-line", "max-age"
_MOST_WARNINGS = 100
"""How many are noted."""
_SECOND = 1_000_000_000
_Choice = TypeVar("_Choice", bound=str)


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How manifests are checked.

    Attributes:
        fail_on: from which severity on violations fail.
        on_inconclusive: what inconclusive results do.
        max_age: how old the state may be, None for any age.
        inline: whether annotations of objects accept findings.
        baseline: the violations that are accepted, None for none.
        strategy: how new pods take the place of old ones.
        standing: whether the workloads of the state are checked in place of manifests.
        disabled: admission plugins that are switched off.
        allow_empty: whether it is fine that nothing is judged.
        now: Unix seconds.
        processes: how many may play scenarios side by side.
        observe: hears what match conditions come to; nobody does if None.
        tags: judge only checks with one of these, all if there are none.
        seed: draws among equally good nodes; None takes the first by name.
        node_map: whether the report has the nodes that pictures show.
        group_files: what files say of groups of nodes, for checks that count with a scale-up.
    """

    fail_on: FailOn = "error"
    on_inconclusive: OnInconclusive = "fail"
    max_age: Duration | None = None
    inline: bool = True
    baseline: Baseline | None = None
    strategy: RolloutStrategy = "replace"
    standing: bool = False
    disabled: Sequence[str] = ()
    allow_empty: bool = False
    now: float = 0.0
    processes: int = 1
    observe: ObserveCondition | None = None
    tags: Sequence[str] = ()
    seed: int | None = None
    node_map: bool = False
    group_files: GroupFiles = NO_FILES


class CheckInputs(msgspec.Struct, frozen=True):
    """What a check has read besides the state.

    Attributes:
        rules: the policies.
        manifests: what they are about.
        digests: of every file that was read, as the report lists them.
        notes: what checks that count with a scale-up do not consider.
    """

    rules: reading.Read
    manifests: Manifests
    digests: Sequence[Input]
    notes: Sequence[str] = ()

    @property
    def warnings(self) -> list[Problem]:
        """What is odd about the policies and the manifests, though they can be used."""
        return [*self.rules.warnings, *self.manifests.warnings]


def files_of_settings(settings: Settings) -> list[str]:
    """Return the names of all that the settings have a check read, their own files among them."""
    check = settings.check
    return [
        *policy_files(check.get("policies", ())),
        *check.get("state", ()),
        check.get("baseline", ""),
        *settings.digests,
    ]


def policy_files(paths: Sequence[str]) -> list[str]:
    """Return the files of policies without the digests that they have to have."""
    return [split_pin(path).path for path in paths]


def check_sources(
    source: StateSource, paths: Sequence[str], kustomizations: Sequence[str], settings: Settings, *, standing: bool
) -> None:
    """Complete where the state is read from by the settings, and hold up a check that could not be made.

    Raises:
        UsageError: there is no state, there are no manifests or some beside `--all`, or both are to come from standard
            input.
    """
    if not (source.paths or source.live):
        source.paths = tuple(settings.check.get("state", ()))
    if not (source.paths or source.live):
        raise UsageError(
            "no cluster state given: use -f FILE or --live",
            "-f reads files or a snapshot, --live reads the live cluster",
        )
    if not standing:
        inputs.check_sources(paths, kustomizations, source.paths)
    elif paths or kustomizations:
        raise UsageError("--all checks what the cluster has; manifests are checked without it", "remove one of them")


def parse_options(
    settings: Settings,
    *,
    fail_on: str = "",
    on_inconclusive: str = "",
    max_age: str = "",
    baseline: str = "",
    rollout: str = "",
    standing: bool = False,
    skip_admission: str = "",
    inline: bool = True,
    allow_empty: bool = False,
    jobs: int = 0,
    tags: Sequence[str] = (),
    node_map: bool = False,
    node_groups: str = "",
    types: str = "",
) -> CheckOptions:
    """Return what the words of the options stand for, "" for what the settings say, as of now.

    Raises:
        ConfigError: the baseline cannot be read.
        InputError: the file of groups or of instance types cannot be read or understood.
        UsageError: a word is none that its option takes.
    """
    defaults = settings.check
    baseline = baseline or defaults.get("baseline", "")
    return CheckOptions(
        fail_on=parse_word("--fail-on", fail_on or defaults.get("fail_on", "error"), FAIL_ON),
        on_inconclusive=parse_word(
            "--on-inconclusive", on_inconclusive or defaults.get("on_inconclusive", "fail"), ON_INCONCLUSIVE
        ),
        max_age=parse_max_age(max_age or defaults.get("max_age", "")),
        inline=inline,
        baseline=baselines.read(baseline) if baseline else None,
        strategy=_strategy(rollout, standing),
        standing=standing,
        disabled=runs.admission_plugins(skip_admission),
        allow_empty=allow_empty,
        now=time.time(),
        processes=jobs or count_cores(),
        tags=tags,
        node_map=node_map,
        group_files=group_files.read(node_groups, types),
    )


def _strategy(rollout: str, standing: bool) -> RolloutStrategy:
    """Return how new pods take the place of old ones; of what stands as it is, pods stay and missing ones are made."""
    if not standing:
        return runs.rollout_strategy(rollout or "replace")
    if rollout:
        raise UsageError("--rollout is about manifests; --all has none", "remove one of them")
    return "rolling"


def load(
    session: Session,
    options: CheckOptions,
    *,
    paths: Sequence[str],
    kustomizations: Sequence[str],
    policies: Sequence[str],
    namespace: str,
    settings: Settings,
) -> CheckInputs:
    """Read the policies, the manifests and the state.

    Args:
        session: its state is loaded here.
        options: of the check.
        paths: the manifests: files, folders, globs, ``-``.
        kustomizations: folders that kustomize builds manifests from.
        policies: files, none for those of the settings.
        namespace: of objects that name none.
        settings: the user's.

    Raises:
        ClusterError: the live cluster cannot be read.
        ConfigError: a policy cannot be understood, or kube-scheduler would refuse the configuration in a snapshot.
        InputError: a file cannot be read or understood, or there is nothing in them.
        UsageError: standard input is to be read twice.
    """
    source, notifier = session.source, session.notifier
    _reject_with_redaction(source, options)
    rules = load_policies(policies or settings.check.get("policies", ()), (*paths, *source.paths))
    if source.redaction is not None and rules.digests:
        raise UsageError(
            "--redact strict cannot hide the names in policies", "without a policy, every pod needs a node"
        )
    scale_up = any(_counts_with_new_nodes(policy) for policy in rules.policies)
    if scale_up:
        session.read_also(autoscalers.KINDS)
    if options.standing:
        session.load()
        manifests = workloads_of(session.state)
    else:
        manifests = inputs.load(
            paths,
            kustomizations,
            recursive=source.recursive,
            stdin_filename=source.stdin_filename,
            namespace=namespace,
            allow_empty=options.allow_empty,
            strict=source.strict,
            custom_kinds=settings.custom_kinds,
            kinds=session.kinds,
            notifier=notifier,
        )
        session.load(created=manifests)
        manifests = session.names.manifests(manifests)
    if notifier.verbose:
        objects, policies_read = counts.of(len(manifests.objects), "object"), counts.of(len(rules.policies), "policy")
        notifier.say(f"checking {objects} by {policies_read}")
    digests = session.inputs_with(manifests.digests, settings.digests)
    digests += [*policy_inputs(rules, options.baseline), *_group_inputs(options.group_files)]
    return CheckInputs(rules, manifests, digests, _group_notes(session, options.group_files, scale_up=scale_up))


def _group_inputs(known: GroupFiles) -> Iterator[Input]:
    if known.catalogue:
        yield Input(source=known.catalogue.source, digest=known.catalogue.digest, role="InstanceTypes")
    if known.written is not None:
        yield Input(source=known.written.source, digest=known.written.digest, role="NodeGroups")


def _group_notes(session: Session, known: GroupFiles, *, scale_up: bool) -> Sequence[str]:
    """Return what is odd about the groups of nodes, where a check counts with new ones.

    Raises:
        InputError: a group is described by a node or type that is not there.
    """
    if scale_up:
        return known.groups(session.cluster).notes
    return ["no check has `after: scaleUp`, so that no new node counts"] if known != NO_FILES else []


def check(session: Session, inputs: CheckInputs, options: CheckOptions) -> CheckReport:
    """Return the report about manifests on a state; the state is as before.

    Args:
        session: with the state loaded.
        inputs: what must hold, and of what.
        options: how.

    Raises:
        ConfigError: a policy that demands it matches nothing.
        InputError: there is no pod or workload in the manifests, or no check is about any of them.
        UsageError: no check has one of the tags.
    """
    manifests = refuse_machine_objects(inputs.manifests)
    selection = select_by_tags(inputs.rules.policies, options.tags)
    policies = selection.policies
    unclear = manifests.problems or manifests.unmodelled
    if not (options.allow_empty or unclear or any(_can_be_judged(one.object) for one in manifests.objects)):
        message = "nothing to check: no pod, workload or ResourceQuota in the manifests"
        raise InputError([Problem(message, hint=_ALLOW_EMPTY)])
    today = datetime.fromtimestamp(options.now, UTC).date()
    conditions = Conditions(
        metadata=Metadata(
            configuration=session.choice.origin,
            state_taken=session.state.taken,
            inputs=list(inputs.digests),
            **session.version_fields,
        ),
        fail_on=options.fail_on,
        on_inconclusive=options.on_inconclusive,
        strategy=options.strategy,
        disabled=options.disabled,
        profile=session.choice.profile,
        now=lambda: options.now,
        observe=options.observe,
        choose=runs.chooser(options.seed),
        group_files=options.group_files,
    )
    scheduler = session.scheduler()
    acceptances = Acceptances(
        today, policies, inline=options.inline, baseline=options.baseline, left_out=selection.left_out
    )
    with session.notifier.progress("checking") as progress, log_assumptions(scheduler.cluster) as assumptions:
        report = evaluate(
            policies,
            scheduler,
            manifests,
            conditions=conditions,
            accepting=acceptances,
            advance=progress.advance,
            processes=1 if session.notifier.verbose else options.processes,  # calls are counted in one process
        )
    if not (report.results or options.allow_empty):
        names = ", ".join(policy.name for policy in policies)
        message = f"nothing was checked: no check of {names} applies to the manifests"
        raise InputError(
            [Problem(message, hint=f"`match` and `matchConditions` select what is checked; {_ALLOW_EMPTY}")]
        )
    if options.inline:
        ignores = acceptances.annotation_notes(one.object for one in manifests.objects)
        report = msgspec.structs.replace(report, notes=[*report.notes, *ignores])
    report = _with_manifest_edits(report, manifests)
    report = msgspec.structs.replace(report, notes=[*report.notes, *inputs.notes, *_notes_of(inputs.warnings)])
    if selection.note:
        report = msgspec.structs.replace(report, notes=[*report.notes, selection.note])
    assumptions.admission(session.state.assembled.unknown)
    report = _with_assumptions(report, assumptions.describe(), options)
    if options.node_map:
        report = node_maps.add(report, session.cluster)
    return report if options.max_age is None else _with_age(report, options, options.max_age)


def _counts_with_new_nodes(policy: CheckPolicy) -> bool:
    return any(isinstance(each.arguments, Schedulable) and each.arguments.after for each in policy.checks)


def _reject_with_redaction(source: StateSource, options: CheckOptions) -> None:
    """Hold up a check of a redacted state by what names objects in words.

    Raises:
        UsageError: there is such a thing.
    """
    if source.redaction is None:
        return
    if options.baseline is not None:
        raise UsageError("--redact strict cannot hide the names in a baseline", "check without it")
    if options.inline:
        raise UsageError("--redact strict does not keep annotations that accept violations", "add --no-inline-ignores")


def load_policies(paths: Sequence[str], other_inputs: Sequence[str]) -> reading.Read:
    """Return the policies in files; without any, the one that demands that every pod finds a node.

    Args:
        paths: the files.
        other_inputs: what is read besides, of which standard input can be only one.

    Raises:
        ConfigError: a policy cannot be understood.
        UsageError: standard input is to be read twice.
    """
    if STDIN in paths and STDIN in other_inputs:
        raise UsageError(
            "policies and manifests cannot both be read from standard input", "write one of them to a file"
        )
    return reading.load(paths) if paths else reading.Read([BUILT_IN_POLICY])


def policy_inputs(rules: reading.Read, baseline: Baseline | None) -> list[Input]:
    """Return the digests of the policies and the baseline."""
    inputs = [Input(source=name, digest=digest, role="Policy") for name, digest in rules.digests.items()]
    if baseline is not None:
        inputs.append(Input(source=baseline.source, digest=baseline.digest, role="Baseline"))
    return inputs


def to_baseline(report: CheckReport, file: str) -> tuple[CheckReport, CheckBaseline | None]:
    """Return the baseline that accepts what is violated, None if something is inconclusive, and the report about it."""
    # What is inconclusive may be violated, and nobody has seen it.
    unclear = sum(result.outcome is CheckOutcome.INCONCLUSIVE for result in report.results)
    if unclear:
        note = f"nothing is written to {file}: {counts.of(unclear, 'result')} inconclusive, which may be violations"
        return refuse(report, note), None
    document = baselines.baseline_of(report.results)
    number = counts.of(len(document.entries), "violation")
    accepted = "is" if len(document.entries) == 1 else "are"
    return accept(report, f"{number} written to {file}, which from now on {accepted} accepted"), document


def accept(report: CheckReport, note: str) -> CheckReport:
    """Return a report that ends well, since a baseline was made of what it found, and says so.

    Objects that took no part are in no baseline, and fail the run still.
    """
    refused = any(result.refused for result in report.results)
    summary = msgspec.structs.replace(report.summary, exit_code=report.summary.exit_code if refused else 0)
    return msgspec.structs.replace(report, summary=summary, notes=[*report.notes, note])


def refuse(report: CheckReport, note: str) -> CheckReport:
    """Return a report that ends as inconclusive whatever is said of that, since no baseline was made, and says why."""
    summary = msgspec.structs.replace(report.summary, exit_code=exit_codes.INCONCLUSIVE)
    return msgspec.structs.replace(report, summary=summary, notes=[*report.notes, note])


def parse_word(flag: str, text: str, words: Sequence[_Choice]) -> _Choice:
    """Return the one of a few words that an option was given.

    Raises:
        UsageError: it is none of them.
    """
    for word in words:
        if word == text:
            return word
    close = nearest(text, words)
    raise UsageError(
        f'invalid {flag} "{text}"', f"did you mean {close}?" if close else f"{flag} takes {', '.join(words)}"
    )


def parse_max_age(text: str) -> Duration | None:
    """Return what ``--max-age`` stands for, None for "".

    Raises:
        UsageError: it is no time.
    """
    try:
        age = Duration.parse(text) if text else None
    except ValueError:
        age = Duration(-1)  # refused below, as 0 and negative times are
    if age is not None and age <= 0:
        raise UsageError(f'invalid --max-age "{text}": expected a positive duration', "e.g. --max-age 24h")
    return age


def _notes_of(warnings: Sequence[Problem]) -> Iterator[str]:
    for problem in warnings[:_MOST_WARNINGS]:
        yield f"{problem}; {problem.hint}" if problem.hint else str(problem)
    if (left := len(warnings) - _MOST_WARNINGS) > 0:
        yield f"{counts.of(left, 'more warning')} about policies and manifests"


def _with_assumptions(report: CheckReport, guesses: Sequence[ReportedAssumption], options: CheckOptions) -> CheckReport:
    """Return a report without verdicts where the run rests on what is not known: one guess may decide them all.

    Each result that loses its verdict says why; where none does, a note says it.
    """
    if not guesses:
        return report
    texts = [guess.text for guess in guesses]
    results = without_verdicts(report.results, texts)
    return msgspec.structs.replace(
        report,
        results=results,
        notes=report.notes if results != report.results else [*report.notes, *texts],
        summary=summarize(results, options.fail_on, options.on_inconclusive, report.not_judged),
    )


def _with_manifest_edits(report: CheckReport, manifests: Manifests) -> CheckReport:
    """Return a report whose fixes change the manifests instead of the objects that they would make."""
    sources = manifest_edits.workloads_in(manifests.objects)
    results = [
        msgspec.structs.replace(each, fixes=[manifest_edits.edit_manifests(fix, sources) for fix in each.fixes])
        for each in report.results
    ]
    return msgspec.structs.replace(report, results=results)


def _with_age(report: CheckReport, options: CheckOptions, most: Duration) -> CheckReport:
    """Return a report with what the age of the state says about it: a stale one proves nothing."""
    taken = report.metadata.state_taken
    outcome, message = CheckOutcome.PASSED, f"the state is no older than {most}"
    if not taken:
        outcome, message = CheckOutcome.INCONCLUSIVE, "the age of the state is unknown"
    elif is_to_come((age := int(options.now * _SECOND) - unix_nanoseconds(taken)) / _SECOND):
        outcome, message = (
            CheckOutcome.INCONCLUSIVE,
            f"the state is dated in the future (taken {taken}); compare the clocks",
        )
    elif age > most:
        shown = Duration(age - age % _SECOND)
        outcome, message = (
            CheckOutcome.INCONCLUSIVE,
            f"the state is {shown} old (taken {taken}), at most {most} allowed",
        )
    hint = "take a new one with `schedctl snapshot create`"
    result = CheckResult(
        policy=_COMMAND_LINE,
        check=_MAX_AGE,
        severity=Severity.ERROR,
        outcome=outcome,
        subject="the run",
        message=message,
        hints=[hint] if outcome is CheckOutcome.INCONCLUSIVE else [],
        fingerprint=fingerprint(
            policy=_COMMAND_LINE, check=_MAX_AGE, scenario="baseline", group="", kind="", namespace="", name=""
        ),
    )
    rule = CheckRule(name=_MAX_AGE, severity=Severity.ERROR, description=f"the state is no older than {most}")
    results = [*report.results, result]
    return msgspec.structs.replace(
        report,
        results=results,
        policies=[*report.policies, PolicyRules(name=_COMMAND_LINE, checks=[rule])],
        summary=summarize(results, options.fail_on, options.on_inconclusive, report.not_judged),
    )


def _can_be_judged(obj: object) -> bool:
    return isinstance(obj, (*NAMES, CustomWorkload, ResourceQuota))
