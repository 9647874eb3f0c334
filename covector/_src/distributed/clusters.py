"""What the schedulers of clusters tell the processes of a job, in the environment.

Each kind of job answers the same questions: whether this process runs in one, where the coordinator
is to be, how many processes there are, which of them this is, and which of those on its machine.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import socket
import zlib
from typing import Any, Protocol

from ..base import process_errors as errors

# Ports for the coordinator: the last ones of those that systems hand out for short use, one of
# which each job takes by its number, so that two jobs on a machine rarely take the same.
_FIRST_PORT, _PORTS = 61440, 4096


class Job(Protocol):
    """A kind of job."""

    name: str
    title: str
    must_be_asked_for: bool

    def is_here(self) -> bool: ...

    def coordinator_host(self) -> str: ...

    def number(self) -> int: ...

    def num_processes(self) -> int: ...

    def process_id(self) -> int: ...

    def local_process_id(self) -> int | None: ...


def _number_in(variable: str) -> int:
    text = os.environ.get(variable, "")
    try:
        return int(text)
    except ValueError:
        raise ValueError(errors.not_understood(variable, text, "number")) from None


class Slurm:
    """Processes started by SLURM's `srun`. Source: the manual page srun(1), "Output environment".

    The hosts stand in a list such as `gpu[07-09,12],login`, the first of them first.
    """

    name = "slurm"
    title = "SLURM"
    must_be_asked_for = False
    _VARIABLES = ("JOB_ID", "STEP_NODELIST", "NTASKS", "PROCID", "LOCALID")

    def is_here(self) -> bool:
        return all(f"SLURM_{name}" in os.environ for name in self._VARIABLES)

    def coordinator_host(self) -> str:
        text = os.environ["SLURM_STEP_NODELIST"]
        found = re.match(r"([^,\[\]]+)(?:\[([^\],-]+))?", text)
        if found is None:
            raise ValueError(errors.not_understood("SLURM_STEP_NODELIST", text, "host"))
        return found[1] + (found[2] or "")

    def number(self) -> int:
        return _number_in("SLURM_JOB_ID")

    def num_processes(self) -> int:
        return _number_in("SLURM_NTASKS")

    def process_id(self) -> int:
        return _number_in("SLURM_PROCID")

    def local_process_id(self) -> int | None:
        return _number_in("SLURM_LOCALID")


class OpenMPI:
    """Processes started by `mpirun` of Open MPI, up to its version 4.

    The launcher's address is `<job number>.0;tcp://<address>[,<address>...]:<port>`; addresses of
    version 6 stand in brackets. The number counts in steps of 4096.
    """

    name = "ompi"
    title = "Open MPI"
    must_be_asked_for = False
    _LAUNCHER = "OMPI_MCA_orte_hnp_uri"

    def is_here(self) -> bool:
        return self._LAUNCHER in os.environ

    def coordinator_host(self) -> str:
        text = os.environ[self._LAUNCHER]
        found = re.search(r"tcp6?://(?:\[([^\],]+)|([^,:\[\]]+))", text)
        if found is None:
            raise ValueError(errors.not_understood(self._LAUNCHER, text, "address"))
        return found[1] or found[2]

    def number(self) -> int:
        text = os.environ[self._LAUNCHER]
        digits = re.match(r"\d+", text)
        if digits is None:
            raise ValueError(errors.not_understood(self._LAUNCHER, text, "number of the job"))
        return int(digits[0]) // 4096

    def num_processes(self) -> int:
        return _number_in("OMPI_COMM_WORLD_SIZE")

    def process_id(self) -> int:
        return _number_in("OMPI_COMM_WORLD_RANK")

    def local_process_id(self) -> int | None:
        return _number_in("OMPI_COMM_WORLD_LOCAL_RANK")


class MPI4Py:
    """Processes of any MPI, which the package `mpi4py` asks; only if the user says so."""

    name = "mpi4py"
    title = "mpi4py"
    must_be_asked_for = True

    def is_here(self) -> bool:
        return importlib.util.find_spec("mpi4py") is not None

    def _mpi(self) -> Any:
        return importlib.import_module("mpi4py.MPI")

    def coordinator_host(self) -> str:
        return self._mpi().COMM_WORLD.bcast(socket.gethostname(), root=0)

    def number(self) -> int:
        return zlib.crc32(self.coordinator_host().encode())

    def num_processes(self) -> int:
        return self._mpi().COMM_WORLD.Get_size()

    def process_id(self) -> int:
        return self._mpi().COMM_WORLD.Get_rank()

    def local_process_id(self) -> int | None:
        mpi = self._mpi()
        return mpi.COMM_WORLD.Split_type(mpi.COMM_TYPE_SHARED).Get_rank()


class Kubernetes:
    """Pods of an indexed job of Kubernetes.

    A pod knows its index from the environment. How many there are, and under which name the first
    one is reached, only the cluster's server knows: those the user has to write into the job.
    """

    name = "k8s"
    title = "Kubernetes"
    must_be_asked_for = False
    _INDEX = "JOB_COMPLETION_INDEX"

    def is_here(self) -> bool:
        return "KUBERNETES_SERVICE_HOST" in os.environ and self._INDEX in os.environ

    def _not_told(self, *missing: str) -> ValueError:
        advice = (
            "Pass it to `initialize`, or write it into the job's `env`: JAX_COORDINATOR_ADDRESS as "
            "'<job>-0.<service>:<port>', of a headless service, and JAX_NUM_PROCESSES."
        )
        return ValueError(errors.not_told_by_job(self.title, missing, advice))

    def coordinator_host(self) -> str:
        raise self._not_told("coordinator_address")

    def number(self) -> int:
        raise self._not_told("coordinator_address")

    def num_processes(self) -> int:
        raise self._not_told("num_processes")

    def process_id(self) -> int:
        return _number_in(self._INDEX)

    def local_process_id(self) -> int | None:
        return None


JOBS: tuple[Job, ...] = (OpenMPI(), Slurm(), MPI4Py(), Kubernetes())


def job_here(method: str | None) -> Job | None:
    """The job in which this process runs, of the kind that is asked for, or of any.

    Raises:
      ValueError: there is no such kind, or the process runs in no job of it.
    """
    if method == "deactivate":
        return None
    if method is None:
        return next((job for job in JOBS if not job.must_be_asked_for and job.is_here()), None)
    chosen = next((job for job in JOBS if job.name == method), None)
    if chosen is None:
        raise ValueError(errors.not_a_method(method, [job.name for job in JOBS]))
    if not chosen.is_here():
        raise ValueError(errors.not_such_a_job(method))
    return chosen


def coordinator_of(job: Job, port: str | None) -> str:
    """The address at which the coordinator of a job is to be, on the same port in all processes."""
    host = job.coordinator_host()
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{port or _FIRST_PORT + job.number() % _PORTS}"
