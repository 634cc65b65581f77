# SPDX-License-Identifier: Apache-2.0
"""The beasts of test/zoo, compiled, and what can be found of them afterwards."""
import glob
import os
import shutil
import subprocess

from harness import ROOT

ZOO = os.path.join(ROOT, "test", "zoo")


def build(directory):
    """Compiles all of them into this directory; returns their names."""
    for source in glob.glob(os.path.join(ZOO, "*.c")):
        name = os.path.basename(source)[:-2]
        subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra",
                        "-Wno-unused-parameter", "-Werror", "-o", os.path.join(directory, name), source], check=True)
    for source in glob.glob(os.path.join(ZOO, "*.sh")):
        shutil.copy(source, directory)
    return names()


def names():
    return sorted(os.path.basename(s).removesuffix(".c") for s in glob.glob(os.path.join(ZOO, "*.[cs]*")))


def _read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def _exe(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe").encode()
    except OSError:
        return b""


def processes(*marks):
    """Who has one of these texts in its program, words or environment; zombies have none of them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        about = _exe(pid) + b"\0" + _read(f"/proc/{pid}/cmdline") + b"\0" + _read(f"/proc/{pid}/environ")
        if any(mark.encode() in about for mark in marks) and int(pid) != os.getpid():
            found.append(int(pid))
    return found


def _mounts():
    """Where each cgroup hierarchy is: {"": the version 2 one, "pids": …}."""
    places = {}
    for line in _read("/proc/self/mountinfo").decode().splitlines():
        fields, _, rest = line.partition(" - ")
        kind, _, options = rest.split(" ", 2)
        if kind == "cgroup2":
            places[""] = fields.split()[4]
        elif kind == "cgroup":
            for option in options.split(","):
                places[option] = fields.split()[4]
    return places


def cgroups_of(pid):
    """The directories that were made for this process or its worker, in whatever hierarchy."""
    mounts, found = _mounts(), set()
    for line in _read(f"/proc/{pid}/cgroup").decode().splitlines():
        _, controllers, path = line.split(":", 2)
        mount = mounts.get(controllers.split(",")[0])
        parts = path.split("/")
        for n, part in enumerate(parts):
            if mount and part.startswith("reeve"):
                found.add(mount + "/".join(parts[:n + 1]))
    return found


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def files_below(directory):
    return sorted(os.path.relpath(os.path.join(at, f), directory)
                  for at, folders, files in os.walk(directory) for f in files + folders)
