"""One Ray for all tests of this folder: a cluster with a node of two cores, to which tests add nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from vouching.scale.session import ray_module

STORE = 100 << 20
"""Bytes of the object store of a node."""


def started() -> Any:
    """A cluster with no more processes than it needs, or a skipped test where it does not start."""
    from ray.cluster_utils import Cluster

    head = {
        "num_cpus": 2,
        "object_store_memory": STORE,
        "include_dashboard": False,
        "include_log_monitor": False,
        "no_monitor": True,
    }
    try:
        return Cluster(initialize_head=True, head_node_args=head)
    except Exception as error:
        if "timed out during startup" not in str(error):
            raise
        pytest.skip("this machine is too busy for Ray, which gives a node 30 seconds to start")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A running cluster that this process has joined; ``cluster.address`` is for others."""
    pytest.importorskip("ray")
    ray = ray_module()
    made = started()
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def ray(cluster: Any) -> Any:
    """The module, connected to the cluster."""
    return ray_module()
