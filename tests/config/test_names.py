"""What labels and extended resources may be called."""

from __future__ import annotations

import pytest

from schedctl.config.names import extended_resource, label_key, label_value


@pytest.mark.parametrize("key", ["a", "A.b_c-1", "example.com/a", "a" * 63, "a." * 126 + "a/x"])
def test_a_label_key(key):
    assert label_key(key) == []


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("", ["name part must be non-empty", "name part must consist of alphanumeric"]),
        ("a b", ["name part must consist of alphanumeric"]),
        ("-a", ["name part must consist of alphanumeric"]),
        ("é", ["name part must consist of alphanumeric"]),
        ("a" * 64, ["name part must be no more than 63 bytes"]),
        ("/a", ["prefix part must be non-empty"]),
        ("A.com/a", ["prefix part a lowercase RFC 1123 subdomain must consist of"]),
        ("a" * 254 + "/a", ["prefix part must be no more than 253 bytes"]),
        ("a/b/c", ["a valid label key must consist of alphanumeric"]),
        ("example.com/", ["name part must be non-empty", "name part must consist of alphanumeric"]),
    ],
)
def test_what_is_no_label_key(key, wrong):
    complaints = label_key(key)
    assert [complaint[: len(start)] for complaint, start in zip(complaints, wrong, strict=True)] == wrong


@pytest.mark.parametrize(("value", "fine"), [("", True), ("a", True), ("a.b", True), ("-", False), ("a" * 64, False)])
def test_a_label_value(value, fine):
    assert (label_value(value) == []) is fine


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("nvidia.com/gpu", True),
        ("cpu", False),
        ("kubernetes.io/x", False),
        ("x.kubernetes.io/y", False),
        ("requests.example.com/x", False),
        ("a" * 250 + "/x", False),
    ],
    ids=[
        "one of a vendor",
        "a native one",
        "one of Kubernetes",
        "one beneath Kubernetes",
        "one that looks like a quota",
        "one too long for a quota",
    ],
)
def test_an_extended_resource_is(name, fine):
    assert (extended_resource(name) == []) is fine
