#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tries every way into another process: intrude.py PID|parent|sibling. Says of each whether it worked."""
import ctypes
import os
import subprocess
import sys

PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE = 16, 17, 0x4206
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
PIDFD_OPEN, PIDFD_GETFD, PROCESS_VM_READV = 434, 438, 310  # on x86_64


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def ptrace(pid, how):
    if libc.ptrace(how, pid, None, None) < 0:
        return False
    if how == PTRACE_ATTACH:
        os.waitpid(pid, 0x40000000)  # __WALL
    libc.ptrace(PTRACE_DETACH, pid, None, None)
    return True


def read_memory(pid):
    text = ctypes.create_string_buffer(8)
    mine, theirs = Vector(ctypes.addressof(text), 8), Vector(ctypes.addressof(text), 8)
    done = libc.syscall(PROCESS_VM_READV, pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
    return done >= 0 or ctypes.get_errno() == 14  # EFAULT: allowed, nothing there


def take_descriptor(pid):
    fd = libc.syscall(PIDFD_OPEN, pid, 0)
    return fd >= 0 and libc.syscall(PIDFD_GETFD, fd, 0, 0) >= 0


def read_file(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as f:
            f.read(1)
        return True
    except OSError as e:
        return e.errno == 5  # EIO: opened, nothing mapped at 0


def list_descriptors(pid):
    try:
        return bool(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def main(who):
    pid = os.getppid()
    if who == "sibling":
        pid = subprocess.Popen(["sleep", "1000"]).pid
    elif who != "parent":
        pid = int(who)
    ways = {"attach": ptrace(pid, PTRACE_ATTACH), "seize": ptrace(pid, PTRACE_SEIZE), "memory": read_memory(pid),
            "descriptor": take_descriptor(pid), "mem": read_file(pid, "mem"), "environ": read_file(pid, "environ"),
            "maps": read_file(pid, "maps"), "fd": list_descriptors(pid)}
    for way, worked in ways.items():
        print(way, "works" if worked else "refused")
    if who == "sibling":
        os.kill(pid, 9)


if __name__ == "__main__":
    main(sys.argv[1])
