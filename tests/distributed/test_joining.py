"""What `distributed.initialize` makes of its arguments and of the environment."""

import inspect

import pytest

import covector as cv
from covector._src.as_jax.private import PRIVATE_MODULES
from covector._src.distributed import clusters, initialize

jax = pytest.importorskip("jax")

SLURM = {
    "SLURM_JOB_ID": "70001",
    "SLURM_STEP_NODELIST": "gpu[07-09,12],login",
    "SLURM_NTASKS": "8",
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
}
OPEN_MPI = {
    "OMPI_MCA_orte_hnp_uri": "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_COMM_WORLD_RANK": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "0",
}
KUBERNETES = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "JOB_COMPLETION_INDEX": "3"}


@pytest.fixture
def environment(monkeypatch):
    """Sets variables; there are none of any job otherwise."""
    for name in [*SLURM, *OPEN_MPI, *KUBERNETES]:
        monkeypatch.delenv(name, raising=False)

    def set_all(variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return set_all


@pytest.fixture
def joined(environment, monkeypatch):
    """What `initialize` would connect with, in a process that has used no device."""
    calls = []
    monkeypatch.setattr(initialize, "any_started", lambda: False)
    monkeypatch.setattr(initialize, "connect", lambda *args, **kwargs: calls.append((args, kwargs)))
    before = cv.config.jax_cuda_visible_devices
    yield calls
    cv.config.update("jax_cuda_visible_devices", before)
    cv.config.update("jax_rocm_visible_devices", before)


@pytest.mark.parametrize("name", ["initialize", "shutdown", "is_initialized"])
def test_signatures(name):
    ours, theirs = getattr(cv.distributed, name), getattr(jax.distributed, name)
    shown = [
        [(p.name, p.default, p.kind) for p in inspect.signature(f).parameters.values()]
        for f in (ours, theirs)
    ]
    assert shown[0] == shown[1]


def test_alone():
    assert cv.distributed.is_initialized() is False
    cv.distributed.shutdown()  # nothing happens


def test_alone_to_libraries():
    state = PRIVATE_MODULES["jax._src.distributed"]["global_state"]
    assert (state.process_id, state.num_processes) == (0, 1)
    assert state.client is state.service is state.coordinator_address is None


def test_too_late():
    cv.devices()
    with pytest.raises(RuntimeError, match="in use already, so that it cannot join others"):
        cv.distributed.initialize("localhost:1234", 2, 0)


# ---------------------------------------------------------------- arguments


def test_arguments_reach_the_runtime(joined):
    cv.distributed.initialize(
        *("10.0.0.1:1234", 3, 2),
        local_device_ids=[1, 3],
        initialization_timeout=7,
        heartbeat_timeout_seconds=8,
        shutdown_timeout_seconds=9,
        partition_index=4,
    )
    ((args, options),) = joined
    assert args == ("10.0.0.1:1234", 3, 2, "[::]:1234")
    assert options == {
        "initialization_timeout": 7,
        "heartbeat_timeout": 8,
        "shutdown_timeout": 9,
        "partition_index": 4,
    }
    assert cv.config.jax_cuda_visible_devices == cv.config.jax_rocm_visible_devices == "1,3"


@pytest.mark.parametrize(
    ("address", "listens"),
    [
        ("10.0.0.1:80", "[::]:80"),
        ("host:80", "[::]:80"),
        ("[fe80::1]:80", "[::]:80"),
        # Nobody else could come to these.
        ("localhost:80", "localhost:80"),
        ("127.0.0.1:80", "127.0.0.1:80"),
        ("[::1]:80", "[::1]:80"),
    ],
)
def test_where_the_coordinator_listens(joined, address, listens):
    cv.distributed.initialize(address, 1, 0)
    assert joined[0][0] == (address, 1, 0, listens)


def test_bind_address(joined):
    cv.distributed.initialize("host:80", 1, 0, coordinator_bind_address="10.0.0.7:80")
    assert joined[0][0][3] == "10.0.0.7:80"


def test_variables(joined, environment):
    environment(
        {
            "JAX_COORDINATOR_ADDRESS": "host:1",
            "JAX_NUM_PROCESSES": "2",
            "JAX_PROCESS_ID": "1",
            "JAX_LOCAL_DEVICE_IDS": "4,5",
            "JAX_PARTITION_INDEX": "6",
            "JAX_COORDINATOR_BIND_ADDRESS": "other:2",
        }
    )
    cv.distributed.initialize()
    ((args, options),) = joined
    assert args == ("host:1", 2, 1, "other:2") and options["partition_index"] == 6
    assert cv.config.jax_cuda_visible_devices == "4,5"


@pytest.mark.parametrize(
    ("args", "kind", "text"),
    [
        ((), ValueError, "coordinator_address and num_processes and process_id should be defined"),
        (("host:1",), ValueError, "num_processes and process_id should be defined"),
        (("host:1", 2), ValueError, "process_id should be defined"),
        (("host:1", 2, 2), ValueError, "0 <= process_id < num_processes, but they are 2 and 2"),
        (("host:1", 2, -1), ValueError, "but they are -1 and 2"),
        (("host:1", 2, 0.0), TypeError, "process_id must be an int, not 0.0"),
        (("host:1", "2", 0), TypeError, "num_processes must be an int, not '2'"),
        (("host", 2, 0), ValueError, "the form 'host:port', not 'host'"),
    ],
)
def test_wrong_arguments(joined, args, kind, text):
    with pytest.raises(kind, match=text):
        cv.distributed.initialize(*args)
    assert not joined


def test_wrong_methods(joined):
    with pytest.raises(ValueError, match="'pbs' is not known; there are 'ompi', 'slurm'"):
        cv.distributed.initialize(cluster_detection_method="pbs")
    with pytest.raises(ValueError, match="'slurm', but this process runs in no such job"):
        cv.distributed.initialize(cluster_detection_method="slurm")


def test_wrong_variable(joined, environment):
    environment({"JAX_NUM_PROCESSES": "two"})
    with pytest.raises(ValueError, match="JAX_NUM_PROCESSES is 'two', in which there is no number"):
        cv.distributed.initialize("host:1", None, 0)


def test_old_name_of_the_partition(joined):
    with pytest.warns(DeprecationWarning, match="slice_index is the old name"):
        cv.distributed.initialize("host:1", 1, 0, slice_index=3)
    assert joined[0][1]["partition_index"] == 3


# ---------------------------------------------------------------- jobs


@pytest.mark.parametrize(
    "nodes",
    ["node001", "node001,host2", "node[001-0015],host2", "node[001,007-015],host2", "a-b[3]"],
)
def test_slurm_is_understood_as_in_jax(environment, nodes):
    environment(SLURM | {"SLURM_STEP_NODELIST": nodes})
    theirs = jax._src.clusters.SlurmCluster
    if nodes == "a-b[3]":  # JAX keeps the bracket
        assert clusters.coordinator_of(clusters.Slurm(), "7") == "a-b3:7"
    else:
        wanted = theirs.get_coordinator_address(None, None)
        assert clusters.coordinator_of(clusters.Slurm(), None) == wanted


@pytest.mark.parametrize(
    "uri",
    [
        "1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911",
        "1314521088.0;tcp6://[fe80::b9b:ac5d:9cf0:b858,2620:10d:c083:150e::3000:2]:43370",
    ],
)
@pytest.mark.parametrize("port", [None, "77"])
def test_open_mpi_is_understood_as_in_jax(environment, uri, port):
    environment(OPEN_MPI | {"OMPI_MCA_orte_hnp_uri": uri})
    wanted = jax._src.clusters.OmpiCluster.get_coordinator_address(None, port)
    found = clusters.coordinator_of(clusters.OpenMPI(), port)
    assert found.replace("[", "").replace("]", "") == wanted  # JAX leaves out the brackets


def test_slurm(joined, environment):
    environment(SLURM)
    cv.distributed.initialize()
    assert joined[0][0][:3] == (f"gpu07:{61440 + 70001 % 4096}", 8, 5)
    assert cv.config.jax_cuda_visible_devices == "1"


def test_open_mpi(joined, environment):
    environment(OPEN_MPI)
    cv.distributed.initialize(num_processes=3)  # what is given counts
    assert joined[0][0][1:3] == (3, 2) and joined[0][0][0].startswith("10.96.0.1:")
    assert cv.config.jax_cuda_visible_devices == "0"


def test_kubernetes(joined, environment):
    environment(KUBERNETES)
    with pytest.raises(ValueError, match="Kubernetes does not tell its processes num_processes"):
        cv.distributed.initialize("job-0.service:1234")
    with pytest.raises(ValueError, match="does not tell its processes coordinator_address"):
        cv.distributed.initialize(num_processes=4)
    cv.distributed.initialize("job-0.service:1234", 4)
    assert joined[0][0][:3] == ("job-0.service:1234", 4, 3)


def test_damaged_variables(joined, environment):
    environment(SLURM | {"SLURM_PROCID": "first"})
    with pytest.raises(ValueError, match="SLURM_PROCID is 'first', in which there is no number"):
        cv.distributed.initialize()
    environment(OPEN_MPI | {"OMPI_MCA_orte_hnp_uri": "7.0;none"})
    with pytest.raises(ValueError, match="in which there is no address"):
        cv.distributed.initialize()


def test_no_detection(joined, environment):
    environment(SLURM)
    with pytest.raises(ValueError, match="should be defined"):
        cv.distributed.initialize(cluster_detection_method="deactivate")
