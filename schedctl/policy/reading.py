"""From files to policies, or to every problem that they have.

Decoding is `schedctl.documents.decoding`'s: unknown fields with the name that was meant, values of the wrong type,
each at its line and column. What follows is what types cannot say: that names are known and used once, that the
arguments of a built-in make sense together, that a scenario's changes can be made, and that expressions compile.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from schedctl.api.field_errors import label_key_problems
from schedctl.api.meta import LabelSelector
from schedctl.api.selectors import EVERYTHING, LabelQuery, SelectorError, compile_selector
from schedctl.api.short_names import NAMES
from schedctl.config.loading import conversion_hint
from schedctl.documents import scalar_positions
from schedctl.documents.decoding import describe
from schedctl.documents.heads import HEAD, open_document, place
from schedctl.documents.spelling import did_you_mean, nearest
from schedctl.documents.texts import Document, Text, split
from schedctl.documents.trees import Node
from schedctl.errors import ConfigError, InputError, Problem, UsageError
from schedctl.policy import forms
from schedctl.policy.arguments import argument_mistakes
from schedctl.policy.documents import (
    API_VERSION,
    BASELINE,
    BUILTINS,
    KIND,
    NUMBERS_AS_TEXT,
    VALUE,
    Arguments,
    Check,
    CheckPolicy,
    Condition,
    Exemption,
    Expression,
    Match,
    Scenario,
    Scope,
    Validation,
    Variable,
    substitute_value,
)
from schedctl.reports.checks import Location, Severity
from schedctl.simulation.what_if_syntax import WORDS, camel, from_mappings
from schedctl.sources import files

TEST_KIND: Final = "CheckPolicyTest"
_GROUP: Final = API_VERSION.partition("/")[0]
_OURS: Final = re.compile(rf"{re.escape(_GROUP)}|{KIND}|\\[uUx]|!!binary", re.IGNORECASE)
"""What a document has somewhere that may be schedctl's; the last two can spell anything."""
_HEAD_OF_OURS: Final = re.compile(
    rf"""apiVersion["']?\s*:\s*["']?{re.escape(_GROUP)}/|kind["']?\s*:\s*["']?{KIND}""", re.IGNORECASE
)
_OTHERS: Final = (
    *("Config", "CheckBaseline", "Snapshot", "SnapshotDiff", "WatchLine", "PluginList", "ProfileList"),
    *("CheckReport", "CheckPolicyTestReport", "ExplainReport", "BindReport", "CalibrationReport", "CapacityReport"),
    *("DrainReport", "SimulationReport", "SnapshotReport"),
)
"""Kinds of schedctl's that may stand beside policies."""
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,54}[a-z0-9])?")
_POLICY_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_COUNTED: Final = re.compile(r"[×x][0-9]{1,5}\Z")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_NAME_HINT: Final = "lower-case letters, digits, '-' and '.', at most 56 of them, so that annotations can carry it"
_SELECTED_KINDS: Final = tuple(kind.__name__ for kind in NAMES)


# -- files -------------------------------------------------------------------------


@dataclass(slots=True)
class Read:
    """What files hold.

    Attributes:
        policies: in the order given.
        digests: ``sha256:...`` of each file, by its name.
        warnings: what was left out of folders.
    """

    policies: list[CheckPolicy] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)


def load(paths: Sequence[str]) -> Read:
    """Return the policies in files, folders, globs and (``-``) standard input.

    Documents of other people's kinds are passed over in folders, and so are schedctl's own that stand beside policies;
    what was meant for a policy and is written wrong never is. In a file that was named everything but a policy is a
    mistake, other than the tests of policies.

    Raises:
        ConfigError: something cannot be read or understood, or there is no policy; with every problem.
        UsageError: a policy has expressions, and there is no engine for them.
    """
    read = Read()
    problems: list[Problem] = []
    found = files.find(paths, recursive=True, stdin_filename="<stdin>", problems=problems, warnings=read.warnings)
    named = {os.path.normpath(path) for path in paths}
    for source in found:
        try:
            data = source.read(getattr(sys.stdin, "buffer", None))
        except files.Unreadable as error:
            problems.append(error.problem)
            continue
        alone = source.path is None or os.path.normpath(source.path) in named
        policies, wrong = policies_in(data, source.name, others=not alone)
        read.policies += policies
        problems += wrong
        if policies:
            read.digests[source.name] = _digest(data)
    problems += _duplicate_names(read.policies)
    if not (problems or read.policies):
        problems.append(Problem(f"there is no {KIND} in {', '.join(paths)}", hint="`schedctl schema CheckPolicy`"))
    if problems:
        raise ConfigError(problems)
    return read


