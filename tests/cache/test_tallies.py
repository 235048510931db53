"""A tally says what a plain column of numbers says, however few or many of these are not 0."""

import numpy as np
import pytest

from schedctl.cache.tallies import Tally

FEW, MANY = 20, 400


def check(tally, column):
    everywhere, here = np.arange(len(column)), np.array([len(column) - 1, 0, 7, 7])
    assert tally.array.tolist() == column
    assert [tally.item(index) for index in range(len(column))] == column
    for indices in (here, everywhere, np.concatenate((everywhere, here))):
        assert tally.at(indices).tolist() == [column[index] for index in indices]
        assert tally.positive_at(indices).tolist() == [column[index] > 0 for index in indices]
    indices, numbers = tally.some
    written = {i: n for i, n in enumerate(column) if n}
    assert dict(zip(indices.tolist(), numbers.tolist(), strict=True)) == written
    few = tally.few(FEW)
    assert few is None if len(written) > FEW or not tally.is_sparse else dict(few) == written


@pytest.mark.parametrize("size", [10, 1000], ids=["a short column", "a long one"])
@pytest.mark.parametrize("steps", [FEW, MANY], ids=["few", "many"])
def test_numbers_are_added_one_by_one(size, steps):
    chance = np.random.default_rng(steps)
    tally, column = Tally(size), [0] * size
    assert len(tally) == size
    for index, amount in zip(chance.integers(0, size, steps).tolist(), chance.integers(-2, 4, steps), strict=True):
        column[index] += int(amount)
        assert tally.add(index, int(amount)) == column[index]
    check(tally, column)
    for index, number in enumerate(column):
        tally.add(index, -number)
    check(tally, [0] * size)


@pytest.mark.parametrize("size", [10, 1000], ids=["a short column", "a long one"])
@pytest.mark.parametrize("number", [0, FEW, MANY], ids=["none", "few", "many"])
def test_numbers_are_added_at_once(size, number):
    chance = np.random.default_rng(number)
    indices, amounts = chance.integers(0, size, number), chance.integers(1, 4, number)
    tally, column = Tally(size), np.bincount(indices, amounts, minlength=size).astype(int).tolist()
    tally.add_all(indices, amounts)
    check(tally, column)
    tally.add_all(indices, -1)
    check(tally, (np.array(column) - np.bincount(indices, minlength=size)).tolist())


def test_a_long_column_is_sparse_until_many_numbers_are_not_0():
    tally = Tally(1000)
    tally.add_all(np.arange(5), 1)
    assert tally.is_sparse
    tally.add_all(np.arange(500), 1)
    assert not tally.is_sparse
    assert not Tally(10).is_sparse
