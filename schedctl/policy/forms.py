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
    """What it is called.

    Attributes:
        name: its name.
    """

    name: str = ""


class Match(Form, frozen=True):
    """The workloads and pods that a policy is about; what is not given selects all.

    Attributes:
        namespaces: of which they are one.
        kinds: of which they are one, e.g. `Deployment`.
        names: globs, one of which takes the name.
        label_selector: of the labels of pods.
    """

    namespaces: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    label_selector: LabelSelector | None = None


class ForEach(Form, frozen=True):
    """What a scenario is repeated for.

    Attributes:
        topology_key: a label of nodes; each of its values takes the place of `$value` in turn.
    """

    topology_key: str = ""


class Removed(Form, frozen=True):
    """Nodes that are gone.

    Attributes:
        node_selector: the labels that all of them have.
    """

    node_selector: dict[str, str] = msgspec.field(default_factory=dict)


class Scenario(Form, frozen=True):
    """What is supposed to happen.

    Attributes:
        name: its name.
        for_each: what it is repeated for.
        remove: nodes that are gone.
        changes: what else changes, in the words of the what-if options: a list of maps such as `cordon: node-1`.
    """

    name: str = ""
    for_each: ForEach | None = None
    remove: Removed | None = None
    changes: Any = None


class Named(Form, frozen=True):
    """A CEL expression with a name.

    Attributes:
        name: its name.
        expression: the expression.
    """

    name: str = ""
    expression: str = ""


class Validation(Form, frozen=True):
    """What must be true.

    Attributes:
        expression: CEL, true or false.
        message: what is said where it is false.
        message_expression: CEL that makes the message; where it fails `message` stands.
    """

    expression: str = ""
    message: str = ""
    message_expression: str = ""


class Check(Form, frozen=True):
    """One rule: a built-in one, or expressions.

    Attributes:
        name: its stable name.
        description: what it demands, in words.
        severity: `error`, `warning` or `info`.
        scope: what its expressions are about: `pod`, `workload`, `node` or `run`.
        builtin: the name of a built-in check.
        arguments: of the built-in check.
        scenarios: in which it is judged; `baseline` if none are named.
        match_conditions: which objects it is about: all must be true.
        validations: what must be true.
    """

    name: str = ""
    description: str = ""
    severity: str = "error"
    scope: str = ""
    builtin: str = ""
    arguments: Any = msgspec.field(default=None, name="with")
    scenarios: tuple[str, ...] = ()
    match_conditions: tuple[Named, ...] = ()
    validations: tuple[Validation, ...] = ()


class ExemptionMatch(Form, frozen=True):
    """The objects that an exemption is of; what is not given selects all.

    Attributes:
        kind: e.g. `Job`.
        name: a glob.
        namespace: their namespace.
        label_selector: of the labels of their pods.
    """

    kind: str = ""
    name: str = ""
    namespace: str = ""
    label_selector: LabelSelector | None = None


class Exemption(Form, frozen=True):
    """Violations that somebody accepts.

    Attributes:
        checks: of which checks.
        match: of which objects.
        reason: why.
        expires: the last day on which it holds, e.g. `2027-03-31`.
    """

    checks: tuple[str, ...] = ()
    match: ExemptionMatch | None = None
    reason: str = ""
    expires: str = ""


class Spec(Form, frozen=True):
    """What a policy says.

    Attributes:
        match: the workloads and pods it is about.
        require_match: whether it is an error that there are none.
        params: plain values, which expressions see as `params`.
        scenarios: what is supposed to happen.
        variables: expressions that others use as `variables.NAME`.
        checks: what must hold.
        exemptions: violations that are accepted.
    """

    match: Match | None = None
    require_match: bool = False
    params: Any = None
    scenarios: tuple[Scenario, ...] = ()
    variables: tuple[Named, ...] = ()
    checks: tuple[Check, ...] = ()
    exemptions: tuple[Exemption, ...] = ()


class Policy(Form, frozen=True):
    """A policy without its head.

    Attributes:
        metadata: what it is called.
        spec: what it says.
    """

    metadata: Metadata = Metadata()
    spec: Spec = Spec()


class CheckPolicy(Policy, frozen=True, kw_only=True):
    """A placement policy, as ``schedctl check -p`` reads it.

    Attributes:
        api_version, kind: what this is.
    """

    api_version: Literal["schedctl.dev/v1alpha1"]
    kind: Literal["CheckPolicy"]
