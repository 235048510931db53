"""Instance types as people export them, and every way in which such a file can be wrong."""

from __future__ import annotations

import json

import pytest

from schedctl.autoscaling.instance_types import load
from schedctl.errors import InputError

GIB = 1 << 30


def test_the_fixture_has_sizes_zones_and_prices():
    types = load("fixtures/autoscalers/instance-types.csv").types
    large = types["m6i.large"]
    assert (large.cpu, large.memory, large.pods, large.architecture) == (2000, 8 * GIB, 29, "amd64")
    assert (large.price(), large.price(spot=True)) == (0.1, 0.04)
    assert types["g5.2xlarge"].gpu == 1
    assert types["r6i.2xlarge"].price(spot=True) is None


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        pytest.param("name,cpu,memory\nx,2,8Gi\n", 8 * GIB, id="quantities"),
        pytest.param("Instance Type,vCPUs,Memory (GiB)\nx,2,8\n", 8 * GIB, id="heads of a spreadsheet"),
        pytest.param("instanceType;vcpu;memoryMiB\nx;2;8192\n", 8 * GIB, id="semicolons"),
        pytest.param("\ufeffname,cpu,memory\n# a comment\n\nx,2,8Gi\n", 8 * GIB, id="a byte order mark and comments"),
        pytest.param(json.dumps([{"name": "x", "cpu": 2, "memory": "8Gi"}]), 8 * GIB, id="a list in JSON"),
        pytest.param(json.dumps({"instanceTypes": [{"name": "x", "cpu": 2, "memoryGiB": 8}]}), 8 * GIB, id="an object"),
    ],
)
def test_forms_in_which_people_have_them(text, memory, written):
    found = load(written(text)).types["x"]
    assert (found.cpu, found.memory) == (2000, memory)


def test_rows_of_one_name_are_prices_in_other_zones(written):
    text = "name,cpu,memory,zones,pricePerHour,spot\nx,2,8Gi,a,0.1,false\nx,2,8Gi,b,0.2,false\nx,2,8Gi,a,0.03,true\n"
    found = load(written(text)).types["x"]
    assert (found.price("a"), found.price("b"), found.price("a", spot=True)) == (0.1, 0.2, 0.03)
    assert found.price("b", spot=True) is None
    assert found.zones == ("a", "b")


@pytest.mark.parametrize(
    ("text", "place", "message", "hint"),
    [
        ("", ":", "no instance type in the file", "its columns are"),
        ("nme,cpu,memory\nx,2,8Gi\n", ":1:1: nme:", 'unknown column "nme"', "did you mean name?"),
        ("name,cpu,memory,prize\nx,2,8Gi,1\n", ":1:1: prize:", 'unknown column "prize"', "did you mean pricePerHour?"),
        ("name,memory\nx,8Gi\n", ":1:1: cpu:", 'no column "cpu"', ""),
        ("name,cpu,memory\nx,two,8Gi\n", ":2:1: cpu:", '"two" is not an amount', "a quantity, e.g. 4 or 16Gi"),
        ("name,cpu,memory\nx,2,\n", ":2:1: memory:", 'the field "memory" is required', ""),
        ("name,cpu,memory\n,2,8Gi\n", ":2:1: name:", "an instance type has no name", ""),
        ("name,cpu,memory,pricePerHour\nx,2,8Gi,free\n", ":2:1: pricePerHour:", '"free" is not a price', ""),
        ("name,cpu,memory\nx,2,8Gi\nx,4,8Gi\n", ":3:1: name:", "x has another size here than in", ""),
        ("[", ":1:2", "this is not JSON", ""),
        ("{}", ":", "expected a list of instance types", ""),
        ("[3]", ":", "expected an object", ""),
        ("name,cpu,memoryGiB\nx,2,inf\n", ":2:1: memoryGiB:", '"inf" is not an amount', ""),
        (f'name,cpu,memory\n"{"x" * 200_000}",2,8Gi\n', ":2", "this is not CSV: field larger", "a quote left open"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text, place, message, hint, written):
    path = written(text)
    with pytest.raises(InputError) as caught:
        load(path)
    problem = next(each for each in caught.value.problems if message in each.message)
    assert place in str(problem).removeprefix(path)
    assert hint in problem.hint


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(InputError, match="cannot be read"):
        load("nowhere.csv")


def test_bytes_that_are_no_text_are_told(tmp_path):
    path = tmp_path / "types.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        load(str(path))
