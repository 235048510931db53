"""Strict redaction changes no answer: every pod is explained before and after, and only names are not the same.

The names are put back through the table of tokens; what is compared is everything the scheduler says: verdicts, the
reasons of every node and every filter, raw, normalised and weighted scores, the choice and its ties, the candidates of
preemption and the victims, and the sentences.
"""

from __future__ import annotations

import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node
from schedctl.api.pods import Container, Pod, PodSpec
from schedctl.api.policies import ResourceQuotaSpec
from schedctl.config import loading
from schedctl.conformance.answers import answer
from schedctl.conformance.cases import Case
from schedctl.explain import explanations
from schedctl.scheduler import Scheduler
from schedctl.session.explain import ExplainOptions, explain_objects
from schedctl.snapshots import documents
from schedctl.snapshots.documents import STORED
from schedctl.snapshots.redaction import KEPT, redact
from schedctl.snapshots.rewriters import fields_of, holds_text, structs_in
from schedctl.snapshots.tokens import WELL_KNOWN, Tokens, is_token, without_ranks
from schedctl.workloads.clusters import assemble, every_pod
from tests.snapshots.states import CORPUS, KEY, Objects, Redacted, cases, keep, objects_in, objects_of, raw, state

WORKLOADS = ("CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")
_GENERATED = re.compile(r"(…-[a-z0-9-]+-)[a-z0-9]{5}\b")
"""The random end of a claim that is yet to be made, which is made up of its name."""


def explain_all(objects: Objects) -> list[str]:
    """Everything that is explained of a state, as JSON: each pod of it, and the next pod of each workload."""
    assembled = assemble(obj for _, obj in objects)
    scheduler = Scheduler(assembled.cluster, loading.default())
    subjects = [info.pod for info in every_pod(assembled.cluster)]
    subjects += [obj for kind, obj in objects if kind.name in WORKLOADS]
    found = explain_objects(scheduler, subjects, options=ExplainOptions(matrix=True))
    reports = [msgspec.to_builtins(explanations.report([each]))["results"][0] for each in found]
    for each in reports:
        each["pod"].pop("uid")
    return [_GENERATED.sub(r"\1", json.dumps(each, ensure_ascii=False)) for each in reports]


@pytest.mark.parametrize("cluster", ["shop", "lab"])
def test_every_explanation_of_a_fixture_stays(cluster):
    objects = keep(objects_of(state(f"fixtures/clusters/{cluster}", "fixtures/workloads")))
    hidden = Redacted(objects)
    before, after = explain_all(objects), [hidden.back(each) for each in explain_all(hidden.objects)]
    assert len(before) > 30
    assert [json.loads(each) for each in after] == [json.loads(each) for each in before]


def test_what_is_left_out_by_default_changes_no_explanation():
    objects = objects_of(state("fixtures/clusters/shop", "fixtures/pods"))
    assert explain_all(keep(objects)) == explain_all(objects)


