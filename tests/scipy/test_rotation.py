"""Rotations in space against SciPy in double precision."""

import inspect

import numpy as np
import pytest
from scipy.spatial import transform as sp

import covector as cv
import covector.numpy as jnp
from covector.scipy.spatial.transform import Rotation, Slerp

RNG = np.random.default_rng(0)
QUATS = RNG.normal(size=(5, 4))
SHORT = 1e-5 * RNG.normal(size=(3, 3))


@pytest.fixture(scope="module", autouse=True)
def nothing_implicit():
    with cv.numpy_rank_promotion("raise"), cv.numpy_dtype_promotion("strict"), cv.enable_x64(True):
        yield


def same(got, want, rtol=1e-12, atol=1e-14):
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def same_rotations(got, want):
    """Quaternions of opposite signs are of the same rotation."""
    same(got.as_matrix(), want.as_matrix(), atol=1e-13)


@pytest.fixture(scope="module")
def ours():
    return Rotation.from_quat(QUATS)


@pytest.fixture(scope="module")
def theirs():
    return sp.Rotation.from_quat(QUATS)


# ---------------------------------------------------------------- representations


@pytest.mark.parametrize("name", ["as_quat", "as_matrix", "as_rotvec", "as_mrp", "magnitude"])
def test_representations(ours, theirs, name):
    same(getattr(ours, name)(), getattr(theirs, name)())
    same(getattr(ours[1], name)(), getattr(theirs[1], name)())


def test_options_of_representations(ours, theirs):
    same(ours.as_rotvec(degrees=True), theirs.as_rotvec(degrees=True))
    for options in [{"canonical": True}, {"scalar_first": True}]:
        same(ours.as_quat(**options), theirs.as_quat(**options))
    signs = np.array([[0, 0, -1.0, 0], [0, -1, 2, 0], [-1, 0, 0, 0], [1, 1, 1, -2], [0, 0, 0, 1]])
    want = sp.Rotation.from_quat(signs).as_quat(canonical=True)
    same(Rotation.from_quat(signs).as_quat(canonical=True), want)


def test_constructors(theirs):
    same_rotations(Rotation.from_matrix(theirs.as_matrix()), theirs)
    same_rotations(Rotation.from_mrp(theirs.as_mrp()), theirs)
    same_rotations(Rotation.from_rotvec(theirs.as_rotvec()), theirs)
    same_rotations(Rotation.from_rotvec(theirs.as_rotvec(degrees=True), degrees=True), theirs)


def test_matrices_of_half_turns():
    matrices = np.stack([np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])])
    same(Rotation.from_matrix(matrices).as_matrix(), matrices)


def test_small_rotations():
    vectors = np.concatenate([SHORT, np.zeros((1, 3)), 100 * SHORT])
    got = Rotation.from_rotvec(vectors)
    same(got.as_quat(), sp.Rotation.from_rotvec(vectors).as_quat(), rtol=1e-14)
    same(got.as_rotvec(), vectors, rtol=1e-14)


@pytest.mark.parametrize("seq", ["xyz", "zxz", "YZX", "ZYZ"])
def test_euler_angles(ours, theirs, seq):
    same(ours.as_euler(seq), theirs.as_euler(seq), atol=1e-13)
    angles = RNG.uniform(-400, 400, size=(3, 3))
    want = sp.Rotation.from_euler(seq, angles, degrees=True)
    same(Rotation.from_euler(seq, angles, degrees=True).as_quat(), want.as_quat())
    same_rotations(Rotation.from_euler(seq, want.as_euler(seq)), want)


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zxz", "ZXZ"])
@pytest.mark.parametrize("middle", ["low", "high"])
@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_degenerate_euler_angles(seq, middle):
    tait = seq.lower() == "xyz"
    angle = {"low": -90 if tait else 0, "high": 90 if tait else 180}[middle]
    want = sp.Rotation.from_euler(seq, [20, angle, 50], degrees=True)
    got = Rotation.from_quat(want.as_quat()).as_euler(seq, degrees=True)
    same(got, want.as_euler(seq, degrees=True), atol=1e-5)
    same(Rotation.from_euler(seq, got, degrees=True).as_matrix(), want.as_matrix(), atol=1e-7)


