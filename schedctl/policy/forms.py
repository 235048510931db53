"""The form in which policies are written: what `schedctl.policy.reading` decodes, and ``schedctl schema`` describes.

Everything is as it stands in the file. What of it makes sense together is not the form's to say.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from schedctl.api.meta import LabelSelector
from schedctl.documents.fields import ConfigStruct


class Form(ConfigStruct, frozen=True, forbid_unknown_fields=True):
    """Base of what is written."""


class Metadata(Form, frozen=True):
    """How a policy is called.

    Attributes:
        name: the name of the policy, which reports and fingerprints carry.
    """

    name: str = ""


class Match(Form, frozen=True):
    """The workloads and pods that a policy is about: all that is given must hold, and without any of it all are.

    Attributes:
        namespaces: their namespace is one of these.
        kinds: their kind is one of these, e.g. `Deployment`.
        names: their name matches one of these globs, e.g. `web-*`.
        label_selector: the labels of the pods match.
    """

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    label_selector: LabelSelector | None = None


class ForEach(Form, frozen=True):
    """A label of nodes, for each value of which a scenario is played once.

    Attributes:
        topology_key: the label, e.g. `topology.kubernetes.io/zone`; `$value` stands for its value.
    """

    topology_key: str = ""


class Removed(Form, frozen=True):
    """The nodes that a scenario removes.

    Attributes:
        node_selector: the labels that a node must have to be removed.
    """

    node_selector: dict[str, str] = msgspec.field(default_factory=dict)


class Scenario(Form, frozen=True):
    """Changes to the cluster, in which checks are judged as well.

    Attributes:
        name: the name that checks use.
        for_each: repeats the scenario for each value of a label of nodes.
        remove: the nodes that are removed.
        changes: further changes, in the words of the what-if options: a list of maps such as `cordon: node-1`.
    """

    name: str = ""
    for_each: ForEach | None = None
    remove: Removed | None = None
    changes: Any = None


class Named(Form, frozen=True):
    """A CEL expression with a name.

    Attributes:
        name: the name that other expressions, or messages, use.
        expression: the expression, in CEL.
    """

    name: str = ""
    expression: str = ""


class Validation(Form, frozen=True):
    """An expression that must be true.

    Attributes:
        expression: the expression, in CEL.
        message: the message of a violation.
        message_expression: CEL that returns the message; `message` is used if it fails.
    """

    expression: str = ""
    message: str = ""
    message_expression: str = ""


class Check(Form, frozen=True):
    """One rule: a built-in check, or expressions.

    Attributes:
        name: a stable name, by which annotations, exemptions and reports know the check.
        description: what the check demands, in words.
        remediation: what to do about a violation, in words.
        url: a page with more about the check, `https://...`.
        tags: words by which reports group checks, e.g. `availability`.
        severity: how severe a violation is.
        scope: what each result of the expressions is about.
        builtin: the built-in check, if it is one.
        arguments: the arguments of the built-in check.
        scenarios: the scenarios in which the check is judged; `baseline` unless given.
        match_conditions: the check is about the objects for which all of these are true.
        validations: expressions that must be true, of a check that is not built in.
        allow_unknown_names: whether arguments of the built-in check may name what nothing in the cluster has, such as
            a label, a taint or a resource, and whether namespaces may have no ResourceQuota in the scope `quota`;
            unless this is true, such a check is inconclusive.
        confidence: in which part of the draws among tied nodes the check must hold, e.g. `0.95`; unless given, it
            is judged in one run, which takes the first of them by name.
    """

    name: str = ""
    description: str = ""
    remediation: str = ""
    url: str = ""
    tags: tuple[str, ...] = ()
    severity: str = "error"
    scope: str = ""
    builtin: str = ""
    arguments: Any = msgspec.field(default=None, name="with")
    scenarios: tuple[str, ...] = ()
    match_conditions: tuple[Named, ...] = ()
    validations: tuple[Validation, ...] = ()
    allow_unknown_names: bool = False
    confidence: float = 0.0


class ExemptionMatch(Form, frozen=True):
    """The objects that an exemption is about: all that is given must hold.

    Attributes:
        kind: their kind, e.g. `Job`.
        name: a glob that their name matches.
        namespace: their namespace.
        label_selector: the labels of their pods match.
    """

    kind: str = ""
    name: str = ""
    namespace: str = ""
    label_selector: LabelSelector | None = None


class Exemption(Form, frozen=True):
    """Violations that are accepted.

    Attributes:
        checks: the checks, by name or glob, e.g. `spread-*`.
        match: the objects; all unless given.
        reason: why the violations are accepted.
        expires: the last day of the exemption, e.g. `2027-03-31`.
    """

    checks: tuple[str, ...] = ()
    match: ExemptionMatch | None = None
    reason: str = ""
    expires: str = ""


class Spec(Form, frozen=True):
    """The content of a policy.

    Attributes:
        match: the workloads and pods that the policy is about; all unless given.
        require_match: whether a policy that matches nothing is an error, exit code 2.
        kube_version: the minor versions of Kubernetes that the policy is for, e.g. `>=1.35 <1.38`; results are
            inconclusive in another one, and where nothing says the version of the state.
        allow_unmodelled_kinds: kinds of operators, as `Kind.group` or `*` for all, whose pods may stay unknown; results
            about others are inconclusive.
        params: plain values, which expressions see as `params`.
        scenarios: changes to the cluster, in which checks are judged as well.
        variables: expressions that other expressions use as `variables.NAME`.
        checks: the rules.
        exemptions: violations that are accepted.
    """

    match: Match | None = None
    require_match: bool = False
    kube_version: str = ""
    allow_unmodelled_kinds: tuple[str, ...] = ()
    params: Any = None
    scenarios: tuple[Scenario, ...] = ()
    variables: tuple[Named, ...] = ()
    checks: tuple[Check, ...] = ()
    exemptions: tuple[Exemption, ...] = ()


class Policy(Form, frozen=True):
    """A policy without its head.

    Attributes:
        metadata: the name of the policy.
        spec: the content of the policy.
    """

    metadata: Metadata = Metadata()
    spec: Spec = Spec()


class CheckPolicy(Policy, frozen=True, kw_only=True):
    """A placement policy, as ``schedctl check -p`` reads it.

    Attributes:
        api_version: always `schedctl.dev/v1alpha1`.
        kind: always `CheckPolicy`.
    """

    api_version: Literal["schedctl.dev/v1alpha1"]
    kind: Literal["CheckPolicy"]