def policies_in(data: bytes, source: str, *, others: bool = False) -> tuple[list[CheckPolicy], list[Problem]]:
    """Return the policies in a text, and everything that is wrong with them.

    Args:
        data: YAML or JSON, UTF-8.
        source: the file as the user knows it.
        others: whether documents of other kinds are fine.
    """
    policies: list[CheckPolicy] = []
    problems: list[Problem] = []
    for text in documents(data, source, problems):
        kind, wrong = kind_in(text, source)
        problems += wrong
        if wrong or kind == TEST_KIND or (others and kind != KIND):
            continue
        try:
            reader = _Reader(text, source)
            policy = reader.policy()
        except ConfigError as error:
            problems += error.problems
            continue
        problems += reader.problems
        if not reader.problems:
            policies.append(policy)
    return policies, problems


def documents(data: bytes, source: str, problems: list[Problem]) -> Iterator[str]:
    """Yield the documents of a text, each with as many empty lines before it as it has lines before it."""
    for part in split(Text(source, data)):
        if isinstance(part, Document):
            try:
                text = data[part.start : part.end].decode()
            except UnicodeDecodeError:
                problems.append(Problem("is not UTF-8 text", source, part.place.line, 1))
                continue
            if any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n")):
                yield "\n" * (part.place.line - 1) + text
        else:
            hint = "put the document on the line below"
            problems.append(Problem('expected nothing after "---"', source, *part, hint=hint))


def kind_in(text: str, source: str) -> tuple[str, list[Problem]]:
    """Return which kind of schedctl's a document is of, "" for somebody else's, and what is wrong with saying so.

    The head is decoded, however it is written: what looks like a policy to whoever wrote it must never be passed over.
    Text that is neither YAML nor JSON, such as a template, is somebody else's unless it names our version or kinds.
    """
    if not _OURS.search(text):
        return "", []
    try:
        node, _ = open_document(text, source, KIND, API_VERSION, conversion_hint)
    except ConfigError as error:
        names_us = _HEAD_OF_OURS.search(text)
        return "", list(error.problems) if names_us else []
    if not node.is_mapping:
        return "", []
    if any(_is_ours(item) for item in _items(node)):
        hint = f"write each {KIND} as a document of its own, after a line `---`"
        return "", [Problem("what is in a list is not read", source, node.line, node.column, "items", hint=hint)]
    if not _is_ours(node):
        return "", []
    written = [value for key, value in node.value if key.value == "kind"]
    kind = written[-1].value if written else None
    if kind in (KIND, TEST_KIND):
        return str(kind), []
    if kind in _OTHERS:
        return "", []
    at = written[-1] if written else node
    hint = did_you_mean(str(kind or ""), (KIND, TEST_KIND), f"there are {KIND}, {TEST_KIND}, {', '.join(_OTHERS)}")
    message = f"{API_VERSION} has no kind {describe(at)}" if written else "Object 'Kind' is missing"
    return "", [Problem(message, source, at.line, at.column, "kind", hint=hint)]


def _is_ours(node: Node) -> bool:
    """Return whether the head of a document says, or misspells, that it is schedctl's."""
    heads = {key.value: str(value.value).strip().lower() for key, value in node.value} if node.is_mapping else {}
    of_group = f"{heads.get('apiVersion', '')}/".startswith(f"{_GROUP}/")
    return of_group or heads.get("kind", "") in (KIND.lower(), TEST_KIND.lower())


def _items(node: Node) -> Iterator[Node]:
    for key, value in node.value:
        if key.value == "items" and value.is_list:
            yield from value.value


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _duplicate_names(policies: Iterable[CheckPolicy]) -> Iterator[Problem]:
    seen: dict[str, CheckPolicy] = {}
    for policy in policies:
        if first := seen.get(policy.name):
            at = policy.location
            message = f'there is another policy "{policy.name}", in {first.source}:{first.location.line}'
            yield Problem(message, at.file, at.line, at.column, at.path, hint="results are known by the policy's name")
        seen.setdefault(policy.name, policy)


