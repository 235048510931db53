"""Whatever is fed in, the answer is objects or an InputError that can be printed; never another exception."""

from __future__ import annotations

import copy
import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from schedctl.errors import InputError
from schedctl.sources import load_text

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "b", "labels": {"c": "d"}, "ownerReferences": [{"kind": "ReplicaSet"}]},
    "spec": {
        "containers": [
            {
                "name": "c",
                "image": "i",
                "env": [{"name": "A", "value": "b"}],
                "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}, "claims": [{"name": "r"}]},
                "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
            }
        ],
        "nodeSelector": {"a": "b"},
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]
                }
            },
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "podAffinityTerm": {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}}}
                ]
            },
        },
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}],
        "resourceClaims": [{"name": "r", "resourceClaimName": "x"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}],
        "overhead": {"cpu": "1m"},
        "priority": 5,
    },
    "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
}
CLAIM = {
    "apiVersion": "resource.k8s.io/v1beta1",
    "kind": "ResourceClaim",
    "metadata": {"name": "a"},
    "spec": {"devices": {"requests": [{"name": "r", "deviceClassName": "g", "count": 1}]}},
}
LIST = {"apiVersion": "v1", "kind": "List", "items": [POD, CLAIM]}


def steps(value, path=()):
    """The path of everything in a value."""
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from steps(inner, (*path, key))


def changed(value, path, change):
    """A copy with the value at a path replaced."""
    result = copy.deepcopy(value)
    if not path:
        return change
    holder = result
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = change
    return result


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**40), max_value=10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["1Gi", "-1", "1e400", "0x1F", "yes", "a/b", "\x00", "\x1b[2J", "x" * 300]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def fed(text: bytes) -> None:
    try:
        manifests = load_text(text, "fuzz")
    except InputError as error:
        problems = error.problems
        assert problems
    else:
        problems = tuple(manifests.warnings)
    for problem in problems:
        assert str(problem).isprintable()
        assert problem.hint.isprintable()


@pytest.mark.parametrize("whole", [POD, CLAIM, LIST], ids=["a pod", "a claim of an old version", "a list"])
@given(data=st.data())
@settings(max_examples=settings.default.max_examples)
def test_any_value_anywhere_is_objects_or_problems(whole, data):
    path = data.draw(st.sampled_from(list(steps(whole))))
    value = changed(whole, path, data.draw(values))
    text = json.dumps(value)
    fed(text.encode())
    fed(yaml.safe_dump(value, allow_unicode=True).encode(errors="surrogatepass"))


@pytest.mark.parametrize("path", list(steps(POD)), ids=lambda path: ".".join(map(str, path)) or "the pod")
@pytest.mark.parametrize("value", [None, True, 5, 1.5, "text", [], [None], {}, {"a": None}], ids=repr)
def test_every_field_of_a_pod_bears_every_type(path, value):
    fed(json.dumps(changed(POD, path, value)).encode())


@given(text=st.binary(max_size=300))
def test_random_bytes_are_objects_or_problems(text):
    fed(text)


@given(text=st.text(alphabet=st.sampled_from("ab:-[]{},&*!|>'\"#%@`?\n\t \\<~0e."), max_size=120))
@settings(max_examples=2 * settings.default.max_examples)
def test_random_yaml_is_objects_or_problems(text):
    fed(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n{text}".encode())
    fed(text.encode())


@given(data=st.data())
@settings(max_examples=settings.default.max_examples)
def test_damaged_manifests_are_objects_or_problems(data):
    text = bytearray(data.draw(st.sampled_from([json.dumps(LIST).encode(), yaml.safe_dump(LIST).encode()])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        if data.draw(st.booleans()):
            text[at] = data.draw(st.integers(0, 255))
        else:
            del text[at : at + data.draw(st.integers(1, 30))]
    fed(bytes(text))
