#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Executes a program as packaging/systemd/reeve-worker.service would: confine.py PROGRAM ARGUMENT…

What the unit forbids by filters is forbidden here by the same ones: no new rights, clone3 is not there
(its flags cannot be looked at), neither namespaces nor mounts.
"""
import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
ALLOW, ERRNO = 0x7fff0000, 0x00050000
EPERM, ENOSYS = 1, 38
CALLS = {435: ENOSYS}  # clone3; numbers are those of x86_64
CALLS.update({n: EPERM for n in (165, 166, 155, 161, 272, 308, 428, 429, 430, 431, 432, 433, 442)})
# mount umount2 pivot_root chroot unshare setns open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr
CLONE, NAMESPACES = 56, 0x7e020000
LOAD, EQUAL, SET, RETURN = 0x20, 0x15, 0x45, 0x06


def step(code, yes, no, value):
    return struct.pack("HBBI", code, yes, no, value)


def filter_program():
    steps = [step(LOAD, 0, 0, 0)]
    for number, error in CALLS.items():
        steps += [step(EQUAL, 0, 1, number), step(RETURN, 0, 0, ERRNO | error)]
    steps += [step(EQUAL, 0, 3, CLONE), step(LOAD, 0, 0, 16), step(SET, 0, 1, NAMESPACES), step(RETURN, 0, 0, ERRNO | EPERM)]
    return steps + [step(RETURN, 0, 0, ALLOW)]


def main(words):
    steps = filter_program()
    code = ctypes.create_string_buffer(b"".join(steps))
    program = struct.pack("HP", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0) < 0:
        sys.exit(f"confine: {os.strerror(ctypes.get_errno())}")
    os.execvp(words[0], words)


if __name__ == "__main__":
    main(sys.argv[1:])
