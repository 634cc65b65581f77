# SPDX-License-Identifier: Apache-2.0
"""
Very much output, kept whole: counted, in order, and in bounded memory on both sides.

  REEVE_OUTPUT_MIB=2048 REEVE_TEST_SECONDS=1800 REEVE_BIN=build-release/reeve /usr/bin/python3 -m pytest test/system/tasks/test_much_output.py
"""
import hashlib
import os

import requests
from harness import PATIENCE

MIB = 1 << 20
SIZE = int(os.environ.get("REEVE_OUTPUT_MIB", "48")) * MIB
LINE = b"a line of much output, as good as any other\n"


def test_much_output_is_kept_whole(cluster):
    server = cluster.start_server()
    worker = cluster.start_worker()
    cluster.create_queue("q", output_max=SIZE)
    cluster.wait_ended(cluster.submit("true", queue="q")["id"])
    before = server.rss_kb(), worker.rss_kb()
    task = cluster.wait_ended(cluster.submit("sh", "-c", f"yes '{LINE.decode().strip()}' | head -c {SIZE}", queue="q")["id"],
                              timeout=PATIENCE * 8)
    assert (task["state"], task["stdout_bytes"], task["stdout_dropped"]) == ("succeeded", SIZE, 0), task
    wanted, got, n = hashlib.sha256(), hashlib.sha256(), 0
    for _ in range(SIZE // len(LINE)):
        wanted.update(LINE)
    wanted.update(LINE[:SIZE % len(LINE)])
    while n < SIZE:
        page = requests.get(f"{cluster.url}/v1/tasks/{task['id']}/logs", params={"stream": "stdout", "offset": n},
                            headers=cluster.auth, timeout=PATIENCE)
        assert page.status_code == 200 and page.content, (page.status_code, n)
        got.update(page.content)
        n += len(page.content)
    assert n == SIZE and got.digest() == wanted.digest()
    grown = server.rss_kb("VmHWM") - before[0], worker.rss_kb("VmHWM") - before[1]
    assert max(grown) < 192 * 1024, f"grew by {grown} KiB"
