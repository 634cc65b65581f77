# SPDX-License-Identifier: Apache-2.0
"""Ten thousand starts and kills through one worker: its descriptors and memory, and its keeper's, stay flat.

REEVE_SOAK_TASKS: how many (10000); REEVE_SOAK_SECONDS: go on in rounds of as many for so long."""
import os
import time

import pytest
import zoo
from harness import PATIENCE, wait_until
from keepers import Watched

TASKS = int(os.environ.get("REEVE_SOAK_TASKS", "10000"))
SECONDS = float(os.environ.get("REEVE_SOAK_SECONDS", "0"))
RELEASE = os.environ.get("REEVE_RELEASE_BIN")
PARTS = 4
THREADS = 16
SLACK = 4  # a healthcheck has a cgroup, too: two descriptors
GROWTH_KB = 2048  # of one process, after the first part: what is used once and kept is there by then

KINDS = [
    {"command": ["true"]},
    {"command": ["sh", "-c", "echo out; echo err >&2; exit 3"]},
    {"command": ["sleep", "1000"], "timeout": "1ms", "run": {"kill": {"wait": "1ms"}}},
    {"command": ["sh", "-c", "trap '' TERM; sleep 1000 & sleep 1000"], "timeout": "5ms", "run": {"kill": {"wait": "1ms"}}},
    {"command": ["/no/such/program"]},
]


def rss_kb(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 10


class Meter:
    """What worker and keeper hold, when nothing runs."""

    def __init__(self, watched):
        self.watched = watched
        self.pids = {"worker": watched.worker.pid, "keeper": watched.keeper()}

    def descriptors(self):
        return {name: zoo.descriptors(pid) for name, pid in self.pids.items()}

    def memory(self):
        return {name: rss_kb(pid) for name, pid in self.pids.items()}

    def wait_descriptors(self, most):
        wait_until(lambda: all(n <= most[name] + SLACK for name, n in self.descriptors().items()),
                   what=f"no more descriptors than {most}")


def work(cluster, n):
    """Kinds in turn; with so many of each, all that can be cached is."""
    done = cluster.submit_many([KINDS[i % len(KINDS)] for i in range(n)])
    assert done["accepted"] == n, done
    return cluster.wait_idle(timeout=PATIENCE * 4)


def warm_up(cluster):
    """As many at once as there can be: the keeper has a cgroup for each of them from now on, and uses them again."""
    cluster.submit_many([{"command": ["sleep", "0.5"]}] * THREADS)
    cluster.wait_idle(timeout=PATIENCE * 4)


def soak(cluster, binary, tasks):
    cluster.binary = binary
    cluster.start_server()
    watched = Watched(cluster, cluster.start_worker("--maxthreads", THREADS))
    warm_up(cluster)
    work(cluster, tasks // PARTS)
    warm_up(cluster)
    watched.quiet()
    meter = Meter(watched)
    before, memory, end = meter.descriptors(), meter.memory(), time.monotonic() + SECONDS
    done = 1
    while done < PARTS or time.monotonic() < end:
        work(cluster, tasks // PARTS)
        watched.quiet()
        meter.wait_descriptors(before)
        done += 1
    states = cluster.get("/v1/tasks/summary")["states"]
    fifth = tasks // PARTS // len(KINDS) * done
    assert states == {"succeeded": fifth + 2 * THREADS, "failed": 2 * fifth, "terminated": 2 * fifth}, states
    return watched, memory, meter.memory()


def test_starts_and_kills_under_sanitizers(cluster):
    watched, _, _ = soak(cluster, None, TASKS)
    assert watched.worker.stop() == 0
    watched.wait_gone()


@pytest.mark.skipif(not RELEASE, reason="REEVE_RELEASE_BIN is not set: a sanitizer's memory says nothing")
def test_memory_stays_flat(cluster):
    watched, before, after = soak(cluster, RELEASE, TASKS)
    for name in before:
        assert after[name] - before[name] < GROWTH_KB, (before, after)
    assert after["keeper"] < 2 << 10, "the keeper is small"
    assert watched.worker.stop() == 0
    watched.wait_gone()