@pytest.mark.parametrize("family", CORPUS, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_every_answer_of_the_corpus_stays(family):
    for case in cases(family, 4):
        if "addedAffinity" in case.config:
            continue  # a configuration that has names of its own is left out of a strict snapshot
        objects = keep(objects_in(case))
        hidden = Redacted(objects)
        pods = [hidden.keys[key] for key in case.pods] if case.pods else None
        before = question(case, objects, case.pods)
        assert before == question(case, objects_in(case), case.pods), case.id
        after = question(case, hidden.objects, pods)
        assert json.loads(hidden.back(json.dumps(after, ensure_ascii=False))) == before, case.id


def question(case: Case, objects: Objects, pods: list[str] | None):
    """The answer to a case with other objects in it."""
    found = answer(msgspec.structs.replace(case, objects=raw(objects), pods=pods))
    found.pop("seconds")
    return json.loads(json.dumps(found, ensure_ascii=False))


# --- Nothing is left --------------------------------------------------------------------------------------------------


class FilledStructs:
    """An object of a kind in which every text is one of a kind, so that it is known where it comes from."""

    def __init__(self) -> None:
        self.fields: dict[str, tuple[type, str]] = {}

    def of(self, struct: type[msgspec.Struct]):
        return struct(**{name: self._value(hint, struct, name) for name, hint in fields_of(struct).items()})

    def _value(self, hint, struct, name):
        info = msgspec.inspect.type_info(hint)
        return self._struct(info, struct, name)

    def _struct(self, info, struct, name):
        match info:
            case msgspec.inspect.UnionType():
                return self._struct(
                    next(one for one in info.types if not isinstance(one, msgspec.inspect.NoneType)), struct, name
                )
            case msgspec.inspect.StructType():
                return self.of(info.cls)
            case msgspec.inspect.ListType():
                return [self._struct(info.item_type, struct, name)]
            case msgspec.inspect.DictType():
                return {self._text(struct, name): self._struct(info.value_type, struct, name)}
            case msgspec.inspect.StrType(pattern=str() as pattern):
                return "2026-11-20T08:00:00Z" if "T(" in pattern else "1"
            case msgspec.inspect.StrType():
                return self._text(struct, name)
            case msgspec.inspect.BoolType():
                return True
        return 1

    def _text(self, struct, name):
        text = f"qz{len(self.fields):04}zq"
        self.fields[text] = (struct, name)
        return text


KEYS = {
    ("ObjectMeta", "labels"),
    ("ObjectMeta", "annotations"),
    ("LabelSelector", "match_labels"),
    ("PodSpec", "node_selector"),
    ("ServiceSpec", "selector"),
    ("ReplicationControllerSpec", "selector"),
    ("RuntimeClassScheduling", "node_selector"),
}
"""Maps whose keys stay, and whose values do not."""
VALUED = ("name",)
"""Names of drivers stay, and of other objects of the same kind do not."""
COMPARED = ("key", "operator", "effect")
"""What stays of a requirement, a taint and a toleration."""


@pytest.mark.parametrize("kind", STORED, ids=str)
def test_no_text_is_left_but_what_is_listed(kind):
    filled = FilledStructs()
    obj = filled.of(kind.struct)
    written = msgspec.json.encode(redact({kind.name: [obj]}, KEY)).decode()
    left = {place for text, place in filled.fields.items() if text in written}
    listed = {(struct, name) for struct, names in KEPT.items() for name in names.split()}
    surprising = {
        (struct.__name__, name)
        for struct, name in left - listed
        if (struct.__name__, name) not in KEYS and name not in COMPARED and not amounts(struct, name)
    }
    if kind.name == "CSIDriver":
        surprising.discard(("ObjectMeta", "name"))  # of the driver, as everywhere
    assert surprising == ALSO_KEPT.get(kind.name, set())
    gone = {place for text, place in filled.fields.items() if text not in written}
    assert all((struct.__name__, name) in KEYS or name in VALUED for struct, name in left & gone), "the rest is whole"


ALSO_KEPT = {
    "DeviceClass": {("DeviceClassSpec", "extended_resource_name")},
    "Pod": {
        ("ContainerExtendedResourceRequest", "resource_name"),
        ("NodeAllocatableMappedResources", "name"),
        ("NodeAllocatableOverheadResources", "name"),
    },
}
"""Resource names."""


def amounts(struct: type, name: str) -> bool:
    """Whether a field is a map of amounts by resource name."""
    return fields_of(struct)[name] == fields_of(ResourceQuotaSpec)["hard"] or name == "node_allocatable_resources"


def test_every_field_that_is_listed_is_there_and_holds_text():
    known = set(structs_in(*(kind.struct for kind in STORED)))
    for struct, names in KEPT.items():
        assert struct in known
        for name in names.split():
            assert holds_text(fields_of(struct)[name]), (struct, name)


@pytest.mark.parametrize("cluster", ["shop", "lab"])
def test_no_name_of_a_fixture_is_in_the_bytes(cluster):
    objects = keep(objects_of(state(f"fixtures/clusters/{cluster}")))
    hidden = Redacted(objects)
    written = msgspec.json.encode([obj for _, obj in hidden.objects]).decode()
    names = {name for _, obj in objects for name in names_in(obj)}
    quoted = set(re.findall(r'"([^"]*)"', written))
    parts = {part for text in quoted for part in re.split(r"[/:@,=]", text)} | quoted
    drivers = {obj.metadata.name for kind, obj in objects if kind.name == "CSIDriver"}
    assert not {name for name in names - drivers - WORDS if len(name) > 3 and name in parts}


WORDS = WELL_KNOWN | {"batch", "gpu.nvidia.com", "memory", "results", "spot"}
"""Names in the fixtures that are words of Kubernetes, keys of labels or names of drivers as well."""


def names_in(obj) -> set[str]:
    """What an object is called and labelled, and what it runs."""
    metadata = obj.metadata
    found = {metadata.name, metadata.namespace, metadata.uid, *(metadata.labels or {}).values()}
    spec = getattr(obj, "spec", None)
    template = getattr(spec, "template", None)
    for each in (spec, getattr(template, "spec", None)):
        for container in getattr(each, "containers", None) or ():
            found |= {container.name, container.image, *container.image.split("/")}
        found.add(getattr(each, "node_name", None) or "")
    return found - {""}


# --- Tokens -----------------------------------------------------------------------------------------------------------


def test_tokens_sort_as_names_do():
    names = ["web-10", "web", "api", "web-1", "zoo", "Web"]
    tokens = Tokens(KEY)
    for name in names:
        tokens.name(name)
    tokens.settle()
    assert sorted(names) == sorted(names, key=tokens.name)


_PARTS = st.sampled_from(["a", "db", "web", "worker", "0", "2", "10", "7f9c", "1a", "2.x", "default", "linux", "zoo"])
_NAMES = st.tuples(_PARTS.filter(lambda part: part[0].isalpha()), st.lists(_PARTS, max_size=3)).map(
    lambda parts: "-".join([parts[0], *parts[1]])
)
_SETS = st.tuples(_NAMES, st.integers(0, 12).map(str))
_CLAIMS = st.tuples(_NAMES, st.sampled_from(["data", "a", "web-1"]))
_NUMBERED_CLAIMS = st.tuples(_NAMES, st.sampled_from(["0data", "2x"]))
_OF_SETS = st.tuples(st.sampled_from(["data", "web", "a"]), _NAMES, st.integers(0, 12).map(str))


@given(st.sets(_NAMES, max_size=12), st.sets(_SETS | _CLAIMS | _OF_SETS, max_size=6))
def test_tokens_sort_as_names_do_beside_composed_and_well_known_names(names, made):
    names |= {"-".join(parts) for parts in made} | {part for parts in made for part in parts} | WELL_KNOWN
    tokens = tokens_of(names, made)
    assert sorted(names, key=tokens.name) == sorted(names)
    assert len({tokens.name(name) for name in names}) == len(names)
    assert all(is_token(tokens.name(name)) for name in names - WELL_KNOWN)


@given(st.sets(_NAMES, max_size=12), st.sets(_SETS | _CLAIMS | _NUMBERED_CLAIMS | _OF_SETS, max_size=6))
def test_token_of_a_composed_name_is_composed_of_tokens(names, made):
    tokens = tokens_of(names | {"-".join(parts) for parts in made} | {part for parts in made for part in parts}, made)
    for parts in made:
        *firsts, last = parts
        tokens_of_parts = [*map(tokens.name, firsts), last if last.isdecimal() else tokens.name(last)]
        assert tokens.name("-".join(parts)) == "-".join(tokens_of_parts)


def tokens_of(names, made) -> Tokens:
    tokens = Tokens(KEY, made)
    for name in sorted(names):
        tokens.name(name)
    tokens.settle()
    return tokens


@given(
    st.sets(st.from_regex("[abdefkz]([-a]?[a-z])?", fullmatch=True) | st.sampled_from(sorted(WELL_KNOWN)), max_size=12)
)
def test_keys_in_namespaces_sort_as_before_beside_those_that_stay(names):
    tokens = Tokens(KEY)
    for name in names:
        tokens.namespace(name)
    tokens.settle()
    assert sorted(names, key=lambda name: f"{name}/") == sorted(names, key=lambda name: f"{tokens.namespace(name)}/")


def test_nodes_named_like_a_stateful_set_keep_their_order():
    names = ["worker-2", "worker-10", "worker-3"]
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "worker", "uid": "o", "controller": True}
    objects = {
        "Node": [msgspec.convert({"metadata": {"name": name}}, Node) for name in names],
        "Pod": [
            msgspec.convert({"metadata": {"name": f"worker-{n}", "namespace": "jobs", "ownerReferences": [owner]}}, Pod)
            for n in range(4)
        ],
    }
    tokens = {name: node.metadata.name for name, node in zip(names, redact(objects, KEY)["Node"], strict=True)}
    assert sorted(names, key=tokens.__getitem__) == sorted(names)


