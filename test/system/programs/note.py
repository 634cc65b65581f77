#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""note.py FILE: a persistent plugin that appends params.n of each task to the file."""
import json
import struct
import sys


def send(message):
    data = json.dumps(message).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
    sys.stdout.buffer.flush()


send({"reeve": 1, "concurrency": 1})
with open(sys.argv[1], "a") as trace:
    while len(head := sys.stdin.buffer.read(4)) == 4:
        task = json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))
        print(task["params"]["n"], file=trace, flush=True)
        send({"id": task["id"], "token": task["token"], "status": 1})
