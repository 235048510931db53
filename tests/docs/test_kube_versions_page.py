"""The reference of versions has everything that differs between releases, and every gate that can be set."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs._reference import kube_versions
from docs._reference.markdown import code, sentence
from schedctl.releases import RELEASES, ReleaseChange, gates_of
from schedctl.releases.gates import DECISIVE, MODELLED

DOCS = Path(__file__).parents[2] / "docs"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (DOCS / "reference/kube-versions.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|")
]


@pytest.mark.parametrize("change", ReleaseChange)
def test_every_change_of_a_release_stands_in_it_with_its_version(change):
    row = [f"v{change.since[0]}.{change.since[1]}", sentence(change.text), change.source or "–"]
    (shown,) = [found[3] for found in ROWS if found[:3] == row]
    if change in kube_versions.CASES:
        assert shown == code(kube_versions.CASES[change])
    elif change in kube_versions.ANSWERS:
        assert shown.startswith(f"{code(kube_versions.ANSWERS[change][0])} (v")
    else:
        assert shown == ("runs" if change in kube_versions.OF_RUNS else "none")


def test_every_change_that_kube_scheduler_can_show_has_a_recorded_case_or_a_run():
    shown = kube_versions.CASES.keys() | kube_versions.ANSWERS.keys() | kube_versions.OF_RUNS
    assert set(ReleaseChange) - shown == kube_versions.UNSEEN == {ReleaseChange.NODE_NAME_FIRST}


@pytest.mark.parametrize("name", sorted(DECISIVE))
def test_every_gate_that_changes_decisions_stands_in_it_once_with_its_default_in_each_version(name):
    (row,) = [row for row in ROWS if row[0] == code(name)]
    gates = [gates_of(release.version).get(name) for release in RELEASES]
    assert [cell.split()[0] for cell in row[1:5]] == [
        "–" if gate is None else "on" if gate.default else "off" for gate in gates
    ]
    # what is modelled, or is not the same everywhere, is told in words
    assert (len(row) > 5) is (name in MODELLED or name in kube_versions.differing_gates())


def test_a_gate_that_is_gone_is_as_it_was_and_one_that_is_to_come_is_off():
    differing = kube_versions.differing_gates()
    assert {"StorageCapacityScoring", "NodeDeclaredFeatures"} <= set(differing)
    assert not {"SchedulerQueueingHints", "GangScheduling", "CompositePodGroup"} & set(differing)


def test_the_page_names_every_release():
    page = (DOCS / "kube-versions.md").read_text(encoding="utf-8")
    assert all(release.version in page for release in RELEASES)