# -- one document ------------------------------------------------------------------


class _Reader:
    """Reads one document.

    Attributes:
        problems: what is wrong with it, in the order of the file.
    """

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._lines = [f"{line}\n" for line in text.split("\n")]
        self._node, self._decoder = open_document(text, source, KIND, API_VERSION, conversion_hint)
        self._problems: list[Problem] = self._decoder.problems
        self._unscoped: list[str] = []  # the checks in whose scope nothing can be compiled

    @property
    def problems(self) -> list[Problem]:
        problems = dict.fromkeys(replace(problem, source=self._source) for problem in self._problems)
        return sorted(problems, key=lambda problem: (problem.line, problem.column))

    def policy(self) -> CheckPolicy:
        """Return the policy; it is of use only if `problems` is empty then."""
        if self._problems:
            return CheckPolicy("", ())
        written = self._decoder.struct(self._node, forms.Policy, also=HEAD)
        spec = written.spec
        name = written.metadata.name
        if not name:
            self._wrong("metadata.name", "a policy needs a name")
        elif not _POLICY_NAME.fullmatch(name):
            hint = "lower-case letters, digits, '-' and '.', as names in Kubernetes"
            self._wrong("metadata.name", f"{json.dumps(name)} is no name of a policy", hint)
        if not spec.checks and "spec.checks" not in self._decoder.spoilt:
            self._wrong("spec.checks", "there are no checks", "a policy has at least one check")
        scenarios = tuple(
            self._scenario(one, f"spec.scenarios[{index}]", _before(spec.scenarios, index))
            for index, one in enumerate(spec.scenarios)
        )
        variables = tuple(self._variables(spec.variables))
        known = (BASELINE, *(one.name for one in scenarios))
        checks = tuple(
            self._check(one, f"spec.checks[{index}]", _before(spec.checks, index), known)
            for index, one in enumerate(spec.checks)
        )
        policy = CheckPolicy(
            name=name,
            checks=checks,
            source=self._source,
            match=self._match(spec.match),
            require_match=spec.require_match,
            scenarios=scenarios,
            variables=variables,
            exemptions=tuple(
                self._exemption(one, f"spec.exemptions[{index}]", [check.name for check in checks])
                for index, one in enumerate(spec.exemptions)
            ),
            params=self._params(spec.params),
            location=self._location("metadata.name"),
        )
        self._problems += (
            problem
            for problem in _compile_expressions(policy)
            if problem.path not in self._decoder.spoilt and not problem.path.startswith(tuple(self._unscoped))
        )
        return policy

    # -- places --------------------------------------------------------------------

    def _wrong(self, path: str, message: str, hint: str = "") -> None:
        if path not in self._decoder.spoilt:
            self._problems.append(place(Problem(message, path=path, hint=hint), self._decoder.places))

    def _location(self, path: str) -> Location:
        at = place(Problem("", path=path), self._decoder.places)
        return Location(file=self._source, line=at.line, column=at.column, path=path)

    def _expression(self, text: str, path: str) -> Expression:
        location = self._location(path)
        return Expression(text, location, scalar_positions.stretches(self._lines, location.line, location.column, text))

    # -- parts ---------------------------------------------------------------------

    def _check_name(self, name: str, path: str, before: Iterable[str], what: str) -> None:
        """Report a name that is missing, cannot be one, or was used before."""
        if not name:
            self._wrong(f"{path}.name", f"a {what} needs a name")
        elif not _NAME.fullmatch(name):
            self._wrong(f"{path}.name", f'"{name}" is no name of a {what}', _NAME_HINT)
        elif name in before:
            self._wrong(f"{path}.name", f'there is another {what} "{name}" above')

    def _variables(self, written: Sequence[forms.Named]) -> Iterator[Variable]:
        for index, one in enumerate(written):
            path = f"spec.variables[{index}]"
            if not _IDENTIFIER.fullmatch(one.name):
                self._wrong(f"{path}.name", f'"{one.name}" is no name of a variable', "letters, digits and _")
            elif one.name in _before(written, index):
                self._wrong(f"{path}.name", f'there is another variable "{one.name}" above')
            else:
                yield Variable(one.name, self._expression(one.expression, f"{path}.expression"))

    def _selector(self, selector: LabelSelector | None, path: str) -> LabelQuery:
        if selector is None:
            return EVERYTHING
        try:
            return compile_selector(selector)
        except SelectorError as error:
            for problem in error.problems:
                self._wrong(f"{path}.labelSelector", problem)
            return EVERYTHING

    def _kind(self, name: str, path: str, *, more: tuple[str, ...] = ()) -> None:
        """Report a kind that differs from one of Kubernetes by its spelling; kinds of others are taken as they are."""
        kinds = (*_SELECTED_KINDS, *more)
        if name not in kinds:
            close = nearest(name, kinds)
            if close and (close.lower() == name.lower() or abs(len(close) - len(name)) <= 2):
                self._wrong(path, f'there is no kind "{name}"', f'did you mean "{close}"?')

    def _match(self, written: forms.Match | None) -> Match:
        if written is None:
            return Match()
        for index, kind in enumerate(written.kinds):
            self._kind(kind, f"spec.match.kinds[{index}]")
        labels = self._selector(written.label_selector, "spec.match")
        return Match(written.namespaces, written.kinds, written.names, labels)

    def _exemption(self, written: forms.Exemption, path: str, checks: Sequence[str]) -> Exemption:
        for index, name in enumerate(written.checks):
            if name not in checks:
                self._unknown(f"{path}.checks[{index}]", "check", name, checks)
        if not written.checks:
            self._wrong(f"{path}.checks", "an exemption names the checks that it is of")
        if not written.reason.strip():
            self._wrong(f"{path}.reason", "an exemption needs a reason")
        expires = None
        if written.expires:
            try:
                expires = date.fromisoformat(written.expires if _DATE.fullmatch(written.expires) else "")
            except ValueError:
                self._wrong(f"{path}.expires", f'"{written.expires}" is no date', "as in 2027-03-31")
        match = written.match or forms.ExemptionMatch()
        if match.kind:
            self._kind(match.kind, f"{path}.match.kind", more=("Node",))
        return Exemption(
            written.checks,
            Match(
                (match.namespace,) if match.namespace else (),
                (match.kind,) if match.kind else (),
                (match.name,) if match.name else (),
                self._selector(match.label_selector, f"{path}.match"),
            ),
            written.reason,
            expires,
            self._location(path),
        )

    def _params(self, written: Any) -> Mapping[str, Any]:
        if written is None:
            return {}
        if not written.is_mapping:
            self._wrong("spec.params", f"expected a mapping, got {describe(written)}")
            return {}
        return dict(self._decoder.free(written, "spec.params"))

    def _unknown(self, path: str, what: str, name: str, names: Iterable[str]) -> None:
        known = [each for each in names if each]
        self._wrong(path, f'there is no {what} "{name}"', did_you_mean(name, known))

    # -- scenarios -----------------------------------------------------------------

    def _scenario(self, written: forms.Scenario, path: str, before: Sequence[str]) -> Scenario:
        self._check_name(written.name, path, before, "scenario")
        if written.name == BASELINE:
            self._wrong(f"{path}.name", f'"{BASELINE}" is the scenario in which nothing changes', "choose another name")
        key = ""
        if written.for_each is not None:
            key = written.for_each.topology_key
            if not key:
                self._wrong(f"{path}.forEach", "forEach needs a topologyKey", "as in topology.kubernetes.io/zone")
            elif wrong := label_key_problems(key):
                self._wrong(f"{path}.forEach.topologyKey", f'"{key}" is no label: {"; ".join(wrong)}')
        changes = [*self._removals(written.remove, path), *self._changes(written.changes, f"{path}.changes")]
        if written.remove is None and (written.changes is None or not written.changes.value):
            hint = f"changes: is a list of {', '.join(map(camel, WORDS))}"
            self._wrong(path, "the scenario changes nothing", hint)
        mentioned = VALUE in str(changes)
        if key and changes and not mentioned:
            hint = f"all cases would be the same; as in `lose: {{{key}: {VALUE}}}`"
            self._wrong(f"{path}.changes", f"{VALUE} is in none of the changes", hint)
        if mentioned and not key:
            self._wrong(f"{path}.changes", f"{VALUE} stands for nothing", "add forEach: {topologyKey: ...}")
        return Scenario(written.name, key, tuple(changes), self._location(f"{path}.name"))

    def _removals(self, written: forms.Removed | None, path: str) -> Iterator[Mapping[str, Any]]:
        if written is None:
            return
        if not written.node_selector:
            hint = "as in remove: {nodeSelector: {topology.kubernetes.io/zone: eu-1a}}"
            self._wrong(f"{path}.remove", "remove needs a nodeSelector", hint)
        else:
            yield {"remove": {"nodeSelector": written.node_selector}}

    def _changes(self, written: Any, path: str) -> Iterator[Mapping[str, Any]]:
        """Yield the changes of a list, after trying each."""
        if written is None:
            return
        if not written.is_list:
            self._wrong(path, f"expected a list, got {describe(written)}", "as in `- cordon: node-1`")
            self._decoder.spoilt.add(path)
            return
        for index, node in enumerate(written.value):
            where = f"{path}[{index}]"
            self._decoder.see(node, where)
            try:
                change = _beside(_texts_in(self._decoder.free(node, where)), self._source)
            except UsageError as error:
                self._wrong(where, str(error), error.hint)
                continue
            try:
                from_mappings([substitute_value(change, "x")] if isinstance(change, Mapping) else [change])
            except UsageError as error:
                self._wrong(where, str(error).replace("--", ""), error.hint.replace("--", ""))
            except InputError as error:
                # What the file holds is not repeated: whoever wrote the policy may have named a file of secrets.
                for file, line in dict.fromkeys((problem.source, problem.line) for problem in error.problems):
                    place = f"{file}:{line}" if line else file
                    self._wrong(
                        where, f"{place} cannot be read as nodes", "addNode takes a file of objects of kind Node"
                    )
            else:
                yield change

    # -- checks --------------------------------------------------------------------

    def _check(self, written: forms.Check, path: str, before: Sequence[str], scenarios: Sequence[str]) -> Check:
        self._check_name(written.name, path, before, "check")
        severities = [each.value for each in Severity]
        severity = Severity.ERROR
        if written.severity in severities:
            severity = Severity(written.severity)
        else:
            self._unknown(f"{path}.severity", "severity", written.severity, severities)
        for index, name in enumerate(written.scenarios):
            if name not in scenarios:
                self._unknown(f"{path}.scenarios[{index}]", "scenario", name, scenarios)
            elif name in written.scenarios[:index]:
                self._wrong(f"{path}.scenarios[{index}]", f'"{name}" is there twice', "leave one out")
        if written.builtin == "survives" and written.scenarios:
            hint = "survives is judged in the one of with: {scenario: ...}"
            self._wrong(f"{path}.scenarios", "survives takes no `scenarios`", hint)
        arguments = self._arguments(written, path, scenarios)
        if not written.builtin and not written.validations:
            hint = f"add `builtin:` ({', '.join(BUILTINS)}) or `validations:`"
            if f"{path}.validations" not in self._decoder.spoilt:
                self._wrong(path, "the check checks nothing", hint)
        elif written.builtin and written.validations:
            self._wrong(f"{path}.builtin", "a check is built in or has validations", "make two checks of it")
        return Check(
            name=written.name,
            severity=severity,
            scope=self._scope(written, path),
            builtin=written.builtin,
            arguments=arguments,
            scenarios=written.scenarios or (BASELINE,),
            conditions=tuple(
                Condition(one.name, self._expression(one.expression, f"{path}.matchConditions[{index}].expression"))
                for index, one in enumerate(written.match_conditions)
            ),
            validations=tuple(
                self._validation(one, f"{path}.validations[{index}]") for index, one in enumerate(written.validations)
            ),
            description=written.description,
            location=self._location(f"{path}.name"),
        )

    def _validation(self, written: forms.Validation, path: str) -> Validation:
        made = None
        if written.message_expression:
            made = self._expression(written.message_expression, f"{path}.messageExpression")
        return Validation(self._expression(written.expression, f"{path}.expression"), written.message, made)

    def _scope(self, written: forms.Check, path: str) -> Scope:
        """Return the scope of a check: of a built-in its own, which may be written."""
        of_builtin = BUILTINS[written.builtin].scope if written.builtin in BUILTINS else None
        if not written.scope:
            if of_builtin is None and written.validations:
                scopes = ", ".join(scope.value for scope in Scope)
                self._wrong(f"{path}.scope", "a check with validations needs a scope", f"there are {scopes}")
                self._unscoped.append(f"{path}.")
            return of_builtin or Scope.RUN
        if written.scope not in [scope.value for scope in Scope]:
            self._unknown(f"{path}.scope", "scope", written.scope, [scope.value for scope in Scope])
            self._unscoped.append(f"{path}.")
            return of_builtin or Scope.RUN
        scope = Scope(written.scope)
        if of_builtin is not None and scope is not of_builtin:
            hint = f"write scope: {of_builtin.value}, or leave it out"
            self._wrong(f"{path}.scope", f"{written.builtin} is judged for each {of_builtin.value}", hint)
        return of_builtin or scope

    def _arguments(self, written: forms.Check, path: str, scenarios: Sequence[str]) -> Arguments | None:
        node = written.arguments
        if not written.builtin:
            if node is not None:
                self._wrong(f"{path}.with", "`with` goes with `builtin`", f"there are {', '.join(BUILTINS)}")
            return None
        if written.builtin not in BUILTINS:
            self._unknown(f"{path}.builtin", "built-in check", written.builtin, BUILTINS)
            return None
        kind = BUILTINS[written.builtin].arguments
        before = len(self._problems)
        where = f"{path}.with"
        arguments = self._decoder.struct(_as_texts(node or Node(None, 0, 0)), kind, where)
        if len(self._problems) == before:
            for name, message, hint in argument_mistakes(arguments, scenarios):
                self._wrong(f"{where}.{name}" if name else where, message, hint)
        return arguments


