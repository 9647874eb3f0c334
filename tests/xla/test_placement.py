"""Where arrays lie and computations run, on four virtual devices of the CPU."""

import subprocess
import sys

import pytest

import covector as cv

SETUP = """
import numpy as np, covector as cv, covector.numpy as jnp
cv.config.update("jax_num_cpu_devices", 4)
devices = cv.devices()
x = cv.device_put(np.arange(3.0, dtype=np.float32), devices[2])
y = cv.device_put(np.arange(3.0, dtype=np.float32))
"""

CASES = {
    "there_are_four_devices": "assert len(devices) == cv.device_count() == 4",
    "put_commits": "assert x.committed and x.devices() == {devices[2]}",
    "without_a_device_nothing_is_committed": "assert not y.committed and y.device == devices[0]",
    "results_stay_with_committed_operands": (
        "z = x + y\nassert z.device == devices[2] and z.committed\n"
        "assert np.asarray(z).tolist() == [0, 2, 4]"
    ),
    "jitted_results_too": (
        "f = cv.jit(lambda a, b: a * b)\nassert f(x, y).device == devices[2]\n"
        "assert f(y, y).device == devices[0]\nassert f(x, y).committed and not f(y, y).committed"
    ),
    "repeated_calls_know_where_arrays_lie": (
        "f = cv.jit(lambda a, b: {'sum': a + b, 'one': a})\n"
        "near = cv.device_put(y, devices[0])\n"
        "for _ in range(3):\n"
        "    for a, b, device, committed in (\n"
        "        (y, y, 0, False), (near, y, 0, True), (y, near, 0, True), (near, near, 0, True),\n"
        "        (x, x, 2, True), (x, y, 2, True), (x, np.ones(3), 2, True), (y, 1.0, 0, False)\n"
        "    ):\n"
        "        for out in f(a, b).values():\n"
        "            assert out.device == devices[device] and out.committed == committed"
    ),
    "calls_with_committed_arrays_are_fast": (
        "from covector._src.base import events\n"
        "f = cv.jit(lambda a, b: a * b['c'])\nseen = []\n"
        "near = cv.device_put(y, devices[0])\n"
        "calls = ((near, {'c': near}), (near, {'c': y}), (x, {'c': x}))\n"
        "for a, b in calls: f(a, b)\n"
        "with events.listen(lambda event, _: seen.append(event)):\n"
        "    for a, b in calls: f(a, b)\n"
        "assert 'slow call' not in seen"
    ),
    "two_devices_in_one_computation_are_refused": (
        "z = cv.device_put(y, devices[1])\n"
        "for f in (lambda a, b: a + b, cv.jit(lambda a, b: a + b)):\n"
        "    try: f(x, z)\n"
        "    except ValueError as e:\n"
        "        assert 'incompatible devices' in str(e)\n"
        "        assert 'cpu:2' in str(e) and 'cpu:1' in str(e)\n"
        "    else: raise AssertionError"
    ),
    "the_default_device_is_where_new_arrays_go": (
        "with cv.default_device(devices[3]):\n"
        "    assert jnp.ones(2).device == devices[3] and (y + 1).device == devices[3]\n"
        "    assert cv.jit(lambda a: a + 1)(y).device == devices[3]\n"
        "    assert (x + 1).device == devices[2]\n"
        "assert jnp.ones(2).device == devices[0]"
    ),
    "a_jit_may_name_its_device": (
        "f = cv.jit(lambda a: a + 1, device=devices[1])\nassert f(y).device == devices[1]"
    ),
    "a_sharding_may_stand_for_a_device": (
        "s = cv.sharding.SingleDeviceSharding(devices[1])\nassert cv.device_put(y, s).sharding == s"
    ),
    "trees_take_trees_of_devices": (
        "out = cv.device_put({'a': y, 'b': (y, 1.0)}, {'a': devices[1], 'b': devices[3]})\n"
        "assert out['a'].device == devices[1] and out['b'][1].device == devices[3]"
    ),
    "gradients_of_a_transfer_are_the_identity": (
        "g = cv.grad(lambda a: jnp.sum(cv.device_put(a, devices[1]) ** 2))(y)\n"
        "assert np.asarray(g).tolist() == [0, 2, 4]"
    ),
    "a_donated_argument_is_deleted": (
        "f = cv.jit(lambda a: a + 1, donate_argnums=0)\nz = jnp.ones(4)\nf(z)\n"
        "assert z.is_deleted()\n"
        "try: z + 1\n"
        "except RuntimeError as e: assert 'donated' in str(e)\n"
        "else: raise AssertionError"
    ),
    "platforms_that_are_not_there_are_named": (
        "try: cv.devices('tpu')\n"
        "except RuntimeError as e: assert 'tpu' in str(e) and 'cpu' in str(e)\n"
        "else: raise AssertionError"
    ),
}


@pytest.fixture(scope="module")
def outcome():
    """All cases in one process, which alone can have four devices: name -> error."""
    code = SETUP + "import traceback, json\nfailed = {}\n"
    for name, body in CASES.items():
        code += f"try:\n    exec({body!r}, dict(globals()))\n"
        code += f"except Exception:\n    failed[{name!r}] = traceback.format_exc()\n"
    code += "print(json.dumps(failed))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return __import__("json").loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", CASES)
def test_placement(outcome, name):
    assert name not in outcome, outcome[name]


def test_an_array_that_is_where_it_is_wanted_stays_the_same():
    device = cv.devices()[0]
    x = cv.device_put(1.0, device)
    assert cv.device_put(x, device, may_alias=True) is x
    assert cv.device_put(x, cv.sharding.SingleDeviceSharding(device), may_alias=True) is x
