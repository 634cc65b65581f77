#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plugin of mode "persistent": one process for many tasks, one at a time.

Frames go both ways over stdin and stdout: four bytes of length, big endian, then a JSON object.
First we say hello; then each task that arrives is answered with its id, its token and a status.
What we print to stderr ends up in the worker's log. When stdin ends, we leave.

This one adds up params.numbers.
"""
import json
import struct
import sys


def send(message):
    data = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
    sys.stdout.buffer.flush()


def receive():
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)  # the worker is leaving, or replaces us
    return json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))


def run(task):
    numbers = task["params"].get("numbers", [])
    for n in numbers:  # output can be sent while the task runs
        send({"id": task["id"], "output": {"stream": "stdout", "data": f"adding {n}\n"}})
    return {"status": 1, "stdout": f"sum {sum(numbers)}\n"}


send({"reeve": 1, "concurrency": 1})
while True:
    task = receive()
    try:
        reply = run(task)
    except Exception as e:  # a task that fails must not take the process with it
        reply = {"status": 2, "reason": f"{type(e).__name__}: {e}"}
    send({"id": task["id"], "token": task["token"], **reply})
