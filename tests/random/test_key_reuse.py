"""With `debug_key_reuse`, a key that is used twice is an error."""

import pytest

import covector as cv
import covector.numpy as jnp
from covector import lax, random
from covector.errors import KeyReuseError


@pytest.fixture(autouse=True)
def watching():
    with cv.debug_key_reuse(True):
        yield


def draw_twice(key):
    return random.bits(key) + random.bits(key)


def split_and_draw(key):
    random.split(key)
    random.bits(key)


def draw_in_program_twice(key):
    program = cv.jit(random.bits)
    program(key)
    program(key)


def draw_in_closure_twice(key):
    program = cv.jit(lambda: random.uniform(key))
    program()
    program()


def draw_in_branch_and_after(key):
    program = cv.jit(
        lambda go, key: lax.cond(go, random.uniform, lambda k: 0.0, key) + random.uniform(key)
    )
    program(True, key)


def draw_each_then_one(key):
    keys = random.split(key, 3)
    cv.vmap(random.bits)(keys)
    random.bits(keys[0])


REUSED = {
    "bits": (draw_twice, "Previously-consumed key passed to random_bits at index 0"),
    "split": (split_and_draw, "Previously-consumed key passed to random_bits"),
    "program": (draw_in_program_twice, "passed to jit-compiled function at index 0"),
    "closure": (draw_in_closure_twice, "passed to jit-compiled function at index 0"),
    "inside": (
        cv.jit(draw_twice),
        "In random_bits, argument 0 is already consumed.*test_key_reuse",
    ),
    "branch": (draw_in_branch_and_after, "In jit, argument 0 is already consumed"),
    "element": (draw_each_then_one, "Previously-consumed key"),
    "scan": (
        lambda key: lax.scan(lambda c, _: (c + random.uniform(key), None), 0.0, None, length=2),
        "scan body function leads to key reuse",
    ),
    "while body": (
        lambda key: lax.while_loop(lambda i: i < 3, lambda i: i + random.randint(key, (), 1, 2), 0),
        "while_loop body function leads to key reuse",
    ),
    "while condition": (
        lambda key: lax.while_loop(lambda i: i < random.randint(key, (), 1, 2), lambda i: i + 1, 0),
        "while_loop cond function leads to key reuse",
    ),
}


@pytest.mark.parametrize("name", REUSED)
def test_reuse_is_noticed(name):
    program, text = REUSED[name]
    with pytest.raises(KeyReuseError, match=text):
        program(random.key(0))


def draw_from_halves(key):
    first, second = random.split(key)
    return random.bits(first) + random.bits(second)


def draw_from_clone(key):
    return random.bits(key) + random.bits(random.clone(key))


ALLOWED = {
    "halves": draw_from_halves,
    "halves inside": cv.jit(draw_from_halves),
    "clone": draw_from_clone,
    "clone inside": cv.jit(draw_from_clone),
    "fold_in": lambda key: [random.bits(random.fold_in(key, i)) for i in range(3)],
    "elements": lambda key: [random.bits(k) for k in random.split(key, 3)],
    "batch": lambda key: cv.vmap(random.uniform)(random.split(key, 3)),
    "carry": lambda key: lax.scan(lambda k, _: (random.split(k)[0], None), key, None, length=2),
    "steps": lambda key: lax.scan(lambda c, k: (c, random.bits(k)), 0, random.split(key, 3)),
    "branches": lambda key: lax.cond(True, random.uniform, lambda k: random.normal(k), key),
    "gradient": lambda key: cv.grad(lambda x, k: x * random.normal(k))(1.0, key),
    "raw": lambda key: [random.uniform(random.PRNGKey(0)) for _ in range(2)],
    "equality": lambda key: (key == key, random.bits(key)),
    "no keys": lambda key: cv.vmap(draw_from_halves)(random.split(key, 0)),
}
SAMPLERS = {
    "permutation": lambda key: random.permutation(key, 5),
    "choice": lambda key: random.choice(key, 5, (2,), replace=False, p=jnp.ones(5) / 5),
    "gamma": lambda key: random.gamma(key, 2.0),
    "poisson": lambda key: random.poisson(key, 3.0),
    "binomial": lambda key: random.binomial(key, 50, 0.3),
    "complex": lambda key: random.normal(key, (), "complex64"),
    "randint": lambda key: random.randint(key, (), 0, 5),
}


@pytest.mark.parametrize("name", [*ALLOWED, *SAMPLERS])
def test_what_uses_each_key_once_is_allowed(name):
    (ALLOWED | SAMPLERS)[name](random.key(0))


def test_nothing_is_remembered_without_the_flag():
    key = random.key(0)
    with cv.debug_key_reuse(False):
        draw_twice(key)
    random.bits(key)
