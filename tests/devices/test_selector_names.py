"""The attributes and capacities that a selector names, however they are written."""

import pytest

from schedctl.devices.selector_names import Named, names_in

MODEL, MEMORY = Named("attributes", "gpu.example.com", "model"), Named("capacity", "gpu.example.com", "memory")


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        pytest.param("device.attributes['gpu.example.com'].model == 'a'", (MODEL,), id="a field"),
        pytest.param("device.attributes['gpu.example.com']['model'] == 'a'", (MODEL,), id="an index"),
        pytest.param(
            "device.attributes['gpu.example.com'].?model.orValue('') == 'a'", (MODEL,), id="an optional field"
        ),
        pytest.param("device.attributes[?'gpu.example.com'].?model == 'a'", (MODEL,), id="an optional index"),
        pytest.param("has(device.attributes['gpu.example.com'].model)", (MODEL,), id="whether there is one"),
        pytest.param(
            "device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('1Gi'))"
            " && device.attributes['gpu.example.com'].model in ['a']"
            " && device.attributes['gpu.example.com'].model != 'b'",
            (MEMORY, MODEL),
            id="each once, capacities too",
        ),
        pytest.param("device.driver == 'gpu.example.com'", (), id="the driver is neither"),
        pytest.param(
            "cel.bind(a, device.attributes['gpu.example.com'], a.model == 'b')", (), id="not through a variable"
        ),
        pytest.param("device.attributes[", (), id="nothing in what is no expression"),
    ],
)
def test_names_are_read_off_the_expression(expression, names):
    assert names_in(expression) == names
