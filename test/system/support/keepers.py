# SPDX-License-Identifier: Apache-2.0
"""A worker with its keeper: who they are, and what is left of them and of their tasks."""
import glob
import os
import signal

import zoo
from harness import wait_until

LIMITS = {"memory": "512M", "cpu": 2, "pids": 400}  # a directory in every hierarchy that there is


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return ""


def children(pid):
    """Of the process itself, zombies included."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(path) as f:
                found += map(int, f.read().split())
        except OSError:
            pass
    return found


def is_alive(pid):
    """A zombie is not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def fnv(text):
    h = 0xcbf29ce484222325
    for byte in text.encode():
        h = (h ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return h


def machine_id():
    with open("/etc/machine-id") as f:
        return f.read().strip()


def lock_mark(state_dir):
    """What every process of a worker's tasks and plugins has in its environment."""
    return f"REEVE_WORKER_LOCK={fnv(f'{machine_id()}:{os.path.realpath(state_dir)}'):016x}"


class Watched:
    """One worker of a cluster, seen from outside."""

    def __init__(self, cluster, worker, name="w1"):
        self.cluster, self.worker, self.name = cluster, worker, name
        self.lock = f"{machine_id()}:{os.path.realpath(self.state_dir)}"
        self.seen = set()  # every keeper that there was

    @property
    def state_dir(self):
        return self.cluster.state_dir(self.name)

    def keeper(self):
        """The only child of the worker. After an adoption it is nobody's: then by its lock."""
        def look():
            found = [c for c in children(self.worker.pid) if comm(c) == "reeve-keeper" and is_alive(c)]
            return found if len(found) == 1 else None
        pid = wait_until(look, what="the worker has one keeper")[0]
        self.seen.add(pid)
        return pid

    def kill_keeper(self):
        pid = self.keeper()
        os.kill(pid, signal.SIGKILL)
        return pid

    def cgroups(self):
        """The directories of this worker, in whatever hierarchy."""
        name = f"reeve-{fnv(self.lock):016x}"
        return [at for top in ("/sys/fs/cgroup",) for at in glob.glob(f"{top}/**/{name}", recursive=True)]

    def tasks(self):
        """Whatever bears its lock; some beasts wipe that off."""
        return zoo.processes(lock_mark(self.state_dir))

    def files(self):
        """What lies in its directory, beside what always does."""
        return [f for f in zoo.files_below(self.state_dir) if f not in ("lock", "started", "key", "keeper", "spool")]

    def wait_gone(self):
        """The worker has ended: nothing of it or its tasks stays."""
        wait_until(lambda: not [k for k in self.seen if is_alive(k)], what="its keepers have left")
        wait_until(lambda: not self.tasks(), what="no process of its tasks is left")
        wait_until(lambda: not self.cgroups(), what=f"no cgroup is left of {self.cgroups()}")
        assert not self.files(), "no file is left"

    def quiet(self):
        """It runs, and nothing in it: no task, no directory of one, no file."""
        wait_until(lambda: not self.tasks(), what="no process of its tasks is left")
        wait_until(lambda: not self.task_cgroups(), what="no cgroup of a task holds a process")
        wait_until(lambda: set(self.files()) <= {"keeper.sock"}, what=f"no file is left of {self.files()}")

    def task_cgroups(self):
        """Those that still hold somebody."""
        found = []
        for place in self.cgroups():
            for at in glob.glob(place + "/t*/cgroup.procs"):
                try:
                    with open(at) as f:
                        found += [at] if f.read() else []
                except OSError:
                    pass
        return found
