"""What is said about dtypes that cannot be: whole texts, exception types, and places."""

import warnings

import numpy as np
import pytest

from covector._src.base import config, dtypes


def message(kind, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    return str(caught.value)


class Key(dtypes.ExtendedDType):
    __slots__ = ()
    type = dtypes.prng_key
    name = "key<test>"
    element_shape = (2,)
    element_dtype = np.dtype("uint32")


class Array:
    """What tells an array from other objects with a dtype."""

    dtype = np.dtype("float32")
    weak_type = False

    def __array__(self):
        return np.zeros((), self.dtype)


# ---------------------------------------------------------------- promotion


def test_narrow_dtypes_have_no_common_dtype():
    assert message(dtypes.TypePromotionError, dtypes.promote_types, "int8", "int4") == (
        "[dtype promotion] Input dtypes int4 and int8 have no available implicit dtype promotion "
        "path. 4-bit integers do not support implicit promotion. Convert an operand explicitly, as "
        "in `x.astype('float32')`."
    )
    for narrow, kind in (("float4_e2m1fn", "4-bit floats"), ("float8_e5m2", "8-bit floats")):
        text = message(dtypes.TypePromotionError, dtypes.promote_types, "float32", narrow)
        assert f"path. {kind} do not support implicit promotion." in text
    text = message(dtypes.TypePromotionError, dtypes.promote_types, "uint2", "float8_e5m2")
    assert "2-bit integers and 8-bit floats do not support implicit promotion" in text


def test_strict_mode():
    with config.numpy_dtype_promotion("strict"):
        text = message(dtypes.TypePromotionError, dtypes.result_type, "int32", "float32")
    assert text == (
        "[dtype promotion] Input dtypes float32 and int32 have no available implicit dtype "
        "promotion path when jax_numpy_dtype_promotion=strict. Convert an operand explicitly, as "
        "in `x.astype('float32')`, or use `covector.numpy_dtype_promotion('standard')`."
    )


def test_extended_dtypes_meet_only_themselves():
    assert message(dtypes.TypePromotionError, dtypes.result_type, Key(), np.float32(1)) == (
        "[dtype promotion] Values of dtype key<test> meet only values of the same dtype; there is "
        "no common dtype with others. Convert an operand explicitly."
    )


def test_a_promotion_error_is_a_type_error_and_a_value_error():
    for kind in (TypeError, ValueError):
        message(kind, dtypes.promote_types, "float8_e5m2", "float32")


def test_a_refused_pair_stays_refused():
    for _ in range(2):
        message(dtypes.TypePromotionError, dtypes.result_type, np.ones(1, dtypes.bfloat16), "int4")


def test_result_type_of_nothing():
    assert message(ValueError, dtypes.result_type) == (
        "[result_type] There is no argument. Give an array or a dtype, at least."
    )


# ---------------------------------------------------------------- what is no dtype


def test_not_a_dtype():
    for function, where in (
        (dtypes.canonicalize_dtype, "canonicalize_dtype"),
        (dtypes.dtype_of, "dtype"),
        (lambda x: dtypes.promote_types(x, "int8"), "promote_types"),
        (lambda x: dtypes.check_user_dtype_supported(x, "zeros"), "zeros"),
    ):
        assert message(TypeError, function, "floot32") == (
            f"[{where}] 'floot32' is not understood as a dtype. Give a NumPy dtype or scalar type, "
            "a name such as 'float32', or bool, int, float or complex."
        )


def test_a_value_without_a_dtype():
    assert message(TypeError, dtypes.dtype_of, [1, 2]) == (
        "[dtype] The value [1, 2] of type list has no dtype. Make it an array first, with "
        "`covector.numpy.asarray`."
    )


@pytest.mark.parametrize("dtype", ["S3", ">f4", "datetime64[D]", "O", np.longdouble])
def test_dtypes_that_arrays_cannot_have(dtype):
    text = (
        f" An array of dtype {np.dtype(dtype)} is not a valid JAX type. Supported are booleans, "
        "integers, floats and complex numbers in the machine's byte order, and strings."
    )
    check = dtypes.check_user_dtype_supported
    assert message(TypeError, dtypes.dtype_of, np.zeros(1, dtype)) == "[dtype]" + text
    assert message(TypeError, dtypes.dtype_of, dtype) == "[dtype]" + text
    assert message(TypeError, check, dtype, "zeros") == "[zeros]" + text
    assert not dtypes.is_supported(np.dtype(dtype))


def test_none():
    for function, where in (
        (dtypes.itemsize_bits, "itemsize_bits"),
        (dtypes.dtype_of, "dtype"),
        (lambda x: dtypes.check_user_dtype_supported(x, "full"), "full"),
    ):
        text = f"[{where}] The dtype is None. Give one, such as 'float32'."
        assert message(ValueError, function, None) == text


def test_an_array_as_a_dtype():
    check = dtypes.check_user_dtype_supported
    assert message(ValueError, check, Array(), "zeros") == (
        "[zeros] The dtype is an array of dtype float32. Pass its attribute `dtype` instead."
    )


def test_dtypes_of_the_wrong_sort():
    assert message(ValueError, dtypes.itemsize_bits, "S3") == (
        "[itemsize_bits] Elements of dtype |S3 have no fixed number of bits here. Give a boolean, "
        "integer, float or complex dtype."
    )
    message(ValueError, dtypes.itemsize_bits, Key())
    message(ValueError, dtypes.itemsize_bits, dtypes.float0)
    assert message(TypeError, dtypes.scalar_type_of, Key()) == (
        "[scalar_type_of] No Python number corresponds to dtype key<test>. Give a value or dtype "
        "that is boolean, integer, float or complex."
    )
    assert message(ValueError, dtypes.canonicalize_dtype, Key()) == (
        "[canonicalize_dtype] The extended dtype key<test> has no NumPy counterpart. Pass "
        "`allow_extended_dtype=True` to get it back as it is."
    )


def test_an_unknown_kind():
    text = message(ValueError, dtypes.isdtype, "int8", "integer")
    assert text == (
        "[isdtype] 'integer' is neither a dtype nor a kind of dtypes. The kinds are: 'bool', "
        "'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating', "
        "'numeric'."
    )
    message(TypeError, dtypes.isdtype, "int8", 3.5)
    message(TypeError, dtypes.issubdtype, object(), np.floating)


# ---------------------------------------------------------------- 64-bit dtypes while they are off


def test_a_64_bit_request_warns_at_the_users_line():
    with pytest.warns(UserWarning) as caught:
        assert dtypes.check_user_dtype_supported("float64", "zeros") == np.float32
    assert str(caught[0].message) == (
        "[zeros] Explicitly requested dtype float64 needs 64-bit mode, which is off; float32 "
        "is used in its place. To turn it on, call `covector.config.update('jax_enable_x64', "
        "True)` or set the environment variable COVECTOR_ENABLE_X64=1."
    )
    assert caught[0].filename == __file__


def test_64_bit_requests_as_the_flag_says():
    check = dtypes.check_user_dtype_supported
    with config.explicit_x64_dtypes("allow"):
        assert check("int64", "zeros") == np.int64
        assert dtypes.result_type(np.float64) == np.float64
    with config.explicit_x64_dtypes("error"):
        assert message(ValueError, check, np.complex128, "zeros") == (
            "[zeros] Explicitly requested dtype complex128 needs 64-bit mode, which is off, and "
            "`explicit_x64_dtypes` is 'error'. Call `covector.config.update('jax_enable_x64', "
            "True)`, or set that flag to 'allow'."
        )
        assert check("float32", "zeros") == np.float32
    with config.enable_x64(True):
        assert check("uint64", "zeros") == np.uint64


def test_what_is_no_request_does_not_warn():
    check = dtypes.check_user_dtype_supported
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [check(t, "zeros").name for t in (bool, int, float, complex)] == [
            *("bool", "int32", "float32", "complex64")
        ]
        assert dtypes.result_type(np.ones(2), np.arange(3)) == np.float32
        assert check(Key(), "zeros") == Key()
        assert check("int4", "zeros") == np.dtype("int4")
