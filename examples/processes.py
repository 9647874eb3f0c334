"""Training with the data of several processes.

    python examples/processes.py

starts two processes of this very script on this machine. On several machines the script is started
once on each of them, with the address of the first one, how many there are, and which one this is:

    python train.py 10.0.0.1:1234 2 0

The processes meet, each brings the examples that it has, and all compute one program together.
"""

import socket
import subprocess
import sys

import numpy as np

import covector as cv
import covector.numpy as jnp
from covector.sharding import Mesh, NamedSharding
from covector.sharding import PartitionSpec as P

STEPS = 50


def examples(process: int) -> tuple[np.ndarray, np.ndarray]:
    """What one process has read: 64 points of the plane, and the values of a function there."""
    rng = np.random.default_rng(process)
    points = rng.uniform(-1, 1, (64, 2)).astype(np.float32)
    return points, np.sin(3 * points[:, :1]) * points[:, 1:]


def loss(params, batch):
    points, values = batch
    hidden = jnp.tanh(points @ params["w1"] + params["b1"])
    return jnp.mean((hidden @ params["w2"] - values) ** 2)


@cv.jit(donate_argnums=0)
def step(params, batch):
    value, grads = cv.value_and_grad(loss)(params, batch)
    return cv.tree.map(lambda p, g: p - 0.2 * g, params, grads), value


def train(coordinator: str, num_processes: int, process_id: int) -> None:
    cv.distributed.initialize(coordinator, num_processes, process_id)
    mesh = Mesh(np.array(cv.devices()), ("data",))
    cut, whole = NamedSharding(mesh, P("data")), NamedSharding(mesh, P())
    here = f"process {cv.process_index()} of {cv.process_count()}"
    print(f"{here}: {cv.local_device_count()} of {cv.device_count()} devices")

    k1, k2 = cv.random.split(cv.random.key(0))  # all processes have the same keys,
    params = {
        "w1": cv.random.normal(k1, (2, 32)),
        "b1": jnp.zeros(32),
        "w2": cv.random.normal(k2, (32, 1)) / 6,
    }
    params = cv.device_put(params, whole)  # and so the same parameters; each has its own examples
    batch = cv.make_array_from_process_local_data(cut, examples(process_id))
    print(f"{here}: a batch of shape {batch[0].shape}, {batch[0]}")
    for number in range(STEPS + 1):
        params, value = step(params, batch)
        if number in (0, STEPS):
            print(f"{here}: step {number}, loss {float(value):.3f}")


def start(num_processes: int) -> int:
    """Start processes of this script, and show what they print, one after the other."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{sock.getsockname()[1]}"
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, coordinator, str(num_processes), str(i)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for i in range(num_processes)
    ]
    for process in processes:
        print(process.communicate()[0], end="")
    return max(process.returncode for process in processes)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(start(2))
    train(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
