"""Loops that look for what is equal answer as if they had looked at every element."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedctl.cel import values
from schedctl.cel.budgets import Budget
from schedctl.cel.declarations import Environment
from schedctl.cel.programs import Program, check_text
from schedctl.cel.syntax import Source
from schedctl.cel.types import DYN
from schedctl.policy.functions import functions

CONDITIONS = [
    "p.name == one.name",
    "one.name == p.name",
    "p.ready && p.name == one.name",
    "p.name == one.name && p.ready",
    "p.node.name == one.node.name",
    "p.name == one.name || p.ready",
    "!(p.name != one.name) && p.ready",
    "p.name != one.name",
    "!(p.name == one.name) || p.ready",
    "p.name != one.name || p.ready",
    "p.name == 'a'",
]
LOOPS = [
    "all.exists(p, {0})",
    "all.all(p, {0})",
    "all.exists_one(p, {0})",
    "all.filter(p, {0}).size()",
    "all.map(p, {0}, p.name)",
    "all.all(q, all.exists(p, ({0}) && q.name == p.name))",
    "one.name in all.map(p, p.name)",
]
ELEMENTS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", "c", 1, None]),
        "ready": st.sampled_from([True, False, "no"]),
        "node": st.fixed_dictionaries({}, optional={"name": st.sampled_from(["n", "m"])}),
    },
)


def answer(text: str, inputs: tuple[values.Value, ...], recurring: frozenset[str], budget: Budget | None) -> list[str]:
    environment = Environment({"all": DYN, "one": DYN}, functions(), budget=budget, recurring=recurring)
    program = Program(check_text(Source(text), environment), environment)
    everything, objects = inputs
    found = []
    for one in objects:
        if budget is not None:
            budget.renew()
        value = program.evaluate(everything, one)
        found.append(f"failure: {value.text}" if isinstance(value, values.Failure) else repr(value))
    return found


@pytest.mark.parametrize("loop", LOOPS)
@given(st.sampled_from(CONDITIONS), st.lists(ELEMENTS, max_size=5), st.lists(ELEMENTS, min_size=1, max_size=3))
def test_a_loop_over_a_list_that_recurs_answers_as_one_that_looks_at_every_element(loop, condition, elements, objects):
    text = loop.format(condition)

    def inputs():
        return values.from_json(elements), [values.from_json(each) for each in objects]

    plain = answer(text, inputs(), frozenset(), None)
    assert answer(text, inputs(), frozenset({"all"}), Budget(1_000_000)) == plain
