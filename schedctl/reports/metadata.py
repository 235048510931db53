"""What every document begins with: who made it, under which conditions, and what was not known.

Each report has a `Metadata`, each listing a `Head`; no report has a form of its own for either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeVar

import msgspec

from schedctl.api.kinds import plural
from schedctl.versions import KUBERNETES_VERSION, __version__

T = TypeVar("T", bound=type)


def schema_name(name: str) -> Callable[[T], T]:
    """Return a decorator that gives a type its name in JSON Schemas, where the code qualifies it by its role."""

    def rename(document: T) -> T:
        # msgspec takes the keys of $defs and the titles from here; others generate code from them, so they stay
        document.__name__ = name
        return document

    return rename


VersionSource = Literal["Option", "APIServer", "Snapshot", "Kubelets", "Newest"]
"""Why a kube-scheduler judges: somebody asked for it, the cluster is of its version, or it is the newest."""

BUILT_IN = "built-in defaults"
"""The origin of the built-in configuration."""


class Record(msgspec.Struct, frozen=True, rename="camel"):
    """Base of everything in a report: immutable, camelCase on the wire, every field written."""


class Input(Record, frozen=True, kw_only=True):
    """An input by its digest, so that two reports can be compared.

    Attributes:
        source: the file.
        digest: ``sha256:...``.
        role: ``Manifests`` for what is placed, ``State`` for where, ``Config`` for schedctl's own configuration,
            ``Policy`` for what must hold, ``Baseline`` for what is accepted, ``InstanceTypes`` for what clouds offer,
            ``NodeGroups`` for groups of nodes that are described.
    """

    source: str
    digest: str
    role: Literal["Manifests", "State", "Config", "Policy", "Baseline", "InstanceTypes", "NodeGroups"]


class MissingKind(Record, frozen=True):
    """A kind that could not be listed.

    Attributes:
        kind: its name.
        reason: ``Forbidden``, ``Unread`` where the API server has it in no version that is read, or ``LeftOut``.
        plugins: the plugins that read it, of the scheduler and of admission: their answers may be guesses.
        text: the API server's words, "" where it was not asked.
    """

    kind: str
    reason: str
    plugins: list[str]
    text: str = ""


_NAMED = 3
ABSENT = "Plugin"
"""Stands for the kind where a plugin of the profile is not there and was not asked."""


class ReportedAssumption(Record, frozen=True):
    """Something that an answer rests on and that is not known.

    Attributes:
        plugin: who would have looked, "" where it is not one plugin; or the extender that gave no answer.
        kind: at objects of which kind; ``Extender`` where it is one that gave no answer, ``Plugin`` where it is one
            of the profile that is not there.
        decides: whether the answer may be another one; else only the reasons that are given for it.
        text: the same in words.
    """

    plugin: str
    kind: str
    decides: bool
    text: str


def describe_unknown(assumptions: Iterable[ReportedAssumption]) -> str:
    """Return what decides and is not known, in words: kinds, and the plugins that were not asked; "" for nothing."""
    deciding = [each for each in assumptions if each.decides]
    kinds = dict.fromkeys(plural(each.kind) for each in deciding if each.kind != ABSENT)
    absent = dict.fromkeys(each.plugin for each in deciding if each.kind == ABSENT)
    parts = [(" and ".join(kinds), "not known"), (enumerate_names([*absent]), "not asked")]
    return "; ".join(f"{names} {what}" for names, what in parts if names)


def enumerate_names(names: Sequence[str]) -> str:
    """Return names in words, a few of many: ``A and B``, ``A, B, C and 4 more``."""
    shown, rest = names[:_NAMED], len(names) - _NAMED
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([part for part in (", ".join(shown[:-1]), *shown[-1:]) if part])


class AssumedVolumes(Record, frozen=True, kw_only=True):
    """Volumes that a provisioner would make for claims, as soon as those are there; where it puts them is its choice.

    Attributes:
        storage_class: the class of the claims.
        provisioner: who makes the volumes.
        claims: the claims, as ``namespace/name``.
        certain: whether the class and its driver say nothing that could tie a volume to fewer nodes than is assumed.
        text: the same in words.
    """

    storage_class: str
    provisioner: str
    claims: list[str]
    certain: bool
    text: str


class Side(Record, frozen=True):
    """One side of a comparison: a configuration, or a version of kube-scheduler with the one in force.

    Attributes:
        name: what it is called in the rest of the report: ``A``, ``B``, and so on.
        configuration: where it came from: a file, or ``built-in defaults``; where versions are compared, behind the
            version.
        kubernetes_version: where versions are compared, the kube-scheduler of this side, else "".
    """

    name: str
    configuration: str
    kubernetes_version: str = ""


class VersionSkew(Record, frozen=True):
    """The state is of another minor version of Kubernetes than the rules by which it was judged.

    Attributes:
        source: who says which version the state is of: ``APIServer``, ``Snapshot``, or ``Kubelets`` where neither is
            known.
        state_version: of the state, e.g. ``v1.29.3``; of several kubelets the newest.
        rules_version: of the kube-scheduler whose rules are in force.
        differences: what changed for placements between the two, as far as it is known, the latest last; older rules do
            not do that yet.
        text: the same in words.
    """

    source: Literal["APIServer", "Snapshot", "Kubelets"]
    state_version: str
    rules_version: str
    differences: list[str] = []
    text: str = ""


class PluginCalls(Record, frozen=True, kw_only=True):
    """The calls of a plugin at one extension point, or of several by the same name.

    Attributes:
        extension_point: as configurations call it, and ``preFilterExtensions``.
        plugin: its name.
        calls: how many; answers from memory are no calls.
        seconds: how long they took together, calls of other plugins within them included.
        rows: of how many rows of nodes they were, together.
    """

    extension_point: str
    plugin: str
    calls: int
    seconds: float
    rows: int


class Head(Record, frozen=True):
    """Which schedctl made the document, and whose behaviour it follows.

    Attributes:
        tool_version: of schedctl.
        kubernetes_version: the kube-scheduler whose behaviour it follows.
    """

    tool_version: str = __version__
    kubernetes_version: str = KUBERNETES_VERSION


class Metadata(Head, frozen=True):
    """Under which conditions the report was made.

    Attributes:
        tool_version: of schedctl.
        kubernetes_version: the kube-scheduler whose behaviour it follows.
        configuration: where the scheduler configuration came from: a file, or ``built-in defaults``.
        sampling: whether nodes were sampled as kube-scheduler does; otherwise every node was judged.
        rollout: how new pods took the place of old ones: ``replace``, ``add`` or ``rolling``; null where none did.
        seed: what decided between equally good nodes, null for the first by name.
        skipped_admission: the admission plugins that were switched off.
        state_taken: when the state was read from the cluster, RFC 3339; "" if it is not known.
        what_if: what was changed in the cluster before anything was asked, in words and in order.
        inputs: what was read: manifests, state, policies, baseline.
        missing: the kinds that could not be listed.
        version_source: why it is this version: ``Option`` where it was asked for, ``APIServer``, ``Snapshot`` or
            ``Kubelets`` where the state is of it, ``Newest`` where the version of the state is not known.
        feature_gates: the gates that were set, e.g. ``StorageCapacityScoring=false``.
        version_skew: that the state is of another minor version than the rules in force, null where it is not or where
            its version is not known.
        plugin_calls: with ``-v``, how often plugins were called; null without, as times differ from run to run.
    """

    configuration: str = BUILT_IN
    sampling: bool = False
    rollout: Literal["replace", "add", "rolling"] | None = None
    seed: int | None = None
    skipped_admission: list[str] = []
    state_taken: str = ""
    what_if: list[str] = []
    inputs: list[Input] = []
    missing: list[MissingKind] = []
    version_source: VersionSource = "Newest"
    feature_gates: list[str] = []
    version_skew: VersionSkew | None = None
    plugin_calls: list[PluginCalls] | None = None
