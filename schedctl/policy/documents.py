"""What a `CheckPolicy` says, in types: what it is about, what is supposed to happen, and what must hold then.

`schedctl.policy.reading` makes these from files and has refused everything that cannot be meant before anybody sees
one; `schedctl.policy.expressions` and `schedctl.policy.compilation` make something of the expressions, which are text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from schedctl.api import topology
from schedctl.api.durations import Duration
from schedctl.api.meta import Int32
from schedctl.api.selectors import EVERYTHING, LabelQuery
from schedctl.documents.fields import ConfigStruct
from schedctl.documents.scalar_positions import Stretch
from schedctl.policy.kube_versions import VersionDemand
from schedctl.policy.references import RefersTo
from schedctl.reports.checks import Location, Severity

API_VERSION: Final = "schedctl.dev/v1alpha1"
KIND: Final = "CheckPolicy"
BASELINE: Final = "baseline"
"""The scenario in which nothing is changed; it is always there."""
VALUE: Final = "$value"
"""Stands in the changes of a scenario for each value of its topology key in turn."""

ANY_KIND: Final = "*"
"""Stands for all kinds of operators in `CheckPolicy.unmodelled`."""

NOWHERE: Final = Location()
"""The place of what is in no file."""

NUMBERS_AS_TEXT: Final = frozenset({"absolute", "allowPending", "limits"})
"""Arguments of built-ins that are text, and may be written as numbers."""
_DAY: Final = "24h"
_AGE: Final = msgspec.Meta(extra_json_schema={"type": "string", "default": _DAY, "examples": ["36h", "1h30m"]})

LabelKey = Annotated[str, RefersTo.LABEL_KEY]
"""The label of nodes whose values make groups of them; also by a shorthand such as ``zone``."""
NodeLabels = Annotated[dict[str, str], RefersTo.NODE_LABELS]
"""Labels that nodes have."""
ResourceName = Annotated[str, RefersTo.RESOURCE]
"""A resource that nodes offer."""

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
"""How many of something."""


class Scope(StrEnum):
    """What one result of a check is about."""

    POD = "pod"
    WORKLOAD = "workload"
    NODE = "node"
    NAMESPACE = "namespace"
    QUOTA = "quota"
    GROUP = "group"
    RUN = "run"


# -- expressions -----------------------------------------------------------------


class Expression(msgspec.Struct, frozen=True):
    """A CEL expression, and where its text stands in the file.

    Attributes:
        text: what is written.
        location: of the scalar that holds it.
        runs: where its characters stand, in order; none if nobody knows.
    """

    text: str
    location: Location = NOWHERE
    runs: tuple[Stretch, ...] = ()

    def place_of(self, offset: int) -> tuple[int, int]:
        """Return line and column of a character in the file; of the scalar where that is not known."""
        if not self.runs:
            return self.location.line, self.location.column
        run = self.runs[max(bisect_right(self.runs, offset, key=lambda each: each.offset) - 1, 0)]
        return run.line, run.column + offset - run.offset


class Variable(msgspec.Struct, frozen=True):
    """A named expression, worked out at most once for each object, and only where it is used."""

    name: str
    expression: Expression


class Condition(msgspec.Struct, frozen=True):
    """A named expression that must be true for a check to be about an object."""

    name: str
    expression: Expression


class Validation(msgspec.Struct, frozen=True):
    """An expression that must be true, and what to say where it is not.

    Attributes:
        expression: must be true.
        message: what is said where it is false, "" for the text of the expression.
        message_expression: makes the message; where it fails `message` stands.
    """

    expression: Expression
    message: str = ""
    message_expression: Expression | None = None


# -- what a policy is about ------------------------------------------------------


class Match(msgspec.Struct, frozen=True):
    """Selects objects; what is not given selects all.

    Attributes:
        namespaces: of which they are one.
        kinds: of which they are one, e.g. ``Deployment``.
        names: globs, one of which takes the name.
        labels: of the pods of a workload, or of a node.
    """

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    labels: LabelQuery = EVERYTHING

    def selects(self, kind: str, namespace: str, name: str, labels: Mapping[str, str] | None) -> bool:
        """Return whether it selects an object, ``labels`` being those of the pods of a workload."""
        return (
            (not self.namespaces or namespace in self.namespaces)
            and (not self.kinds or kind in self.kinds)
            and (not self.names or any(fnmatchcase(name, glob) for glob in self.names))
            and self.labels.matches(labels)
        )


class Scenario(msgspec.Struct, frozen=True):
    """Named changes to the cluster.

    Attributes:
        name: its name.
        topology_key: a label; the changes are made once for each value that a node has of it. "" for once at all.
        changes: what `schedctl.simulation.what_if_syntax.from_mappings` takes, with `VALUE` in keys and values where
            the value of the label belongs.
        location: of its name.
    """

    name: str
    topology_key: str = ""
    changes: tuple[Mapping[str, Any], ...] = ()
    location: Location = NOWHERE


def substitute_value(data: Any, value: str) -> Any:
    """Return plain data, as changes are made of, with a value where `VALUE` stands, in keys as elsewhere."""
    if isinstance(data, str):
        return data.replace(VALUE, value)
    if isinstance(data, Mapping):
        return {substitute_value(key, value): substitute_value(each, value) for key, each in data.items()}
    if isinstance(data, list | tuple):
        return [substitute_value(each, value) for each in data]
    return data


class Exemption(msgspec.Struct, frozen=True):
    """Violations that somebody accepts.

    Attributes:
        checks: globs, one of which takes the name of the check.
        match: of which objects.
        reason: why.
        expires: the last day on which it holds, None for ever.
        location: where it is written.
    """

    checks: tuple[str, ...]
    match: Match
    reason: str
    expires: date | None = None
    location: Location = NOWHERE

    def names(self, check: str) -> bool:
        """Return whether it is of a check."""
        return any(fnmatchcase(check, glob) for glob in self.checks)


# -- the arguments of built-in checks ----------------------------------------------


class Schedulable(ConfigStruct, frozen=True):
    """``schedulable``: pods of each workload find a node.

    Attributes:
        min_percent: how many of a hundred pods have to; above 0.
        after: `scaleUp` where those count as well that would find a node once an autoscaler has added some.
        groups: with `after`, the groups of nodes that may grow; all unless given.
        max_new_nodes: with `after`, how many nodes may be added for a workload; as many as groups allow unless given.
    """

    min_percent: float = 100.0
    after: Literal["", "scaleUp"] = ""
    groups: tuple[str, ...] = ()
    max_new_nodes: int | None = None


class NoPreemption(ConfigStruct, frozen=True):
    """``no-preemption``: nobody is evicted for the manifests' pods.

    Attributes:
        max: how many pods may be evicted.
        below_priority: evictions of pods with a lower priority do not count; all count unless given.
    """

    max: Count = 0
    below_priority: Int32 | None = None


class Spread(ConfigStruct, frozen=True):
    """``spread``: the pods of each workload spread over domains.

    Attributes:
        topology_key: the label whose values are the domains.
        min_domains: how many have to have a pod; 2 or more, unless ``maxSkew`` is given.
        max_skew: by how many pods the fullest may exceed the emptiest, at least 1; any unless given.
        per: whose pods are counted together; there is no other than ``workload``.
        ignore_pending: whether pods without a node are left out; unless it is true, a check that could turn out either
            way once they have one is inconclusive.
    """

    topology_key: LabelKey = topology.ZONE
    min_domains: Count = 1
    max_skew: Count | None = None
    per: str = "workload"
    ignore_pending: bool = False


class Survives(ConfigStruct, frozen=True):
    """``survives``: in each case of a scenario the workloads still find nodes.

    Attributes:
        scenario: its name; needed.
        allow_pending: how many pods of a workload may stay pending, or ``priority < N`` for all pods below it.
        allow_preemption: whether others may be evicted for them.
    """

    scenario: str = ""
    allow_pending: str = "0"
    allow_preemption: bool = False

    @property
    def most_pending(self) -> int:
        """How many pods of a workload may stay pending."""
        return int(self.allow_pending) if self.allow_pending.isdecimal() else 0

    @property
    def allowed_priority_below(self) -> int | None:
        """The priority below which pods may stay pending, None where none may for their priority."""
        found = PRIORITY_BELOW.fullmatch(self.allow_pending)
        return int(found["bound"]) + (found["operator"] == "<=") if found else None


PRIORITY_BELOW: Final = re.compile(r"\s*(?:pod\.)?priority\s*(?P<operator><=?)\s*(?P<bound>-?[0-9]{1,10})\s*")
"""The one form of ``allowPending`` that is not a number."""


class Headroom(ConfigStruct, frozen=True):
    """``headroom``: something is left free.

    Attributes:
        resource: of what; needed, other than with ``replicasOf``.
        percent: how much of a hundred of what nodes that take pods offer; this, or ``absolute``.
        absolute: a quantity of the resource; with ``replicasOf``, how many more replicas have to fit.
        replicas_of: a workload, e.g. ``deploy/web``, of which further replicas have to fit.
        by: a label of nodes, for each of whose values it must hold; the cluster as a whole unless given.
        node_selector: labels of the nodes that count, whatever their taints; unless given, nodes that are not cordoned
            and have no taint of the effects NoSchedule and NoExecute.
        ignore_pending: whether pods without a node are left out; unless it is true, a check that could turn out either
            way once they have one is inconclusive. Pending pods of the state count like those of the manifests.
        by_namespace: whether it is what ResourceQuotas leave of the resource in each namespace of the manifests.
        by_pod_label: a label of pods, e.g. ``team``: it is what pods with each of its values leave of its limit.
        limits: with ``byPodLabel``, how much of the resource the pods with a value may request, by value.
    """

    resource: ResourceName = ""
    percent: float | None = None
    absolute: str = ""
    replicas_of: Annotated[str, RefersTo.WORKLOAD] = ""
    by: LabelKey = ""
    node_selector: NodeLabels = msgspec.field(default_factory=dict)
    ignore_pending: bool = False
    by_namespace: bool = False
    by_pod_label: str = ""
    limits: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def is_of_requests(self) -> bool:
        """Whether it is about what pods may request, wherever they run, and not about what nodes offer."""
        return self.by_namespace or bool(self.by_pod_label)


class NodeDemand(ConfigStruct, frozen=True):
    """What is said of a node: all that is given.

    Attributes:
        node_selector: labels it has.
        taint: a taint it has: ``KEY``, ``KEY=VALUE``, ``KEY:EFFECT`` or ``KEY=VALUE:EFFECT``.
    """

    node_selector: NodeLabels = msgspec.field(default_factory=dict)
    taint: Annotated[str, RefersTo.TAINT] = ""


class Placement(ConfigStruct, frozen=True):
    """``placement``: pods run only on such nodes, or on no such node.

    Attributes:
        must: what every node has that runs one; this, or ``mustNot``, or both.
        must_not: what no node has that runs one.
        ignore_pending: as for ``spread``.
    """

    must: NodeDemand | None = None
    must_not: NodeDemand | None = None
    ignore_pending: bool = False


class NoRegression(ConfigStruct, frozen=True):
    """``no-regression``: nothing that ran before becomes pending or is evicted."""


class DrainSafe(ConfigStruct, frozen=True):
    """``drain-safe``: each of the nodes can be drained, and what it runs finds room elsewhere.

    Attributes:
        node_selector: labels of those nodes; unless given, it is all nodes that run a pod which the policy matches.
        force: as ``kubectl drain --force``: pods that no controller recreates may be deleted, and are lost.
        ignore_daemon_sets: as ``kubectl drain --ignore-daemonsets``: pods of DaemonSets stay.
        delete_empty_dir_data: as ``kubectl drain --delete-emptydir-data``: what pods have in emptyDir volumes is lost.
    """

    node_selector: NodeLabels = msgspec.field(default_factory=dict)
    force: bool = False
    ignore_daemon_sets: bool = True
    delete_empty_dir_data: bool = True


class MaxNodes(ConfigStruct, frozen=True):
    """``max-nodes``: the pods of each workload use at most a number of nodes.

    Attributes:
        count: how many; at least 1, and needed.
        ignore_pending: as for ``spread``.
    """

    count: Count = 0
    ignore_pending: bool = False


class MaxUtilization(ConfigStruct, frozen=True):
    """``max-utilization``: no more than so much is requested.

    Attributes:
        resource: of what.
        percent: how much of a hundred of what nodes offer may be requested; above 0.
        by: a label of nodes, for each of whose values it must hold; the cluster as a whole unless given.
        node_selector: as for ``headroom``.
        ignore_pending: as for ``headroom``.
    """

    resource: ResourceName = "cpu"
    percent: float = 100.0
    by: LabelKey = ""
    node_selector: NodeLabels = msgspec.field(default_factory=dict)
    ignore_pending: bool = False


class SnapshotFresh(ConfigStruct, frozen=True):
    """``snapshot-fresh``: the state is no older.

    Attributes:
        max_age: than this, e.g. ``36h``.
    """

    max_age: Annotated[Duration, _AGE] = msgspec.field(default_factory=lambda: Duration.parse(_DAY))


class GangSchedulable(ConfigStruct, frozen=True):
    """``gang-schedulable``: each pod group starts.

    Attributes:
        whole: whether every pod of a group has to find a node, not only as many as it needs to start.
    """

    whole: bool = False


Arguments = (
    Schedulable
    | GangSchedulable
    | NoPreemption
    | Spread
    | Survives
    | Headroom
    | Placement
    | NoRegression
    | DrainSafe
    | MaxNodes
    | MaxUtilization
    | SnapshotFresh
)


class Builtin(NamedTuple):
    """A built-in check: its arguments, what each of its results is about, and what it demands in words."""

    arguments: type[Arguments]
    scope: Scope
    description: str


BUILTINS: Final[Mapping[str, Builtin]] = {
    "schedulable": Builtin(Schedulable, Scope.WORKLOAD, "the pods of each workload find a node"),
    "gang-schedulable": Builtin(GangSchedulable, Scope.GROUP, "each pod group starts"),
    "no-preemption": Builtin(NoPreemption, Scope.WORKLOAD, "nothing is evicted for the pods of a workload"),
    "spread": Builtin(Spread, Scope.WORKLOAD, "the pods of each workload spread over domains"),
    "survives": Builtin(Survives, Scope.WORKLOAD, "the pods of each workload find a node in a scenario, too"),
    "headroom": Builtin(Headroom, Scope.RUN, "the cluster keeps a share of a resource, or room for replicas, free"),
    "placement": Builtin(Placement, Scope.WORKLOAD, "the pods of each workload run on allowed nodes only"),
    "no-regression": Builtin(NoRegression, Scope.RUN, "nothing that ran before is pending or evicted"),
    "drain-safe": Builtin(DrainSafe, Scope.NODE, "each node can be drained"),
    "max-nodes": Builtin(MaxNodes, Scope.WORKLOAD, "the pods of each workload use at most a number of nodes"),
    "max-utilization": Builtin(MaxUtilization, Scope.RUN, "pods request at most a percentage of a resource"),
    "snapshot-fresh": Builtin(SnapshotFresh, Scope.RUN, "the state is recent"),
}
"""Every built-in check by its name in policies."""


# -- a policy --------------------------------------------------------------------


class Check(msgspec.Struct, frozen=True):
    """One rule: a built-in one, or expressions.

    Attributes:
        name: its stable name.
        severity: of its violations.
        scope: what each of its results is about; of a built-in, the built-in's own.
        builtin: the name of a built-in, "" for expressions.
        arguments: of the built-in.
        scenarios: in which it is judged, by name; `BASELINE` among them or alone.
        conditions: which objects it is about: all must be true.
        validations: what must be true; none for a built-in.
        description: what it demands, in words.
        allow_unknown_names: whether arguments of the built-in may name what nothing in the cluster has, and namespaces
            may have no quota.
        confidence: in which part of the draws among tied nodes it must hold; 0 where one run judges it.
        remediation: what to do about a violation, in words.
        url: a page with more about it, "" for none.
        tags: words by which reports group checks.
        location: of its name.
    """

    name: str
    severity: Severity = Severity.ERROR
    scope: Scope = Scope.WORKLOAD
    builtin: str = ""
    arguments: Arguments | None = None
    scenarios: tuple[str, ...] = (BASELINE,)
    conditions: tuple[Condition, ...] = ()
    validations: tuple[Validation, ...] = ()
    description: str = ""
    allow_unknown_names: bool = False
    confidence: float = 0.0
    remediation: str = ""
    url: str = ""
    tags: tuple[str, ...] = ()
    location: Location = NOWHERE

    @property
    def judged_in(self) -> tuple[str, ...]:
        """The names of the scenarios in which it is judged."""
        return (self.arguments.scenario,) if isinstance(self.arguments, Survives) else self.scenarios

    @property
    def expressions(self) -> Iterable[Expression]:
        """All expressions, in the order in which they stand."""
        for condition in self.conditions:
            yield condition.expression
        for validation in self.validations:
            yield validation.expression
            if validation.message_expression is not None:
                yield validation.message_expression


class CheckPolicy(msgspec.Struct, frozen=True):
    """A policy.

    Attributes:
        name: its name.
        source: the file, "" for the one that is built in.
        match: the workloads and pods it is about.
        require_match: whether it is an error that there is none.
        kube_version: the versions of Kubernetes that it is for, None for all.
        unmodelled: the kinds of operators, as ``Kind.group``, of which nobody needs to know what pods they make.
        scenarios: what is supposed to happen.
        variables: expressions with a name.
        checks: what must hold.
        exemptions: violations that are accepted.
        params: plain values, which expressions see as ``params``.
        location: of its name.
    """

    name: str
    checks: tuple[Check, ...]
    source: str = ""
    match: Match = Match()
    require_match: bool = False
    kube_version: VersionDemand | None = None
    unmodelled: tuple[str, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    variables: tuple[Variable, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    params: Mapping[str, Any] = msgspec.field(default_factory=dict)
    location: Location = NOWHERE

    def allows(self, kind: str) -> bool:
        """Return whether pods that operators make of resources of a ``Kind.group`` may stay unknown."""
        return kind in self.unmodelled or ANY_KIND in self.unmodelled


BUILT_IN_POLICY: Final = CheckPolicy(
    name="built-in",
    checks=(
        Check(
            name="schedulable",
            builtin="schedulable",
            arguments=Schedulable(),
            description=BUILTINS["schedulable"].description,
        ),
    ),
)
"""What is checked where no policy is given: every pod finds a node."""
