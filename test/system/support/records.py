# SPDX-License-Identifier: Apache-2.0
"""What tasks wrote about themselves (programs/record.sh), and what must hold of it."""
import collections
import os
import re
import shutil
import tempfile

import harness

RECORD = os.path.join(harness.PROGRAMS, "record.sh")
Line = collections.namedtuple("Line", "task attempt token what pid seconds code")


WORDS = re.compile(r"([0-9a-f]{24}) (\d+) (\d+) (begin|end|overlap) (\d+) ([0-9.]+) (\d*)$")


def parse(text):
    """The lines of what was written. Where a page of the file ends a line can be half there: when it is read at that very
    moment, or for ever when its writer was killed then, and the next one follows on the same line."""
    whole = text[:text.rfind("\n") + 1]
    found = filter(None, map(WORDS.search, whole.splitlines()))
    return [Line(m[1], int(m[2]), int(m[3]), m[4], int(m[5]), float(m[6]), int(m[7]) if m[7] else None) for m in found]


class Records:
    """A directory into which the tasks of one test write."""

    def __init__(self, cluster):
        self.dir = tempfile.mkdtemp(prefix="rec-", dir=cluster.dir)
        # a copy beside it: a worker of another user may not be able to reach the tree
        self.program = shutil.copy(RECORD, self.dir)

    def command(self, seconds=0, code=0):
        return [self.program, self.dir, str(seconds), str(code)]

    def lines(self):
        try:
            with open(os.path.join(self.dir, "record")) as f:
                return parse(f.read())
        except FileNotFoundError:
            return []

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
        self.check_overlap()
        tokens = collections.defaultdict(list)
        for line in begun:
            tokens[line.task].append(line.token)
        assert not {t: k for t, k in tokens.items() if sorted(set(k)) != k}, "tokens must rise"
        assert not [t for t in once if len(tokens[t]) > 1], "a task of one attempt began twice"

    def check_overlap(self):
        """By their own clocks, too: an attempt that wrote its end had done so before the next began."""
        ends = {(line.task, line.token): line.seconds for line in self.lines() if line.what == "end"}
        last = {}
        for line in self.begun():
            before = last.get(line.task)
            assert before is None or ends.get((line.task, before), 0) <= line.seconds, f"{line} overlaps {before}"
            last[line.task] = line.token

    def check_claims(self, tasks, certain):
        """What the tasks wrote, against what Reeve says of them (`tasks`: by id, with their attempts).
        certain: no worker was ever lost, so that no end can have gone unreported."""
        starts, good = collections.defaultdict(set), set()
        for line in self.lines():
            if line.what == "begin":
                starts[line.task].add(line.token)
            if line.what == "end" and line.code == 0:
                good.add((line.task, line.token))
        assert not set(starts) - set(tasks), "something ran that is in no book"
        for i, task in tasks.items():
            claimed = {a["token"] for a in task["attempts"]}
            assert starts[i] <= claimed, f"{i} began with {starts[i]}, Reeve knows of {claimed} only"
            assert len(claimed) >= len(starts[i]) and task["attempt"] <= task["max_attempts"], task
            own = (i, task["token"]) in good
            if task["state"] == "succeeded":
                assert own, f"{i} succeeded, Reeve says; it does not say so itself: {task}"
            if certain and own:
                assert task["state"] == "succeeded", f"{i} did succeed, but Reeve says {task}"