def test_namespaces_sort_as_they_do_in_keys():
    names = ["shop", "shop-eu", "shop.old"]
    tokens = Tokens(KEY)
    for name in names:
        tokens.namespace(name)
    tokens.settle()
    assert sorted(f"{name}/x" for name in names) == sorted(
        (f"{name}/x" for name in names), key=lambda key: f"{tokens.namespace(key.partition('/')[0])}/x"
    )


def test_tokens_of_one_key_are_the_same_but_for_their_ranks():
    first, second = Tokens(KEY), Tokens(KEY)
    for tokens, names in ((first, ["web"]), (second, ["api", "web"])):
        for name in names:
            tokens.name(name)
        tokens.settle()
    assert first.name("web") != second.name("web")
    assert without_ranks(first.name("web")) == without_ranks(second.name("web"))


def test_another_key_gives_other_tokens():
    first, second = Tokens(KEY), Tokens(b"another key of sixteen bytes")
    for tokens in (first, second):
        tokens.name("web")
        tokens.settle()
    assert without_ranks(first.name("web")) != without_ranks(second.name("web"))


def test_unknown_name_has_no_token():
    tokens = Tokens(KEY)
    tokens.settle()
    with pytest.raises(KeyError):
        tokens.name("web")


@pytest.mark.parametrize(
    ("of", "alike"),
    [
        pytest.param("nginx", "nginx:latest", id="an image without a tag, and the latest"),
        pytest.param("registry/a/nginx", "registry/a/nginx:latest", id="likewise in a registry"),
    ],
)
def test_images_are_normalised_alike(of, alike):
    """ImageLocality takes an image without a tag for the latest; so it must after redaction."""
    pods = [pod_of(of), pod_of(alike), pod_of(f"{of}:1.25")]
    first, second, other = (pod.spec.containers[0].image for pod in redact({"Pod": pods}, KEY)["Pod"])
    assert second == f"{first}:latest"
    assert not other.startswith(first)
    assert ":" in other


def pod_of(image: str):
    return Pod(metadata=ObjectMeta(name="a", namespace="b"), spec=PodSpec(containers=[Container(image=image)]))


def test_the_same_objects_and_key_give_the_same_bytes():
    objects = documents.by_kind(keep(objects_of(state("fixtures/clusters/lab"))))
    assert msgspec.json.encode(redact(objects, KEY)) == msgspec.json.encode(redact(objects, KEY))
