#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A persistent plugin that breaks every rule, one at a time: params.kind says which.

The tests send tasks through it. The worker must survive each kind, kill this process, fail the
tasks it held with a reason that names the rule, and start another.
"""
import json
import os
import struct
import sys
import time


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message):
    data = json.dumps(message).encode()
    raw(struct.pack(">I", len(data)) + data)


def receive():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))


def misbehave(kind, task):
    if kind == "bad-length":
        raw(b"\xff\xff\xff\xff")
    elif kind == "empty-frame":
        raw(b"\0\0\0\0")
    elif kind == "bad-json":
        raw(struct.pack(">I", 7) + b'{"id": ')
    elif kind == "not-an-object":
        send([1, 2, 3])
    elif kind == "wrong-id":
        send({"id": "0" * 24, "token": 1, "status": 1})
    elif kind == "wrong-token":
        send({"id": task["id"], "token": task["token"] + 1, "status": 1})
    elif kind == "bad-status":
        send({"id": task["id"], "token": task["token"], "status": -2})
    elif kind == "huge-frame":
        send({"id": task["id"], "status": 1, "stdout": "x" * (2 << 20)})
    elif kind == "second-hello":
        send({"reeve": 1})
    elif kind == "text":
        raw(b"Hello, I thought this was a terminal\n")
    elif kind == "exit":
        raw(b"\0\0")  # midway through a frame
        sys.exit(3)
    elif kind == "abort":
        os.abort()
    elif kind == "close":
        os.close(1)
    elif kind == "silence":
        pass
    else:  # well-behaved, for once
        send({"id": task["id"], "token": task["token"], "status": 1, "stdout": "fine\n"})
        return
    time.sleep(1000)


send({"reeve": 1, "concurrency": 1})
while True:
    t = receive()
    misbehave(t["params"].get("kind"), t)
