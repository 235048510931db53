"""What it means to agree with kube-scheduler: nothing differs, and nothing is left open."""

from schedctl.conformance.differences import differences, not_modelled


def check(family, answers):
    """Assert that our answers to the cases of a family are theirs; `answers` are pairs of theirs and ours."""
    found, missing = [], []
    for theirs, ours in answers:
        found += map(str, differences(theirs, ours))
        missing += not_modelled(ours)
    assert not found, f"{len(found)} differences, the first:\n" + "\n".join(found[:5])
    assert not missing, f"{len(missing)} cycles of {family} are not modelled, the first:\n{missing[0]}"
