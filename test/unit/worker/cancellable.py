#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A persistent plugin that never finishes a task, but drops one when asked to."""
import json
import struct
import sys


def send(message):
    data = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
    sys.stdout.buffer.flush()


send({"reeve": 1, "concurrency": 4, "cancel": True})
while True:
    head = sys.stdin.buffer.read(4)
    if len(head) < 4:
        sys.exit(0)
    task = json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))
    if task.get("cancel"):
        send({"id": task["id"], "token": task["token"], "status": 2, "reason": "dropped"})
