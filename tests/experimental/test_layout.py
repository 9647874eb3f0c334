"""Orders of elements in memory, as far as one may ask for them."""

import numpy as np
import pytest

import covector as cv
from covector.experimental.layout import Format, Layout


def test_arrays_are_put_where_a_format_says():
    sharding = cv.sharding.SingleDeviceSharding(cv.devices()[0])
    x = np.ones((2, 3), np.float32)
    for layout in (None, Layout((0, 1))):
        y = cv.device_put(x, Format(layout, sharding))
        assert y.committed and y.format == Format(Layout((0, 1)), sharding)
    assert not cv.device_put(x, Format()).committed
    assert cv.tree.leaves(Format(None, sharding)) == [Format(None, sharding)]
    pair = cv.device_put({"a": x, "b": 1.0}, {"a": Format(None, sharding), "b": None})
    assert pair["a"].committed and not pair["b"].committed
    with pytest.raises(NotImplementedError, match="last dimension innermost"):
        cv.device_put(x, Format(Layout((1, 0)), sharding))
