"""How much of a capacity a request takes."""

import msgspec
import pytest

from schedctl.api.devices import DeviceCapacity
from schedctl.api.quantities import canonical, parse, representation
from schedctl.devices.capacity import CapacityError, Misfit, Portion, portions
from schedctl.devices.features import DeviceFeatures

DEFAULT = DeviceFeatures()
GI = 2**30 * 10**9
NOT_REPRESENTABLE = 'capacity "memory": capacity request cannot be represented in the device\'s range arithmetic: '


def portions_of(requested, policy=None, value="16Gi", features=DEFAULT):
    offered = msgspec.convert({"memory": {"value": value, "requestPolicy": policy}}, dict[str, DeviceCapacity])
    return portions(None if requested is None else {"memory": requested}, offered, features)


def limits(least, step=None, most=None, default=None):
    return {"default": default, "validRange": {"min": least, "step": step, "max": most}}


@pytest.mark.parametrize(
    ("requested", "policy", "quantity"),
    [
        pytest.param(None, None, "16Gi", id="who asks for nothing takes all"),
        pytest.param(None, {"default": "2Gi"}, "2Gi", id="or the policy's default"),
        pytest.param("3Gi", None, "3Gi", id="without a policy anything goes"),
        pytest.param("3Gi", {"default": "2Gi"}, "3Gi", id="a default forbids nothing"),
        pytest.param("3Gi", {"validValues": ["2Gi", "4Gi"]}, "4Gi", id="values are rounded up to"),
        pytest.param("1Gi", limits("2Gi"), "2Gi", id="what is less than the minimum becomes it"),
        pytest.param("3Gi", limits("2Gi"), "3Gi", id="without a step any amount from the minimum on"),
        pytest.param("5Gi", limits("2Gi", step="2Gi"), "6Gi", id="steps are counted from the minimum"),
        pytest.param("6Gi", limits("2Gi", step="2Gi"), "6Gi", id="a whole number of steps stays"),
        pytest.param("1500m", limits("500m", step="500m"), "2", id="fractions round up to whole units"),
        pytest.param("3", limits("1", step="1k"), "1001", id="results are in the format of the step"),
    ],
)
def test_requests_are_rounded_up_to_what_the_policy_allows(requested, policy, quantity):
    (portion,) = portions_of(requested, policy)
    assert portion == Portion("memory", int(parse(quantity).value * 10**9), 16 * GI, portion.quantity)
    assert portion.quantity == quantity


@pytest.mark.parametrize(
    ("requested", "policy"),
    [
        pytest.param("5Gi", {"validValues": ["2Gi", "4Gi"]}, id="more than the largest value"),
        pytest.param("5Gi", limits("1Gi", most="4Gi"), id="more than the maximum"),
        pytest.param("3Gi", limits("1Gi", step="2Gi", most="2Gi"), id="a step beyond the maximum"),
        pytest.param(None, limits("1Gi", most="4Gi"), id="all there is, where that is more than the maximum"),
        pytest.param(None, limits("1", step="2"), id="all there is, between two steps"),
        pytest.param("1000m", limits("2", default="1", most="1"), id="the default in other words is not the default"),
    ],
)
def test_an_amount_that_the_policy_forbids_is_a_misfit(requested, policy):
    assert portions_of(requested, policy) == Misfit("memory", missing=False)


def test_the_default_as_written_is_allowed_whatever_the_limits():
    (portion,) = portions_of(None, limits("2", default="1", most="1"))
    assert portion.quantity == "1"


def test_a_capacity_that_the_device_lacks_is_a_misfit():
    assert portions({"cores": "1"}, None, DEFAULT) == Misfit("cores", missing=True)


@pytest.mark.parametrize(
    ("requested", "policy", "text"),
    [
        pytest.param(
            "10E", limits("1", step="1"), f"{NOT_REPRESENTABLE}request 10E exceeds MaxInt64", id="beyond int64"
        ),
        pytest.param(
            "9223372036854775807",
            limits("0", step="2"),
            f"{NOT_REPRESENTABLE}rounding request 9223372036854775807 up to the next step passes MaxInt64",
            id="rounded beyond int64",
        ),
        pytest.param("-1", None, 'capacity "memory": capacity value is negative', id="negative"),
    ],
)
def test_amounts_beyond_int64_or_below_zero_are_errors(requested, policy, text):
    with pytest.raises(CapacityError) as caught:
        portions_of(requested, policy)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("1", "1", True, id="the same text"),
        pytest.param("1", "1000m", False, id="another scale"),
        pytest.param("1Gi", "1024Mi", False, id="one text is canonical, so Go keeps it"),
        pytest.param("8Gi", "8192Mi", True, id="neither text is kept, and both are the same number"),
        pytest.param("1073741824", "1Gi", False, id="another format"),
        pytest.param("1e3", "1k", False, id="an exponent is a format, too"),
        pytest.param("1.0", "1", False, id="another precision"),
    ],
)
def test_go_compares_quantities_as_written(one, other, same):
    assert (representation(one) == representation(other)) is same


def test_a_big_decimal_is_never_the_same():
    assert representation("12345678901234567890") is None


@pytest.mark.parametrize(
    ("text", "written", "printed"),
    [
        pytest.param("10240Mi", "BinarySI", "10Gi", id="powers of 1024 become a suffix"),
        pytest.param("1000", "BinarySI", "1k", id="less than 1024 is written in tens"),
        pytest.param("1025", "BinarySI", "1025", id="what is no multiple stays"),
        pytest.param("1500", "DecimalSI", "1500", id="exponents are multiples of three"),
        pytest.param("0.5", "DecimalSI", "500m", id="fractions become smaller units"),
        pytest.param("1200000", "DecimalExponent", "1200e3", id="an exponent"),
        pytest.param("1e21", "DecimalSI", "1", id="beyond the last suffix the magnitude is lost, as in Go"),
        pytest.param("-0", "DecimalSI", "0", id="nothing"),
    ],
)
def test_amounts_are_printed_in_canonical_form(text, written, printed):
    assert canonical(parse(text), written) == printed