# -- small things --------------------------------------------------------------------


def _compile_expressions(policy: CheckPolicy) -> list[Problem]:
    if not policy.variables and not any(True for check in policy.checks for _ in check.expressions):
        return []
    # Loads the CEL engine, which policies of built-in checks alone do without.
    from schedctl.policy.compilation import compile_policy

    return compile_policy(policy)


def _as_texts(node: Node) -> Node:
    """Return the arguments of a built-in with numbers as text where either may be written."""
    if not node.is_mapping:
        return node
    pairs = [
        (key, replace(value, value=str(value.value)) if key.value in NUMBERS_AS_TEXT and _is_number(value) else value)
        for key, value in node.value
    ]
    return replace(node, value=pairs)


def _is_number(node: Node) -> bool:
    return isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _texts_in(value: Any) -> Any:
    """Return plain data with numbers as the text that what-ifs are made of."""
    if isinstance(value, Mapping):
        return {key: _texts_in(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_texts_in(each) for each in value]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _beside(change: Any, source: str) -> Any:
    """Return a change whose files of nodes are looked for beside the policy.

    Raises:
        UsageError: one is outside of what the policy may read.
    """
    if not isinstance(change, Mapping):
        return change

    def confine(text: Any) -> Any:
        if not isinstance(text, str) or text.startswith("like:"):
            return text
        return _confine(text, Path(source).parent)

    return {word: _each(value, confine) if camel(word) == "addNode" else value for word, value in change.items()}


def _confine(text: str, folder: Path) -> str:
    """Return a path that stays in the repository of a policy, or in its folder where it is in none.

    Raises:
        UsageError: it leads out, or into what git keeps there; links are followed.
    """
    hint = "a policy may only name files below its repository, relative to its own folder"
    try:
        here = folder.resolve()
        root = next((each for each in (here, *here.parents) if (each / ".git").exists()), here)
        counted = _COUNTED.sub("", text)  # `nodes.yaml×3` is a file, or another one three times
        reached = [(here / name).resolve() for name in (text, counted)]
        inside = all(each.is_relative_to(root) and ".git" not in each.relative_to(root).parts for each in reached)
        if inside and not Path(text).is_absolute() and VALUE not in text:
            return str(folder / text)
    except (OSError, ValueError, RuntimeError):
        pass
    raise UsageError(f'addNode: "{text}" leads out of the repository', hint)


def _each(value: Any, call: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {call(key): each for key, each in value.items()}
    return [call(each) for each in value] if isinstance(value, list) else call(value)


def _before(written: Sequence[Any], index: int) -> list[str]:
    return [one.name for one in written[:index]]
