#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plugin of mode "once": one process per task.

The task arrives as a JSON object on stdin. What we print is the task's output, our exit code its
status: 0 succeeded, anything else failed. For another status, or a reason that people will read,
write {"status": N, "reason": "..."} to descriptor 3.

This one counts the letters of params.text.
"""
import json
import os
import sys

task = json.load(sys.stdin)
text = task["params"].get("text")
if not isinstance(text, str):
    print("params.text must be a string", file=sys.stderr)
    sys.exit(2)

print(f"{len(text)} letters, attempt {task['attempt']} in queue {task['queue']}")
if not text:
    # status 3: our own meaning, "nothing to do"
    os.write(3, json.dumps({"status": 3, "reason": "the text is empty"}).encode())
