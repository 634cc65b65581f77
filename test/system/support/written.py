# SPDX-License-Identifier: Apache-2.0
"""Numbered lines of a task to which the server does not listen: what came, and what the marks say is missing."""
import os
import re

from harness import wait_until

MIB = 1 << 20
MARK = re.compile(rb"\n\[reeve: (\d+) bytes? of output (?:was|were) dropped here\]\n")
# Numbered lines, so many bytes of them; then a file that says that it got so far.
WRITE = """python3 -c '
import os
n = {bytes}
out = b"".join(b"line %d\\n" % i for i in range(1, n // 6))[:n]
at = 0
while at < n:
    at += os.write(1, out[at:at + 50000])
'; touch {done}; {then}"""


def lines(n):
    return b"".join(b"line %d\n" % i for i in range(1, n // 6))[:n]


def check_marks(log, wanted):
    """What is there is in its place, and each mark says how much is missing there. Returns that sum."""
    at = gone = 0
    parts = MARK.split(log)
    for text, gap in zip(parts[::2], parts[1::2] + [b"0"]):
        assert wanted[at:at + len(text)] == text, f"at {at}: {text[:60]!r} instead of {wanted[at:at + 60]!r}"
        at += len(text) + int(gap)
        gone += int(gap)
    assert at == len(wanted), f"{at} of {len(wanted)} bytes are accounted for"
    return gone


def write(stopped, n, policy, spool, then="true"):
    """A task that has begun, and writes as soon as the server does not listen any more; (task, file that says it is done)."""
    cluster = stopped.cluster
    ready, go, done = (os.path.join(cluster.dir, word) for word in ("ready", "go", "done"))
    script = f"touch {ready}; while [ ! -e {go} ]; do sleep 0.02; done; " + WRITE.format(bytes=n, done=done, then=then)
    task = cluster.submit("sh", "-c", script, run={"output": {"policy": policy, "spool": spool}})["id"]
    wait_until(lambda: os.path.exists(ready), what="it has begun")
    stopped.stop()
    open(go, "w").close()
    return task, done
