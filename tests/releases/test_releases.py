"""Releases and their gates: what may be set, and in kube-scheduler's words what may not."""

import pytest

from schedctl.releases import NEWEST, RELEASES, GateError, Release, ReleaseChange, gates_of, minor_of, nearest_release
from schedctl.releases import parse_gates as parse
from schedctl.releases.gates import DECISIVE, MODELLED

V134, V135, V136, V137 = RELEASES


@pytest.mark.parametrize(
    ("text", "minor"),
    [
        pytest.param("v1.36.3", (1, 36), id="a version"),
        pytest.param("1.36", (1, 36), id="a minor"),
        pytest.param("v1.29.3-eks-5e0fdde", (1, 29), id="one of a vendor"),
        pytest.param("", None, id="nothing"),
        pytest.param("newest", None, id="a word"),
    ],
)
def test_the_minor_of_a_version(text, minor):
    assert minor_of(text) == minor


@pytest.mark.parametrize(
    ("minor", "release"),
    [
        pytest.param((1, 35), V135, id="one that is reproduced"),
        pytest.param((1, 29), V134, id="an older one"),
        pytest.param((1, 99), V137, id="a newer one"),
    ],
)
def test_the_nearest_release(minor, release):
    assert nearest_release(minor) is release


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_has_a_table_of_gates_with_the_defaults_of_its_own(release):
    gates = gates_of(release.version)
    assert {name for name in gates if release.enabled(name)} == {name for name, gate in gates.items() if gate.default}


def test_every_gate_that_is_modelled_is_a_gate_that_decides_and_some_release_has_it():
    assert MODELLED <= DECISIVE <= {name for release in RELEASES for name in gates_of(release.version)}


@pytest.mark.parametrize("change", ReleaseChange)
def test_every_change_is_part_of_some_releases_and_not_of_others(change):
    assert {release.includes(change) for release in RELEASES} == {True, False}
    assert change.text[0].islower() or change.text.split()[0][0].isupper()


@pytest.mark.parametrize(
    ("text", "switches"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param("A=true, B=false", {"A": True, "B": False}, id="two"),
        pytest.param("A=1,B=F", {"A": True, "B": False}, id="as Go reads booleans"),
    ],
)
def test_gates_are_read(text, switches):
    assert parse(text) == switches


@pytest.mark.parametrize(
    ("release", "text", "message"),
    [
        pytest.param(V137, "A", "missing bool value for A", id="no value"),
        pytest.param(V137, "A=yes", "invalid value of A=yes, expected a boolean", id="no boolean"),
        pytest.param(V137, "Nope=true", "unrecognized feature gate: Nope", id="unknown"),
        pytest.param(
            V137,
            "DRAExtendedResource=false",
            "cannot set feature gate DRAExtendedResource to false, feature is locked to true",
            id="locked",
        ),
        pytest.param(
            V137,
            "CompositePodGroup=true",
            "feature gate CompositePodGroup is not modelled: answers with it on would be guesses",
            id="not modelled",
        ),
        pytest.param(
            V136,
            "PodLevelResources=false",
            "InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled:"
            " [PodLevelResources]",
            id="needed by another",
        ),
    ],
)
def test_gates_that_cannot_be_set_are_refused(release: Release, text, message):
    with pytest.raises(GateError) as refused:
        release.with_gates(parse(text))
    assert str(refused.value) == message


def test_a_gate_that_is_set_to_its_default_is_no_change_even_where_it_is_not_modelled():
    assert NEWEST.with_gates({"GenericWorkload": NEWEST.enabled("GenericWorkload")}).enabled("VolumeLimitScaling")