def test_euler_angles_about_fewer_axes():
    same(Rotation.from_euler("x", 0.3).as_quat(), sp.Rotation.from_euler("x", 0.3).as_quat())
    want = sp.Rotation.from_euler("x", [[0.3], [0.4]]).as_quat()
    same(Rotation.from_euler("x", [0.3, 0.4]).as_quat(), want)
    want = sp.Rotation.from_euler("ZY", [[1, 2]]).as_quat()
    same(Rotation.from_euler("ZY", np.array([[1, 2]])).as_quat(), want)


# ---------------------------------------------------------------- operations


def test_products_and_inverses(ours, theirs):
    same((ours * ours[::-1]).as_quat(), (theirs * theirs[::-1]).as_quat())
    same((ours[0] * ours).as_quat(), (theirs[0] * theirs).as_quat())
    same_rotations(ours.inv(), theirs.inv())
    with pytest.raises(TypeError):
        ours * 2.0


@pytest.mark.parametrize("inverse", [False, True])
def test_apply(ours, theirs, inverse):
    vectors = RNG.normal(size=(5, 3))
    same(ours.apply(vectors, inverse), theirs.apply(vectors, inverse))
    same(ours[2].apply(vectors, inverse), theirs[2].apply(vectors, inverse))
    same(ours.apply(vectors[0], inverse), theirs.apply(vectors[0], inverse))


def test_mean(ours, theirs):
    weights = np.arange(1.0, 6)
    same_rotations(ours.mean(), theirs.mean())
    same_rotations(ours.mean(weights), theirs.mean(weights))


def test_as_a_sequence(ours, theirs):
    assert len(ours) == 5 and not ours.single and ours[0].single
    same(ours[1:3].as_quat(), theirs[1:3].as_quat())
    both = Rotation.concatenate([ours, ours[0]])
    same(both.as_quat(), np.concatenate([theirs.as_quat(), theirs.as_quat()[:1]]))
    with pytest.raises(TypeError, match=r"single rotation has no len\(\)"):
        len(ours[0])
    with pytest.raises(TypeError, match="single rotation is not subscriptable"):
        ours[0][0]


def test_identity_and_dtypes():
    same(Rotation.identity().as_matrix(), np.eye(3))
    assert Rotation.identity(3).quat.shape == (3, 4)
    assert Rotation.identity(dtype=jnp.float32).as_rotvec().dtype == np.float32
    with cv.enable_x64(False):
        assert Rotation.from_euler("z", 90, degrees=True).quat.dtype == np.float32
        assert Rotation.from_rotvec(np.array([0, 0, 1])).quat.dtype == np.float32


def test_random_rotations():
    rotations = Rotation.random(cv.random.key(0), 4000)
    np.testing.assert_allclose(jnp.sum(rotations.quat**2, -1), 1, rtol=1e-12)
    # Where they bring a vector is on average 0, with a variance of a third along each axis.
    images = np.asarray(rotations.apply(np.array([1.0, 0, 0])))
    assert np.all(np.abs(images.mean(0)) < 5 / np.sqrt(3 * 4000))
    assert np.all(np.abs((images**2).mean(0) - 1 / 3) < 0.03)
    assert Rotation.random(cv.random.key(0)).single


# ---------------------------------------------------------------- transformations


def test_gradients_at_small_and_large_angles():
    def there_and_back(v):
        return Rotation.from_rotvec(v).as_rotvec()

    for v in [np.zeros(3), 1e-8 * np.ones(3), np.array([0.3, -1.0, 0.5])]:
        got = cv.jacrev(there_and_back)(v)
        np.testing.assert_allclose(got, np.eye(3), rtol=1e-10, atol=1e-12)


