"""From a file to a `Study`, or to everything that is wrong with it, each with its place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from schedctl.documents.decoding import Decoder
from schedctl.documents.heads import HEAD, open_document, place
from schedctl.documents.spelling import did_you_mean
from schedctl.documents.trees import Node
from schedctl.errors import ConfigError, Problem
from schedctl.studies import forms

API_VERSION, KIND = "schedctl.dev/v1alpha1", "Study"
QUESTIONS = ("pending", "simulate", "drain", "capacity", "check", "run")
_ATTRIBUTES = {"featureGates": "feature_gates"}
_MOST_DRAWS = 1_000_000
_MOST_ARRIVALS = 10_000_000
_MOST_SHARE = 100
"""More of the capacity than that is a slip of the finger: a share of 1 is all of it, not 1 %."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


class ReadStudy(msgspec.Struct, frozen=True):
    """A study that was read.

    Attributes:
        study: the study, its paths as they are found from where the user is.
        source: the file.
        digest: ``sha256:...`` of the file and of what stands for its variables.
        places: line and column of every field, by path.
        arguments: by the name of a plugin, what is written of its arguments.
    """

    study: forms.Study
    source: str
    digest: str
    places: Mapping[str, tuple[int, int]] = msgspec.field(default_factory=dict)
    arguments: Mapping[str, Node] = msgspec.field(default_factory=dict)

    def problem(self, path: str, message: str, hint: str = "") -> Problem:
        """Return what is wrong with a field, with its place in the file."""
        return msgspec.structs.replace(
            place(Problem(message, path=path, hint=hint), dict(self.places)), source=self.source
        )

    @property
    def question(self) -> str:
        """Which of `QUESTIONS` the study has."""
        return next(name for name in QUESTIONS if getattr(self.study.spec, name) is not None)


