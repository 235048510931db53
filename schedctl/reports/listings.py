"""The documents that listing commands print with ``-o json``: plugins, profiles, their differences, feature gates."""

from __future__ import annotations

from typing import Any, Literal

from schedctl.releases.gates import Stage
from schedctl.reports.metadata import Head, Record


class Proof(Record, frozen=True, kw_only=True):
    """How a plugin was compared with kube-scheduler's own, on random cases.

    Attributes:
        kubernetes_version: of kube-scheduler.
        seeds: FROM:TO, half open, of each family of cases.
        cycles: by family, the scheduling cycles in which the plugin had a say.
        differences: in how many ways the answers to the cases of these families differ, in any plugin.
    """

    kubernetes_version: str
    seeds: str
    cycles: dict[str, int]
    differences: int


class PluginItem(Record, frozen=True, kw_only=True):
    """A plugin of the registry.

    Attributes:
        name: its Kubernetes name.
        extension_points: the points it takes part in, in the order of a cycle.
        origin: where it comes from: ``Kubernetes``, what ``--plugin`` named, or the package that offers it.
        weight: at ``score`` in the default profile, 0 where it does not score.
        fidelity: ``exact`` where every comparison with kube-scheduler's own plugin agreed, ``partial`` where not;
            ``yours`` where it is not Kubernetes' own.
        proof: what was compared; null where no case asks the plugin, which unit tests alone then hold to its rules.
        description: what it is for, in a sentence.
    """

    name: str
    origin: str
    extension_points: list[str]
    weight: int
    fidelity: str
    proof: Proof | None
    description: str


class PluginList(Record, frozen=True, kw_only=True):
    """``schedctl plugins list``: all plugins, in the order of the default profile."""

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["PluginList"] = "PluginList"
    metadata: Head = Head()
    items: list[PluginItem]


class ProfileItem(Record, frozen=True, kw_only=True):
    """A configuration that ships.

    Attributes:
        name: what ``--profile`` takes.
        scheduler_names: the profiles in it, any of which ``--profile`` takes as well.
        description: what it is for.
        file: where it is.
    """

    name: str
    scheduler_names: list[str]
    description: str
    file: str


class ProfileList(Record, frozen=True, kw_only=True):
    """``schedctl profiles list``: the configurations that ship, by name."""

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["ProfileList"] = "ProfileList"
    metadata: Head = Head()
    items: list[ProfileItem]


class ProfileDifference(Record, frozen=True, kw_only=True):
    """A field in which two configurations differ.

    Attributes:
        scheduler_name: the profile, by its name on the left where it has another on the right; empty for what is not of
            a profile.
        field: the steps to it: `plugins`, the point and the plugin, or `order`; `pluginConfig`, the plugin and its
            argument; or a field of the profile or the configuration. No steps stand for the whole profile.
        left: the value there, of a plugin its weight, or true where none counts; null where there is none.
        right: the value on the other side.
    """

    scheduler_name: str
    field: list[str]
    left: Any
    right: Any


class ProfileDiff(Record, frozen=True, kw_only=True):
    """``schedctl profiles diff``: what two configurations do differently.

    Attributes:
        left: the one, as it was named.
        right: the other.
        items: the differences, profile by profile.
    """

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["ProfileDiff"] = "ProfileDiff"
    metadata: Head = Head()
    left: str
    right: str
    items: list[ProfileDifference]


class GateProof(Record, frozen=True, kw_only=True):
    """How a feature gate was compared with kube-scheduler's own plugins, set otherwise than by default.

    Attributes:
        set: the gates that were set, as ``--feature-gates`` takes them: it, and those that it needs or that need it.
        seeds: the seeds of the random cases, first and end.
        families: the families of the cases.
        cases: how many were compared.
        changed: how many of them kube-scheduler answers otherwise than with default gates.
        differences: in how many ways our answers differ from kube-scheduler's.
    """

    set: str
    seeds: str
    families: list[str]
    cases: int
    changed: int
    differences: int


class FeatureGateItem(Record, frozen=True, kw_only=True):
    """A feature gate of a kube-scheduler.

    Attributes:
        name: what ``--feature-gates`` takes.
        stage: how far it has come in that version.
        default: whether it is on unless set.
        locked: whether it can only be what it is by default.
        decisive: whether it can change a scheduling decision.
        modelled: whether its decisions are reproduced on and off, so that it can be set.
        only_off: whether it is on by default and can be set to off only, which alone is reproduced in every case.
        requires: the gates that may not be off while it is on.
        proof: how that was compared, absent where no case can show it, or it cannot be set.
    """

    name: str
    stage: Stage
    default: bool
    locked: bool
    decisive: bool
    modelled: bool
    only_off: bool
    requires: list[str]
    proof: GateProof | None = None


class FeatureGateList(Record, frozen=True, kw_only=True):
    """``schedctl version --gates``: the feature gates of a kube-scheduler, by name."""

    api_version: Literal["schedctl.dev/v1alpha1"] = "schedctl.dev/v1alpha1"
    kind: Literal["FeatureGateList"] = "FeatureGateList"
    metadata: Head = Head()
    items: list[FeatureGateItem]
