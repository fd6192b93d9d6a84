"""Ray, started or joined, and what is compared before work starts: versions, and whether all see the output."""

from __future__ import annotations

import logging
import os
import platform
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vouching.errors import ConfigError, InputError, needed
from vouching.rows.places import is_remote
from vouching.rows.pool import cores
from vouching.types.visible import visible_line
from vouching.version import __version__

STORE_BYTES = 200 << 20
"""Object store of a Ray that starts and ends with a command, in bytes; only names of blocks pass through it."""
CONNECT_SECONDS = 5.0
"""Seconds that a cluster has to accept a connection."""
PROBE_SECONDS = 120.0
"""Seconds that a node has to answer."""


def ray_module() -> Any:
    """The module ray, which sends nothing about its use anywhere. Raises MissingExtraError."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what goes wrong is reported by its exception
    return needed("ray", "ray", "the engine ray")


@contextmanager
def ray_session(address: str | None, jobs: int) -> Generator[tuple[Any, bool]]:
    """Ray for the length of a run: the one that this process uses already, a cluster, or a new one on this machine.

    Yields the module, connected, and whether it is a new one.

    Args:
        address: of a running cluster; None starts one.
        jobs: cores of the one that is started; 0 for all.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigError: the cluster cannot be reached or has another version of Ray or Python.
    """
    ray = ray_module()
    if ray.is_initialized():
        yield ray, False
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
    try:
        if address:
            _reach(address)
            ray.init(address=address, **quiet)
        else:
            ray.init(
                address="local",
                num_cpus=jobs or cores(),
                object_store_memory=STORE_BYTES,
                include_dashboard=False,
                **quiet,
            )
    except Exception as error:  # Ray raises the base class if a node does not start in 30 seconds
        where = f"the Ray cluster at {address}" if address else "Ray on this machine"
        raise ConfigError(
            f"{where} cannot be used: {visible_line(str(error))}; check --ray-address, and that the cluster has the "
            f"versions of this machine (Ray {ray.__version__}, Python {platform.python_version()})"
        ) from None
    try:
        yield ray, not address
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raise OSError soon if nothing answers at host:port, where Ray itself waits for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()


def check_nodes(ray: Any, output: str, version: str = __version__) -> None:
    """Raise ConfigError unless every node has this version of vouching, and InputError unless it sees the output.

    Args:
        ray: the module, connected.
        output: the folder of the output, which has a run.json.
        version: the version of vouching that nodes must have.
    """
    on_node = needed("ray.util.scheduling_strategies", "ray", "the engine ray").NodeAffinitySchedulingStrategy
    probe = ray.remote(num_cpus=0, max_retries=0)(probe_node)
    asked = {
        node["NodeManagerAddress"] + " " + node["NodeID"][:8]: probe.options(
            scheduling_strategy=on_node(node["NodeID"], soft=False)
        ).remote(output)
        for node in ray.nodes()
        if node["Alive"]
    }
    for name, answer in asked.items():
        try:
            found, sees = ray.get(answer, timeout=PROBE_SECONDS)
        except ray.exceptions.TaskUnschedulableError:
            continue  # the node has left the cluster since it was listed
        except ray.exceptions.RayError as error:
            raise ConfigError(
                f"the node {name} cannot run vouching: {visible_line(str(error).splitlines()[-1])}; install "
                f"vouching {version} on it"
            ) from None
        if found != version:
            raise ConfigError(f"the node {name} has vouching {found}, this machine {version}: install the same version")
        if not sees:
            raise InputError(
                f"the node {name} does not see {output}: use a folder that all nodes share, or an address such as "
                "s3://bucket/folder"
            )


def probe_node(output: str) -> tuple[str, bool]:
    """On a node: its version of vouching, and whether it sees the output."""
    return __version__, is_remote(output) or Path(output, "run.json").is_file()
