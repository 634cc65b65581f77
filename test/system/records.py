# SPDX-License-Identifier: Apache-2.0
"""What tasks wrote about themselves (programs/record.sh), and what must hold of it."""
import collections
import os
import tempfile

import harness

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "record.sh")
Line = collections.namedtuple("Line", "task attempt token what pid")


class Records:
    """A directory into which the tasks of one test write."""

    def __init__(self, cluster):
        self.dir = tempfile.mkdtemp(prefix="rec-", dir=cluster.dir)

    def command(self, seconds=0, code=0):
        return [RECORD, self.dir, str(seconds), str(code)]

    def lines(self):
        try:
            with open(os.path.join(self.dir, "record")) as f:
                words = [line.split() for line in f.read().splitlines()]
        except FileNotFoundError:
            return []
        return [Line(w[0], int(w[1]), int(w[2]), w[3], int(w[4])) for w in words]

    def begun(self):
        return [line for line in self.lines() if line.what == "begin"]

    def order(self):
        """The ids in the order in which the tasks began."""
        return [line.task for line in self.begun()]

    def most_at_once(self):
        """Lines lie inside the processes' lives, so this many really did run at once."""
        now = most = 0
        for line in self.lines():
            now += {"begin": 1, "end": -1}.get(line.what, 0)
            most = max(most, now)
        return most

    def wait_begun(self, n, timeout=harness.PATIENCE):
        return harness.wait_until(lambda: len(self.begun()) >= n and self.begun(), timeout,
                                  what=f"{n} tasks have begun in {self.dir}")

    def check(self, once=()):
        """No attempt twice, no two attempts at a time, tokens only rise; `once`: tasks that may
        begin only once."""
        lines, begun = self.lines(), self.begun()
        assert not [line for line in lines if line.what == "overlap"]
        starts = collections.Counter((line.task, line.attempt) for line in begun)
        assert not [s for s, n in starts.items() if n > 1], "an attempt began twice"
        tokens = collections.defaultdict(list)
        for line in begun:
            tokens[line.task].append(line.token)
        assert not {t: k for t, k in tokens.items() if sorted(set(k)) != k}, "tokens must rise"
        assert not [t for t in once if len(tokens[t]) > 1], "a task of one attempt began twice"
