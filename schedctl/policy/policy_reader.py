"""One document of a policy: from its tree to a `CheckPolicy`, or to every problem that it has.

`schedctl.documents.decoding` finds unknown fields and values of the wrong type. What follows is what types cannot say:
that names are known and used once, that arguments make sense together, that changes can be made, expressions compile.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import msgspec

from schedctl.api.field_errors import label_key_problems
from schedctl.api.meta import LabelSelector
from schedctl.api.selectors import EVERYTHING, LabelQuery, SelectorError, compile_selector
from schedctl.api.short_names import NAMES
from schedctl.config.loading import conversion_hint
from schedctl.documents import scalar_positions
from schedctl.documents.decoding import describe
from schedctl.documents.heads import HEAD, open_document, place
from schedctl.documents.spelling import did_you_mean, nearest
from schedctl.documents.trees import Node
from schedctl.errors import InputError, Problem, UsageError
from schedctl.policy import documents, forms
from schedctl.policy.arguments import argument_mistakes
from schedctl.policy.confinement import is_inside, root_of
from schedctl.policy.kube_versions import VersionDemand
from schedctl.reports.checks import Location, Severity
from schedctl.simulation.what_if_syntax import WORDS, camel, from_mappings

_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,54}[a-z0-9])?")
_POLICY_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_COUNTED: Final = re.compile(r"[=×x][0-9]{1,5}\Z")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_URL: Final = re.compile(r"https?://[!-~]{1,2000}")
_TAG: Final = re.compile(r"[a-z0-9]([-a-z0-9./]{0,61}[a-z0-9])?")
_MOST_TAGS: Final = 8
_WILDCARDS: Final = frozenset("*?[")
_NAME_HINT: Final = "lower-case letters, digits, '-' and '.', at most 56 of them, because annotations use it"
_SELECTED_KINDS: Final = tuple(kind.__name__ for kind in NAMES)


class PolicyReader:
    """Reads one document."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._lines = [f"{line}\n" for line in text.split("\n")]
        self._node, self._decoder = open_document(text, source, documents.KIND, documents.API_VERSION, conversion_hint)
        self._problems: list[Problem] = self._decoder.problems
        self._unscoped: list[str] = []  # the checks in whose scope nothing can be compiled

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with it, each once, in the order of the file."""
        problems = dict.fromkeys(msgspec.structs.replace(problem, source=self._source) for problem in self._problems)
        return sorted(problems, key=lambda problem: (problem.line, problem.column))

    def policy(self) -> documents.CheckPolicy:
        """Return the policy; it is of use only if `problems` is empty then."""
        # A document whose tree has problems is not decoded: what came of it could only mislead.
        if self._problems:
            return documents.CheckPolicy("", ())
        written = self._decoder.struct(self._node, forms.Policy, also=HEAD)
        spec = written.spec
        name = written.metadata.name
        if not name:
            self._wrong("metadata.name", "metadata.name is required")
        elif not _POLICY_NAME.fullmatch(name):
            hint = "lower-case letters, digits, '-' and '.', like names in Kubernetes"
            self._wrong("metadata.name", f"{json.dumps(name)} is not a policy name", hint)
        if not spec.checks and "spec.checks" not in self._decoder.spoilt:
            self._wrong("spec.checks", "no checks", "a policy needs at least one check")
        scenarios = tuple(
            self._scenario(one, f"spec.scenarios[{index}]", _before(spec.scenarios, index))
            for index, one in enumerate(spec.scenarios)
        )
        variables = tuple(self._variables(spec.variables))
        known = (documents.BASELINE, *(one.name for one in scenarios))
        checks = tuple(
            self._check(one, f"spec.checks[{index}]", _before(spec.checks, index), known)
            for index, one in enumerate(spec.checks)
        )
        policy = documents.CheckPolicy(
            name=name,
            checks=checks,
            source=self._source,
            match=self._match(spec.match),
            require_match=spec.require_match,
            kube_version=self._kube_version(spec.kube_version),
            unmodelled=tuple(self._kinds_of_operators(spec.allow_unmodelled_kinds)),
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
        # A value that could not be decoded has its problem already; what stands there now is a default.
        if path not in self._decoder.spoilt:
            self._problems.append(place(Problem(message, path=path, hint=hint), self._decoder.places))

    def _location(self, path: str) -> Location:
        at = place(Problem("", path=path), self._decoder.places)
        return Location(file=self._source, line=at.line, column=at.column, path=path)

    def _expression(self, text: str, path: str) -> documents.Expression:
        location = self._location(path)
        return documents.Expression(
            text, location, scalar_positions.stretches(self._lines, location.line, location.column, text)
        )

    # -- parts ---------------------------------------------------------------------

    def _check_name(self, name: str, path: str, before: Iterable[str], what: str) -> None:
        """Report a name that is missing, cannot be one, or was used before."""
        if not name:
            self._wrong(f"{path}.name", f"a {what} needs a name")
        elif not _NAME.fullmatch(name):
            self._wrong(f"{path}.name", f'"{name}" is not a {what} name', _NAME_HINT)
        elif name in before:
            self._wrong(f"{path}.name", f'duplicate {what} "{name}": another stands above')

    def _variables(self, written: Sequence[forms.Named]) -> Iterator[documents.Variable]:
        for index, one in enumerate(written):
            path = f"spec.variables[{index}]"
            if not _IDENTIFIER.fullmatch(one.name):
                self._wrong(f"{path}.name", f'"{one.name}" is not a variable name', "letters, digits and _")
            elif one.name in _before(written, index):
                self._wrong(f"{path}.name", f'duplicate variable "{one.name}": another stands above')
            else:
                yield documents.Variable(one.name, self._expression(one.expression, f"{path}.expression"))

    def _kube_version(self, text: str) -> VersionDemand | None:
        try:
            return VersionDemand.parse(text) if text else None
        except ValueError as error:
            self._wrong("spec.kubeVersion", str(error), "e.g. `>=1.35`, `1.36` or `>=1.34 <1.37`")
            return None

    def _selector(self, selector: LabelSelector | None, path: str) -> LabelQuery:
        if selector is None:
            return EVERYTHING
        try:
            return compile_selector(selector)
        except SelectorError as error:
            for problem in error.problems:
                self._wrong(f"{path}.labelSelector", problem)
            return EVERYTHING

    def _kinds_of_operators(self, written: Sequence[str]) -> Iterator[str]:
        for index, kind in enumerate(written):
            if kind != documents.ANY_KIND and "." not in kind:
                self._wrong(
                    f"spec.allowUnmodelledKinds[{index}]",
                    f"expected Kind.group or *, got {json.dumps(kind)}",
                    "e.g. Prometheus.monitoring.coreos.com",
                )
            yield kind

    def _kind(self, name: str, path: str, *, more: tuple[str, ...] = ()) -> None:
        """Report a kind that differs from one of Kubernetes by its spelling; kinds of others are taken as they are."""
        kinds = (*_SELECTED_KINDS, *more)
        if name not in kinds:
            close = nearest(name, kinds)
            if close and (close.lower() == name.lower() or abs(len(close) - len(name)) <= 2):
                self._wrong(path, f'unknown kind "{name}"', f'did you mean "{close}"?')

    def _match(self, written: forms.Match | None) -> documents.Match:
        if written is None:
            return documents.Match()
        for index, kind in enumerate(written.kinds):
            self._kind(kind, f"spec.match.kinds[{index}]")
        labels = self._selector(written.label_selector, "spec.match")
        return documents.Match(written.namespaces, written.kinds, written.names, labels)

    def _exemption(self, written: forms.Exemption, path: str, checks: Sequence[str]) -> documents.Exemption:
        for index, name in enumerate(written.checks):
            if any(fnmatchcase(check, name) for check in checks):
                continue
            if _WILDCARDS & set(name):
                self._wrong(
                    f"{path}.checks[{index}]", f'no check matches "{name}"', f"the checks are {', '.join(checks)}"
                )
            else:
                self._unknown(f"{path}.checks[{index}]", "check", name, checks)
        if not written.checks:
            self._wrong(f"{path}.checks", "an exemption must name the checks it exempts from")
        if not written.reason.strip():
            self._wrong(f"{path}.reason", "an exemption needs a reason")
        expires = None
        if written.expires:
            try:
                expires = date.fromisoformat(written.expires if _DATE.fullmatch(written.expires) else "")
            except ValueError:
                self._wrong(f"{path}.expires", f'"{written.expires}" is not a date', "e.g. 2027-03-31")
        match = written.match or forms.ExemptionMatch()
        if match.kind:
            self._kind(match.kind, f"{path}.match.kind", more=("Node",))
        return documents.Exemption(
            written.checks,
            documents.Match(
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
        self._wrong(path, f'unknown {what} "{name}"', did_you_mean(name, known))

    # -- scenarios -----------------------------------------------------------------

    def _scenario(self, written: forms.Scenario, path: str, before: Sequence[str]) -> documents.Scenario:
        self._check_name(written.name, path, before, "scenario")
        if written.name == documents.BASELINE:
            self._wrong(
                f"{path}.name",
                f'"{documents.BASELINE}" is reserved for the scenario without changes',
                "choose another name",
            )
        key = ""
        if written.for_each is not None:
            key = written.for_each.topology_key
            if not key:
                self._wrong(f"{path}.forEach", "forEach needs a topologyKey", "e.g. topology.kubernetes.io/zone")
            elif wrong := label_key_problems(key):
                self._wrong(f"{path}.forEach.topologyKey", f'"{key}" is not a label key: {"; ".join(wrong)}')
        changes = [*self._removals(written.remove, path), *self._changes(written.changes, f"{path}.changes")]
        if written.remove is None and (written.changes is None or not written.changes.value):
            hint = f"add changes, a list of {', '.join(map(camel, WORDS))}"
            self._wrong(path, "the scenario changes nothing", hint)
        # In keys or values, at any depth.
        mentioned = documents.VALUE in str(changes)
        if key and changes and not mentioned:
            hint = f"all cases would be the same; e.g. `lose: {{{key}: {documents.VALUE}}}`"
            self._wrong(f"{path}.changes", f"{documents.VALUE} is not used in the changes", hint)
        if mentioned and not key:
            self._wrong(f"{path}.changes", f"{documents.VALUE} has no value", "add forEach: {topologyKey: ...}")
        return documents.Scenario(written.name, key, tuple(changes), self._location(f"{path}.name"))

    def _removals(self, written: forms.Removed | None, path: str) -> Iterator[Mapping[str, Any]]:
        if written is None:
            return
        if not written.node_selector:
            hint = "e.g. remove: {nodeSelector: {topology.kubernetes.io/zone: eu-1a}}"
            self._wrong(f"{path}.remove", "remove needs a nodeSelector", hint)
        else:
            yield {"remove": {"nodeSelector": written.node_selector}}

    def _changes(self, written: Any, path: str) -> Iterator[Mapping[str, Any]]:
        """Yield the changes of a list, after trying each."""
        if written is None:
            return
        if not written.is_list:
            self._wrong(path, f"expected a list, got {describe(written)}", "e.g. `- cordon: node-1`")
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
                # Only tried: the changes are made again for each value of the topology key.
                from_mappings([documents.substitute_value(change, "x")] if isinstance(change, Mapping) else [change])
            except UsageError as error:
                # The words are those of the command line's options, which stand here without dashes.
                self._wrong(where, str(error).replace("--", ""), error.hint.replace("--", ""))
            except InputError as error:
                # What the file holds is not repeated: whoever wrote the policy may have named a file of secrets.
                for file, line in dict.fromkeys((problem.source, problem.line) for problem in error.problems):
                    place = f"{file}:{line}" if line else file
                    self._wrong(
                        where, f"{place} cannot be read as nodes", "addNode needs a file with objects of kind Node"
                    )
            else:
                yield change

    # -- checks --------------------------------------------------------------------

    def _check(
        self, written: forms.Check, path: str, before: Sequence[str], scenarios: Sequence[str]
    ) -> documents.Check:
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
                self._wrong(f"{path}.scenarios[{index}]", f'duplicate "{name}"', "remove one")
        if written.builtin == "survives" and written.scenarios:
            hint = "set the scenario under with: {scenario: ...}"
            self._wrong(f"{path}.scenarios", "`scenarios` is not allowed for survives", hint)
        arguments = self._arguments(written, path, scenarios)
        if written.allow_unknown_names and not written.builtin and written.scope != documents.Scope.QUOTA:
            message = "`allowUnknownNames` goes with `builtin` or `scope: quota`"
            self._wrong(f"{path}.allowUnknownNames", message, "leave it out")
        if not 0 <= written.confidence <= 1:
            message = f"{written.confidence:g} is not between 0 and 1"
            self._wrong(f"{path}.confidence", message, "e.g. 0.95: the check holds in 95 % of the draws")
        if not written.builtin and not written.validations:
            hint = f"add `builtin:` ({', '.join(documents.BUILTINS)}) or `validations:`"
            if f"{path}.validations" not in self._decoder.spoilt:
                self._wrong(path, "the check has neither `builtin:` nor `validations:`", hint)
        elif written.builtin and written.validations:
            self._wrong(f"{path}.builtin", "`builtin` and `validations` exclude each other", "split it into two checks")
        self._check_help(written, path)
        return documents.Check(
            name=written.name,
            severity=severity,
            scope=self._scope(written, path),
            builtin=written.builtin,
            arguments=arguments,
            scenarios=written.scenarios or (documents.BASELINE,),
            conditions=tuple(
                documents.Condition(
                    one.name, self._expression(one.expression, f"{path}.matchConditions[{index}].expression")
                )
                for index, one in enumerate(written.match_conditions)
            ),
            validations=tuple(
                self._validation(one, f"{path}.validations[{index}]") for index, one in enumerate(written.validations)
            ),
            description=written.description,
            allow_unknown_names=written.allow_unknown_names,
            confidence=written.confidence,
            remediation=written.remediation,
            url=written.url,
            tags=written.tags,
            location=self._location(f"{path}.name"),
        )

    def _check_help(self, written: forms.Check, path: str) -> None:
        """Report a page that nobody can follow, and tags that reports cannot take."""
        if written.url and not _URL.fullmatch(written.url):
            self._wrong(
                f"{path}.url",
                f"{json.dumps(written.url)} is not an http or https address",
                "e.g. https://wiki.example/zones",
            )
        for index, tag in enumerate(written.tags):
            if not _TAG.fullmatch(tag):
                hint = "lower-case letters, digits, '-', '.' and '/', at most 63 of them"
                self._wrong(f"{path}.tags[{index}]", f"{json.dumps(tag)} is not a tag", hint)
            elif tag in written.tags[:index]:
                self._wrong(f"{path}.tags[{index}]", f'duplicate "{tag}"', "remove one")
        if len(written.tags) > _MOST_TAGS:
            hint = "code scanning takes no more for a rule"
            self._wrong(f"{path}.tags", f"{len(written.tags)} tags, at most {_MOST_TAGS} allowed", hint)

    def _validation(self, written: forms.Validation, path: str) -> documents.Validation:
        made = None
        if written.message_expression:
            made = self._expression(written.message_expression, f"{path}.messageExpression")
        return documents.Validation(self._expression(written.expression, f"{path}.expression"), written.message, made)

    def _scope(self, written: forms.Check, path: str) -> documents.Scope:
        """Return the scope of a check: of a built-in its own, which may be written."""
        of_builtin = documents.BUILTINS[written.builtin].scope if written.builtin in documents.BUILTINS else None
        if not written.scope:
            if of_builtin is None and written.validations:
                scopes = ", ".join(scope.value for scope in documents.Scope)
                self._wrong(f"{path}.scope", "a check with validations needs a scope", f"one of {scopes}")
                self._unscoped.append(f"{path}.")
            return of_builtin or documents.Scope.RUN
        if written.scope not in [scope.value for scope in documents.Scope]:
            self._unknown(f"{path}.scope", "scope", written.scope, [scope.value for scope in documents.Scope])
            self._unscoped.append(f"{path}.")
            return of_builtin or documents.Scope.RUN
        scope = documents.Scope(written.scope)
        if of_builtin is not None and scope is not of_builtin:
            hint = f"write scope: {of_builtin.value}, or remove it"
            self._wrong(f"{path}.scope", f"{written.builtin} is judged for each {of_builtin.value}", hint)
        return of_builtin or scope

    def _arguments(self, written: forms.Check, path: str, scenarios: Sequence[str]) -> documents.Arguments | None:
        node = written.arguments
        if not written.builtin:
            if node is not None:
                self._wrong(f"{path}.with", "`with` needs `builtin`", f"one of {', '.join(documents.BUILTINS)}")
            return None
        if written.builtin not in documents.BUILTINS:
            self._unknown(f"{path}.builtin", "built-in check", written.builtin, documents.BUILTINS)
            return None
        kind = documents.BUILTINS[written.builtin].arguments
        before = len(self._problems)
        where = f"{path}.with"
        arguments = self._decoder.struct(_as_texts(node or Node(None, 0, 0)), kind, where)
        # Arguments of the wrong type are defaults by now, of which nothing should be said.
        if len(self._problems) == before:
            for name, message, hint in argument_mistakes(arguments, scenarios):
                self._wrong(f"{where}.{name}" if name else where, message, hint)
        return arguments


# -- small things --------------------------------------------------------------------


def _compile_expressions(policy: documents.CheckPolicy) -> list[Problem]:
    if not policy.variables and not any(True for check in policy.checks for _ in check.expressions):
        return []
    # Loads the CEL engine, which policies of built-in checks alone do without.
    from schedctl.policy.compilation import compile_policy

    return compile_policy(policy)


def _as_texts(node: Node) -> Node:
    """Return the arguments of a built-in with numbers as text where either may be written."""
    if not node.is_mapping:
        return node
    pairs = [(key, _as_text(value) if key.value in documents.NUMBERS_AS_TEXT else value) for key, value in node.value]
    return replace(node, value=pairs)


def _as_text(node: Node) -> Node:
    """Return a number as text, and a mapping with its numbers as text."""
    if node.is_mapping:
        return replace(node, value=[(key, _as_text(value)) for key, value in node.value])
    return replace(node, value=str(node.value)) if _is_number(node) else node


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
    hint = "a policy can name only files in its repository, relative to its own folder"
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        root = root_of(folder, folder)
        counted = _COUNTED.sub("", text)  # `nodes.yaml=3` is a file, or another one three times
        inside = all(is_inside(folder / name, root) for name in (text, counted))
        if inside and not Path(text).is_absolute() and documents.VALUE not in text:
            return str(folder / text)
    raise UsageError(f'addNode: "{text}" is outside of the repository', hint)


def _each(value: Any, call: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {call(key): each for key, each in value.items()}
    return [call(each) for each in value] if isinstance(value, list) else call(value)


def _before(written: Sequence[Any], index: int) -> list[str]:
    return [one.name for one in written[:index]]
