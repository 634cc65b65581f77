# SPDX-License-Identifier: Apache-2.0
"""Libraries laid before a process's own: a wall clock that tests set, a disk that fails."""
import mmap
import os
import struct
import subprocess
import tempfile

from harness import ROOT

SHIMS = os.path.join(ROOT, "test", "system", "shims")


def _build(name, directory):
    library = os.path.join(directory, name + ".so")
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror",
                    "-shared", "-fPIC", "-o", library, os.path.join(SHIMS, name + ".c"), "-ldl"], check=True)
    return library


def _preload(library, **extra):
    # Sanitizers want to be first; what these libraries replace, they do not.
    options = os.environ.get("ASAN_OPTIONS", "")
    return {"LD_PRELOAD": library, "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0".lstrip(":"), **extra}


class WallClock:
    """Gives processes started with `env` another wall clock; set() moves it while they run."""

    def __init__(self, directory=None):
        self.dir = directory or tempfile.mkdtemp(prefix="reeve-clock-")
        path = os.path.join(self.dir, "clock")
        with open(path, "wb") as f:
            f.write(bytes(8))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 8)
        self.env = _preload(_build("wall_clock", self.dir), REEVE_TEST_CLOCK=path)

    def set(self, seconds):
        self.map[:8] = struct.pack("=q", int(seconds * 1000))
        return self


class BadDisk:
    """Gives processes started with `env` a disk whose syncs fail with EIO while fail(True)."""

    def __init__(self, directory):
        path = os.path.join(directory, "disk")
        with open(path, "wb") as f:
            f.write(bytes(8))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 8)
        self.env = _preload(_build("bad_disk", directory), REEVE_TEST_DISK=path)

    def fail(self, yes):
        self.map[0] = 1 if yes else 0
