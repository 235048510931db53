"""A copied state has the same entries, and shares none that is written later."""

import pytest

from schedctl.framework.cycles import CycleState, StateKey

ONE, TWO = StateKey[int]("one"), StateKey[int]("two")


def write(state: CycleState) -> None:
    state[TWO] = 2


def replace(state: CycleState) -> None:
    state[ONE] = 2


def remove(state: CycleState) -> None:
    del state[ONE]


def take(state: CycleState) -> None:
    other = CycleState()
    other[TWO] = 2
    state.take(other)


@pytest.mark.parametrize("change", [write, replace, remove, take])
@pytest.mark.parametrize("which", ["copy", "original", "copy of a copy"])
def test_what_is_written_to_a_state_is_in_no_other(change, which):
    original = CycleState()
    original[ONE] = 1
    copy = original.copy()
    states = {"original": original, "copy": copy, "copy of a copy": copy.copy()}
    change(states.pop(which))
    assert all(state[ONE] == 1 and TWO not in state for state in states.values())
