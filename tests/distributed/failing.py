"""Two processes, of which the second fails while the first is busy; see test_processes.py."""

import sys
import time

import numpy as np

import covector as cv
from covector.experimental import multihost_utils


def main(number, port):
    cv.distributed.initialize(f"localhost:{port}", 2, number)
    multihost_utils.process_allgather(np.float32(number))
    if number == 1:
        raise ValueError("no more data")
    time.sleep(60)
    print("finished")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