def read(path: str, variables: Mapping[str, str]) -> ReadStudy:
    """Return the study in a file.

    Args:
        path: the file.
        variables: what stands for ``${NAME}`` in its texts.

    Raises:
        ConfigError: it cannot be read or understood; with every problem.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError([Problem(f"cannot be read: {(error.strerror or str(error)).lower()}", path)]) from None
    node, decoder = open_document(text, path, KIND, API_VERSION)
    if decoder.problems:
        raise ConfigError([msgspec.structs.replace(each, source=path) for each in decoder.problems])
    written = _with_plain_arguments(decoder.struct(node, forms.Study, also=HEAD), decoder)
    problems = [*decoder.problems]
    filled = _Filler(variables, problems, decoder).fill(written)
    faulty = {each.path for each in problems}
    problems += (
        place(problem, decoder.places)
        for problem in (*_unknown_words(filled), *_mistakes(filled, decoder))
        if not (problem.path in faulty or _follows_from(problem.path, decoder))
    )
    if problems:
        ordered = sorted(dict.fromkeys(problems), key=lambda each: (each.line, each.column))
        raise ConfigError([msgspec.structs.replace(each, source=path) for each in ordered])
    digest = hashlib.sha256(text + msgspec.json.encode(sorted(variables.items()))).hexdigest()
    arguments = {key.value: _with_texts(value, variables) for key, value in _pairs_at(node, "spec", "arguments")}
    return ReadStudy(_relative_to(filled, Path(path).parent), path, f"sha256:{digest}", decoder.places, arguments)


def _pairs_at(node: Node, *path: str) -> list[tuple[Node, Node]]:
    """Return the pairs of the mapping at a path of a document, none where there is no such mapping."""
    for name in path:
        node = next((value for key, value in _pairs_at(node) if key.value == name), Node(None, 0, 0))
    return node.value if node.is_mapping else []


def _with_texts(node: Node, variables: Mapping[str, str]) -> Node:
    """Return a copy of what is written in which variables have their values."""
    value = node.value
    if isinstance(value, str):
        value = _VARIABLE.sub(lambda found: variables.get(found.group(1), ""), value)
    elif node.is_mapping:
        value = [(key, _with_texts(each, variables)) for key, each in value]
    elif node.is_list:
        value = [_with_texts(each, variables) for each in value]
    return replace(node, value=value)


def _follows_from(path: str, decoder: Decoder) -> bool:
    """Return whether a mistake at a field may be due to another one, in the field or right below it, that is told."""
    faulty = {*decoder.spoilt, *(problem.path for problem in decoder.problems)}
    return any(path.startswith(each) or each.rpartition(".")[0] == path for each in faulty)


def _with_plain_arguments(study: forms.Study, decoder: Decoder) -> forms.Study:
    """Return a study whose arguments of plugins, which have no schema here, are plain values."""
    plain = {
        plugin: {name: decoder.free(node, f"spec.arguments.{plugin}.{name}") for name, node in values.items()}
        for plugin, values in study.spec.arguments.items()
    }
    return msgspec.structs.replace(study, spec=msgspec.structs.replace(study.spec, arguments=plain))


class _Filler:
    """Puts what stands for variables into all texts of a study."""

    def __init__(self, variables: Mapping[str, str], problems: list[Problem], decoder: Decoder) -> None:
        self._variables, self._problems, self._decoder = variables, problems, decoder

    def fill(self, study: forms.Study) -> forms.Study:
        """Return the study without variables; those that nobody has set are problems."""
        filled: forms.Study = self._filled(study, "")
        return filled

    def _filled(self, value: Any, path: str) -> Any:
        if isinstance(value, msgspec.Struct):
            names = {field.name: field.encode_name for field in msgspec.structs.fields(value)}
            parts = {name: self._filled(getattr(value, name), f"{path}.{at}".lstrip(".")) for name, at in names.items()}
            return msgspec.structs.replace(value, **parts)
        if isinstance(value, str):
            return _VARIABLE.sub(lambda found: self._value(found.group(1), path), value)
        if isinstance(value, dict):
            return {key: self._filled(each, f"{path}.{key}".lstrip(".")) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._filled(each, f"{path}[{index}]") for index, each in enumerate(value))
        return value

    def _value(self, name: str, path: str) -> str:
        if name not in self._variables:
            hint = did_you_mean(name, self._variables) if self._variables else ""
            problem = Problem(f"no value for ${{{name}}}", path=path, hint=hint or f"`--set {name}=VALUE`")
            self._problems.append(place(problem, self._decoder.places))
        return self._variables.get(name, "")


def _unknown_words(form: msgspec.Struct, path: str = "") -> Iterator[Problem]:
    """Yield the fields that take one of a few words and have another, which may be that of a variable."""
    for each in msgspec.structs.fields(form):
        value, at = getattr(form, each.name), f"{path}.{each.encode_name}".lstrip(".")
        if isinstance(value, msgspec.Struct):
            yield from _unknown_words(value, at)
        elif get_origin(each.type) is Literal and value not in get_args(each.type):
            words = [word for word in get_args(each.type) if word]
            yield Problem(f'unknown value "{value}"', path=at, hint=did_you_mean(value, words))


def _mistakes(study: forms.Study, decoder: Decoder) -> Iterator[Problem]:
    """Yield what types cannot say; of a field of the spec that is spoilt nothing is known."""
    spec, spoilt = study.spec, {each.removeprefix("spec.") for each in decoder.spoilt}
    if not study.metadata.name:
        yield Problem("metadata.name is required", path="metadata.name")
    questions = [name for name in QUESTIONS if getattr(spec, name) is not None]
    if len(questions) != 1 and not (spoilt & set(QUESTIONS)):
        found = f"found {' and '.join(questions)}" if questions else "found none"
        yield Problem(
            f"expected one question, {found}",
            path=f"spec.{questions[1]}" if questions else "spec",
            hint=f"one of {', '.join(QUESTIONS)}",
        )
    if not (spec.state or spec.axes.states or (spec.run is not None and spec.run.nodes)):
        yield Problem("no cluster state given", path="spec.state", hint="spec.state names files and folders")
    yield from _mistakes_of_axes(spec)
    for name in ("states", "versions", "featureGates", "configurations", "scale"):
        if f"spec.axes.{name}" in decoder.places and not getattr(spec.axes, _ATTRIBUTES.get(name, name)):
            yield Problem("an axis without values", path=f"spec.axes.{name}", hint="name some, or leave the axis out")
    if spec.simulate is not None and not spec.simulate.manifests:
        yield Problem("no manifests given", path="spec.simulate")
    if spec.check is not None and not spec.check.manifests:
        yield Problem("no manifests given", path="spec.check")
    if spec.capacity is not None and not spec.capacity.like:
        yield Problem("no pod or workload given", path="spec.capacity", hint="e.g. `like: [deploy/web]`")
    if spec.drain is not None and sum(map(bool, (spec.drain.nodes, spec.drain.selector, spec.drain.zone))) != 1:
        yield Problem("expected one of nodes, selector and zone", path="spec.drain")
    if spec.run is not None:
        yield from _mistakes_of_run(spec.run)
        _, at, share = spec.decisive.rpartition("@")
        if at and share not in map(str, spec.run.at):
            message = f'no metric is taken at "{share}" %'
            yield Problem(message, path="spec.decisive", hint=f"spec.run.at has {', '.join(map(str, spec.run.at))}")


def _mistakes_of_axes(spec: forms.StudySpec) -> Iterator[Problem]:
    axes = spec.axes
    if axes.seeds is not None and axes.seeds.count < 1:
        yield Problem("no seeds: count is the number of them", path="spec.axes.seeds")
    for name, drawn in (("lose", axes.lose), ("weights", axes.weights)):
        if drawn is not None and drawn.count > _MOST_DRAWS:
            yield Problem(f"{drawn.count:,} draws are more than {_MOST_DRAWS:,}", path=f"spec.axes.{name}.count")
    if axes.lose is not None:
        if not axes.lose.each:
            yield Problem("nothing to lose", path="spec.axes.lose", hint="each: node, zone or a label")
        if axes.lose.together < 1:
            yield Problem("expected a positive number", path="spec.axes.lose.together")
        if axes.lose.together > 1 and axes.lose.count < 1:
            yield Problem("several at once are drawn: count is the number of draws", path="spec.axes.lose")
    if axes.weights is not None:
        if bool(axes.weights.grid) == bool(axes.weights.draw):
            yield Problem("expected a grid or draws", path="spec.axes.weights")
        for name, weights in axes.weights.grid.items():
            if not weights or min(weights) < 1:
                yield Problem("expected weights of at least 1", path=f"spec.axes.weights.grid.{name}")
        for name, ends in axes.weights.draw.items():
            if len(ends) != 2 or not 1 <= ends[0] <= ends[1]:
                yield Problem("expected the least and the largest weight", path=f"spec.axes.weights.draw.{name}")
        if axes.weights.draw and axes.weights.count < 1:
            yield Problem("count is the number of draws", path="spec.axes.weights")
    for name, numbers in axes.scale.items():
        if not numbers or min(numbers) < 0:
            yield Problem("expected numbers of pods", path=f"spec.axes.scale.{name}")
    if spec.run is not None and (axes.scale or axes.lose) and spec.run.nodes:
        yield Problem("a run on nodes of a trace has no state to change", path="spec.axes")


def _mistakes_of_run(run: forms.RunForm) -> Iterator[Problem]:
    arrivals = run.arrivals
    if bool(run.trace.openb) == bool(run.trace.timeline):
        yield Problem("expected a trace: openb or timeline", path="spec.run.trace")
    if arrivals.process == "poisson" and not (arrivals.rate > 0 and arrivals.count > 0):
        yield Problem("poisson needs a rate and a count, both positive", path="spec.run.arrivals")
    if arrivals.process == "inflated":
        if not (arrivals.share > 0 and arrivals.of):
            yield Problem("inflated needs a share and the resource it is of", path="spec.run.arrivals")
        elif arrivals.share > _MOST_SHARE:
            message = f"{arrivals.share:,.6g} times the capacity is more than {_MOST_SHARE}"
            yield Problem(message, path="spec.run.arrivals.share", hint="1 is all of the capacity, 1.3 is 130 %")
        elif arrivals.of not in ("cpu", "memory", *(each.name for each in run.resources)):
            hint = did_you_mean(arrivals.of, ["cpu", "memory", *(each.name for each in run.resources)])
            yield Problem(f'no resource "{arrivals.of}" is counted', path="spec.run.arrivals.of", hint=hint)
    if arrivals.count > _MOST_ARRIVALS:
        message = f"{arrivals.count:,} pods are more than {_MOST_ARRIVALS:,}"
        yield Problem(message, path="spec.run.arrivals.count")
    if run.horizon < 0:
        yield Problem("expected seconds, or 0 for no horizon", path="spec.run.horizon")
    inflated = arrivals.process == "inflated" and arrivals.of == run.by and arrivals.share > 0
    for index, at in enumerate(run.at):
        if at < 0 or (inflated and at > 100 * arrivals.share):
            hint = f"at most {100 * arrivals.share:g} % arrive, see spec.run.arrivals.share" if inflated else ""
            yield Problem(f"{at} % never arrive", path=f"spec.run.at[{index}]", hint=hint)
    counted = ["cpu", "memory"]
    for index, each in enumerate(run.resources):
        if not each.name or each.name in counted:
            message = f'resource "{each.name}" is counted already' if each.name else "a resource has a name"
            yield Problem(message, path=f"spec.run.resources[{index}]")
        counted.append(each.name)
    if run.by not in counted:
        yield Problem(f'no resource "{run.by}" is counted', path="spec.run.by", hint=did_you_mean(run.by, counted))


def _relative_to(study: forms.Study, folder: Path) -> forms.Study:
    """Return a study whose paths begin in a folder, but for profiles and plugins that are no files there."""
    spec = study.spec

    def there(text: str) -> str:
        return text if not text or Path(text).is_absolute() or text == "-" else str(folder / text)

    def if_file(text: str) -> str:
        return there(text) if (folder / text.partition(":")[0]).is_file() else text

    def replaced(form: Any, **fields: Any) -> Any:
        return form if form is None else msgspec.structs.replace(form, **fields)

    axes = replaced(
        spec.axes,
        states=tuple(map(there, spec.axes.states)),
        configurations=tuple(map(if_file, spec.axes.configurations)),
    )
    simulate, check, run = spec.simulate, spec.check, spec.run
    if simulate is not None:
        simulate = replaced(simulate, manifests=tuple(map(there, simulate.manifests)))
    if check is not None:
        manifests, policies = tuple(map(there, check.manifests)), tuple(map(there, check.policies))
        check = replaced(check, manifests=manifests, policies=policies)
    if run is not None:
        trace = replaced(
            run.trace,
            openb=there(run.trace.openb),
            timeline=there(run.trace.timeline),
            manifests=tuple(map(there, run.trace.manifests)),
        )
        run = replaced(run, nodes=there(run.nodes), trace=trace)
    capacity = spec.capacity
    if capacity is not None:
        capacity = replaced(capacity, like=tuple(map(if_file, capacity.like)))
    changed = replaced(
        spec,
        state=tuple(map(there, spec.state)),
        configuration=if_file(spec.configuration),
        plugins=tuple(map(if_file, spec.plugins)),
        simulate=simulate,
        check=check,
        run=run,
        capacity=capacity,
        axes=axes,
    )
    return msgspec.structs.replace(study, spec=changed)