def test_gradient_of_a_rotated_vector():
    # At the identity the derivative of R(v) u is the product v x u.
    u = np.array([1.0, 2.0, 3.0])
    got = cv.jacfwd(lambda v: Rotation.from_rotvec(v).apply(u))(np.zeros(3))
    want = np.array([[0, u[2], -u[1]], [-u[2], 0, u[0]], [u[1], -u[0], 0]])
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def test_vmap_and_jit(ours):
    vectors = RNG.normal(size=(5, 3))
    got = cv.jit(cv.vmap(lambda r, v: r.apply(v)))(ours, vectors)
    same(got, ours.apply(vectors))
    assert isinstance(cv.jit(Rotation.inv)(ours), Rotation)


# ---------------------------------------------------------------- interpolation


def test_slerp(ours, theirs):
    times = np.array([0.0, 1.0, 2.5, 3.0, 7.0])
    places = RNG.uniform(0, 7, size=9)
    got, want = Slerp.init(times, ours), sp.Slerp(times, theirs)
    same_rotations(got(places), want(places))
    same_rotations(got(times), theirs)
    assert got(2.0).single
    same_rotations(cv.jit(lambda f, t: f(t))(got, 2.0), want(2.0))
    assert cv.jit(Slerp.init)(times, ours).rotvecs.shape == (4, 3)


def test_slerp_goes_on_steadily():
    slerp = Slerp.init([0, 1], Rotation.from_euler("z", [0, 30], degrees=True))
    got = slerp(jnp.array([-1.0, 2.0])).as_rotvec(degrees=True)
    same(got, [[0, 0, -30], [0, 0, 60]], atol=1e-12)


# ---------------------------------------------------------------- the interface, errors


@pytest.mark.parametrize("ours_", [Rotation, Slerp])
def test_signatures(jax, ours_):
    from jax.scipy.spatial import transform

    theirs = getattr(transform, ours_.__name__)
    assert ours_._fields == theirs._fields
    for name in [n for n in vars(theirs) if not n.startswith("_") and n not in theirs._fields]:
        if not callable(getattr(theirs, name)):
            continue
        got = inspect.signature(getattr(ours_, name)).parameters.values()
        want = inspect.signature(getattr(theirs, name)).parameters.values()
        assert [(p.name, p.default) for p in got] == [(p.name, p.default) for p in want], name


def test_errors(ours):
    for seq in ["", "xyzx", "xY", "xyw"]:
        with pytest.raises(ValueError, match="`seq` must name 1 to 3 axes"):
            Rotation.from_euler(seq, [1.0])
    with pytest.raises(ValueError, match="`seq` must name 3 axes"):
        ours.as_euler("xy")
    with pytest.raises(ValueError, match=r"differ from the one before it.*'xxy'"):
        ours.as_euler("xxy")
    with pytest.raises(ValueError, match=r"one for each of the axes 'xy'.*\(3,\)"):
        Rotation.from_euler("xy", [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"matrix must have shape \(..., 3, 3\).*\(2, 3\)"):
        Rotation.from_matrix(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"vectors must have shape \(..., 3\).*\(4,\)"):
        ours.apply(np.ones(4))
    with pytest.raises(ValueError, match=r"\(5, 3, 3\) and \(4, 3\) cannot be broadcast"):
        ours.apply(np.ones((4, 3)))
    with pytest.raises(ValueError, match="each of the 5 rotations"):
        ours.mean(np.ones(4))


def test_errors_of_slerp(ours):
    with pytest.raises(TypeError, match="of type ndarray"):
        Slerp.init([0, 1], QUATS)
    with pytest.raises(ValueError, match="at least 2 rotations"):
        Slerp.init([0], ours[:1])
    with pytest.raises(ValueError, match=r"each of the 5 rotations, but has shape \(2,\)"):
        Slerp.init([0, 1], ours)
    with pytest.raises(ValueError, match="times must increase"):
        Slerp.init([0, 1, 1, 2, 3], ours)
    with pytest.raises(ValueError, match="at most one dimension"):
        Slerp.init(np.arange(5), ours)(np.ones((2, 2)))
