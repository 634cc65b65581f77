# SPDX-License-Identifier: Apache-2.0
"""The real binary against a stand-in for the server. Run as: test_client.py REEVE."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fake_server  # noqa: E402

REEVE = os.path.abspath(sys.argv.pop(1))


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.dir.name, "reeve.sock")
        self.server = fake_server.start(self.socket)
        self.fake = self.server.fake
        self.env = {"PATH": os.environ["PATH"], "HOME": self.dir.name, "LC_ALL": "C.UTF-8",
                    "REEVE_SERVER": "unix:" + self.socket}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.dir.cleanup()

    def reeve(self, *args, code=0, stdin="", **env):
        r = subprocess.run([REEVE, *args], input=stdin.encode(), capture_output=True, timeout=600,
                           env=dict(self.env, **env), cwd=self.dir.name)
        self.out, self.err = r.stdout.decode(), r.stderr.decode()
        self.assertEqual(r.returncode, code, "%s\n%s\n%s" % (args, self.out, self.err))
        return self.out

    def task(self, **spec):
        return self.fake.add_task(spec)


class Submitting(Case):
    def test_one(self):
        id = self.reeve("submit", "--queue", "q", "-p", "5", "-e", "A=b=c", "-l", "k=v", "--timeout=5m",
                        "--max-attempts", "3", "echo", "--not-mine", "{}").strip()
        spec = self.fake.tasks[id]["spec"]
        self.assertRegex(spec.pop("cwd_machine"), r"^[0-9a-f]{16}$")
        self.assertEqual(spec.pop("cwd"), os.path.realpath(self.dir.name))
        self.assertEqual(spec, {"queue": "q", "priority": 5, "env": {"A": "b=c"}, "labels": {"k": "v"}, "timeout": "5m",
                                "max_attempts": 3, "command": ["echo", "--not-mine", "{}"]})

    def test_environment_is_copied_by_name(self):
        id = self.reeve("submit", "-e", "MINE", "-e", "UNSET", "true", MINE="x").strip()
        self.assertEqual(self.fake.tasks[id]["spec"]["env"], {"MINE": "x"})

    def test_array_from_stdin(self):
        batch = self.reeve("submit", "--array", "-", "--", "conv", "in/{}", "out-{}", stdin='a\n\n"q" é\n').strip()
        self.assertEqual([t["command"] for t in self.fake.matching({"batch": [batch]})],
                         [["conv", "in/a", "out-a"], ["conv", 'in/"q" é', 'out-"q" é']])
        self.assertIn("2 tasks submitted", self.err)

    def test_array_appends_without_a_place(self):
        self.reeve("submit", "--array", "3-1", "-l", "n={}", "echo", "x")
        self.assertEqual([(t["command"], t["labels"]) for t in self.fake.tasks.values()],
                         [(["echo", "x", n], {"n": n}) for n in ("3", "2", "1")])

    def test_bad_item_is_named(self):
        r = subprocess.run([REEVE, "submit", "--array", "-", "echo"], input=b"ok\n\xff\n", env=self.env,
                           capture_output=True)
        self.assertEqual(r.returncode, 2)
        self.assertIn(b"line 2 of standard input is not valid UTF-8", r.stderr)

    def test_long_streams_are_split_into_one_batch(self):
        lines = "".join('{"command":["true","%d"]}\n' % i for i in range(120001))
        batch = self.reeve("submit", "--ndjson", "-", stdin=lines).strip()
        posts = [r for r in self.fake.requests if r[0] == "POST"]
        self.assertEqual([r[3].count(b"\n") for r in posts], [50000, 50000, 20001])
        self.assertEqual(posts[0][1], "/v1/tasks")
        self.assertEqual({r[1] for r in posts[1:]}, {"/v1/tasks?batch=" + batch})
        self.assertEqual(len({r[2]["Idempotency-Key"] for r in posts}), 3)
        self.assertEqual(len(self.fake.matching({"batch": [batch]})), 120001)

    def test_bad_lines_are_counted_over_all_requests(self):
        lines = ['{"command":["true"]}'] * 50003
        lines[50001] = '{"bogus":1}'
        self.reeve("submit", "--ndjson", "-", stdin="\n".join(lines), code=1)
        self.assertIn("reeve: line 50002: not a task\n  hint: see the manual", self.err)

    def test_nothing_is_submitted_twice(self):
        self.fake.faults = [None, "drop", "lose", 503, None]
        self.reeve("status")
        self.reeve("submit", "true", "--server-timeout", code=0)  # the command's own words
        self.assertEqual(len(self.fake.tasks), 1)

    def test_reply_lost_in_bulk(self):
        self.fake.faults = ["lose", "drop", None]
        self.reeve("submit", "--array", "1-10", "true")
        self.assertEqual(len(self.fake.tasks), 10)
        keys = {r[2].get("Idempotency-Key") for r in self.fake.requests}
        self.assertEqual((len(self.fake.requests), len(keys)), (3, 1))

    def test_twin_is_named(self):
        first = self.reeve("submit", "--key", "k", "true")
        self.assertEqual(self.reeve("submit", "--key", "k", "true"), first)
        self.assertIn("is there already", self.err)

    def test_wait(self):
        self.reeve("submit", "--wait", "--array", "1-3", "true")
        self.assertIn("3/3 100%", self.err)
        self.reeve("submit", "--wait", "--array", "0-2", "exit", code=1)
        self.assertIn("2 failed", self.err)
        self.reeve("submit", "--wait", "exit", "7", code=7)
        self.reeve("submit", "--wait", "--wait-timeout", "100ms", "forever", code=124)

    def test_limit_makes_a_queue_and_never_changes_one(self):
        self.reeve("submit", "--limit", "8", "--array", "1-2", "true")
        self.assertEqual(self.fake.queues["limit-8"]["threads"], 8)
        self.fake.add_queue("busy", threads=2)
        self.reeve("submit", "--limit", "8", "--queue", "busy", "true", code=1)
        self.assertIn('the queue "busy" has another limit', self.err)

    def test_usage(self):
        self.reeve("submit", code=2)
        self.assertIn("nothing to run", self.err)
        self.reeve("submit", "--array", "1-", "true", code=2)
        self.reeve("submit", "--params", "{", "true", code=2)
        self.reeve("submit", "--params", "[1]", "true", code=2)
        self.reeve("submit", "--label", "novalue", "true", code=2)
        self.reeve("submit", "--priority", "high", "true", code=2)
        self.reeve("submit", "--array", "-", "--ndjson", "-", "true", code=2)
        self.reeve("submit", "--ndjson", "/nowhere/at/all", code=1)
        self.assertIn("No such file", self.err)
        self.assertEqual(self.fake.tasks, {})


class Running(Case):
    def test_exit_codes_are_mirrored(self):
        for command, code in ((["exit", "3"], 3), (["true"], 0), (["signal", "9"], 137), (["cancelled"], 130),
                              (["orphaned"], 125), (["terminated"], 124), (["exit", "127"], 127)):
            self.reeve("run", *command, code=code)

    def test_output_and_broken_streams(self):
        self.fake.cut_logs = 3
        self.assertEqual(self.reeve("run", "say", "hello, world\n"), "hello, world\n")
        offsets = [r[1] for r in self.fake.requests if "stream=stdout" in r[1]]
        self.assertEqual([re.search(r"offset=(\d+)", o) and re.search(r"offset=(\d+)", o)[1] for o in offsets],
                         [None, "3", "6", "9"])

    def test_interrupt_cancels(self):
        p = subprocess.Popen([REEVE, "run", "forever"], env=self.env, stderr=subprocess.PIPE)
        while not any("logs" in r[1] for r in list(self.fake.requests)):
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(30), 130)
        self.assertIn(b"cancelling", p.stderr.read())
        p.stderr.close()
        self.assertEqual([t["state"] for t in self.fake.tasks.values()], ["cancelled"])

    def test_server_gone(self):
        self.reeve("run", "true", code=125, REEVE_SERVER="unix:/nowhere/reeve.sock")
        self.assertIn("cannot be reached", self.err)
        self.reeve("wait", "0" * 24, code=125, REEVE_SERVER="unix:/nowhere/reeve.sock")
        self.reeve("status", code=1, REEVE_SERVER="unix:/nowhere/reeve.sock")

    def test_wait(self):
        id = self.task(command=["exit", "9"])["id"]
        good = self.task(command=["true"])["id"]
        live = self.task(command=["forever"])["id"]
        self.reeve("wait", id, code=9)
        self.reeve("wait", id, good, code=1)
        self.reeve("wait", good)
        self.reeve("wait", live, "--timeout", "50ms", code=124)
        self.reeve("wait", "--state", "running", "--timeout", "50ms", code=124)
        self.reeve("wait", "nonsense", code=2)
        self.reeve("wait", code=2)
        threading.Timer(0.3, fake_server.Handler.change, (None, self.fake, self.fake.tasks[live], "cancel")).start()
        self.reeve("wait", live, code=130)

    def test_last(self):
        self.reeve("wait", "@last", code=125)
        self.assertIn("nothing was submitted", self.err)
        id = self.reeve("submit", "say", "hi").strip()
        self.assertEqual(self.reeve("logs", "@last"), "hi")
        self.assertEqual(json.loads(self.reeve("task", "show", "@last", "-o", "json"))["id"], id)
        self.reeve("submit", "--array", "1-3", "exit")
        self.reeve("wait", "@last", code=1)
        self.reeve("logs", "@last")
        self.assertEqual(self.reeve("retry", "--failed", "@last"), "3 of 3 queued again\n")


class Acting(Case):
    def test_one(self):
        id = self.task(command=["forever"])["id"]
        self.assertEqual(self.reeve("cancel", id), id + " cancelled\n")
        self.reeve("cancel", id, code=1)
        self.assertIn("has ended", self.err)
        self.assertEqual(self.reeve("retry", id), id + " queued again\n")
        self.assertEqual(self.reeve("task", "hold", id), id + " held\n")
        self.assertEqual(self.reeve("task", "release", id), id + " released\n")
        self.reeve("task", "set", id, "--priority", "-3")
        self.assertEqual(self.fake.tasks[id]["priority"], -3)

    def test_filters(self):
        for i in range(3):
            self.task(command=["exit", "1"], queue="a", labels={"k": "v"})
        self.task(command=["exit", "1"], queue="b")
        self.assertEqual(self.reeve("retry", "--failed", "--queue", "a", "--dry-run"), "3 match; none was queued again\n")
        self.assertEqual(self.reeve("retry", "--state", "failed,orphaned", "--label", "k=v"), "3 of 3 queued again\n")
        self.reeve("cancel", code=2)
        self.assertIn("--all", self.err)
        self.reeve("cancel", "0" * 24, "--queue", "a", code=2)

    def test_a_signal_while_a_task_is_submitted_cancels_it(self):
        for number, reason in ((signal.SIGINT, "Ctrl-C in reeve run"), (signal.SIGTERM, "reeve run was ended by SIGTERM"),
                               (signal.SIGHUP, "reeve run was ended by SIGHUP")):
            child = []
            self.fake.faults = [lambda: child[0].send_signal(number)]
            with self.fake.lock:
                child.append(subprocess.Popen([REEVE, "run", "--", "forever"], stdin=subprocess.DEVNULL,
                                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env))
            err = child[0].communicate(timeout=600)[1].decode()
            self.assertEqual(child[0].returncode, 128 + number, err)
            self.assertIn("cancelling", err)
            self.assertEqual([t["state"] for t in self.fake.tasks.values()], ["cancelled"])
            self.assertIn(reason, [json.loads(r[3])["reason"] for r in self.fake.requests if r[1].endswith("/cancel")][-1])
            self.fake.tasks.clear()

    def ask(self, answer, *args):
        """Runs on a terminal and answers the question."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(REEVE, [REEVE, *args], dict(self.env, TERM="xterm"))
        seen, answered = b"", False
        while True:
            try:
                bytes = os.read(fd, 4096)
            except OSError:
                break
            if not bytes:
                break
            seen += bytes
            if b"[y/N]" in seen and not answered:
                answered = True
                os.write(fd, answer)
        os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()

    def test_asks_on_a_terminal(self):
        for i in range(3):
            self.task(command=["exit", "1"])
        self.assertEqual(self.ask(b"n\n", "retry", "--failed")[0], 1)
        self.assertEqual({t["state"] for t in self.fake.tasks.values()}, {"failed"})
        code, seen = self.ask(b"y\n", "retry", "--failed")
        self.assertEqual(code, 0)
        self.assertIn("retry 3 tasks?", seen)
        self.assertEqual({t["state"] for t in self.fake.tasks.values()}, {"queued"})
        code, seen = self.ask(b"", "cancel", "--all", "--yes")
        self.assertEqual((code, "[y/N]" in seen), (0, False))

    def test_asks_before_history_goes_with_its_queue(self):
        for name in ("q", "empty"):
            self.fake.add_queue(name)
        for i in range(3):
            self.task(command=["true"], queue="q")
        code, seen = self.ask(b"n\n", "queue", "rm", "q")
        self.assertEqual(code, 1)
        self.assertIn("delete the queue q, its 3 ended tasks, and their output?", seen)
        self.assertIn("nothing was changed", seen)
        self.assertEqual((len(self.fake.tasks), "q" in self.fake.queues), (3, True))
        code, seen = self.ask(b"", "queue", "rm", "empty")
        self.assertEqual((code, "[y/N]" in seen, "empty" in self.fake.queues), (0, False, False))
        live = self.task(command=["forever"], queue="q")
        code, seen = self.ask(b"", "queue", "rm", "q")
        self.assertEqual((code, "[y/N]" in seen), (1, False), "what is refused anyway is not asked")
        self.assertIn("1 live and 3 ended tasks", self.ask(b"n\n", "queue", "rm", "--force", "q")[1])
        self.assertEqual(live["state"], "running")
        del self.fake.tasks[live["id"]]
        code, seen = self.ask(b"", "queue", "rm", "--yes", "q")
        self.assertEqual((code, "[y/N]" in seen), (0, False))
        self.assertIn("queue q deleted, with 3 tasks and all output", seen)

    def test_colour_and_top_on_a_terminal(self):
        self.fake.add_worker("w1")
        self.task(command=["forever"])
        self.assertIn("\033[34m▶ running\033[0m", self.ask(b"", "task", "ls")[1])
        self.assertNotIn("\033[", self.ask(b"", "task", "ls", "--no-color")[1])
        self.env["NO_COLOR"] = "1"
        self.assertNotIn("\033[", self.ask(b"", "task", "ls")[1])
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(REEVE, [REEVE, "top"], dict(self.env, TERM="xterm"))
        seen = b""
        while b"q quit" not in seen:
            seen += os.read(fd, 4096)
        os.write(fd, b"q")
        try:
            while os.read(fd, 4096):
                pass
        except OSError:
            pass
        os.close(fd)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


class Showing(Case):
    def test_tasks(self):
        for i in range(2500):
            self.task(command=["exit", str(i % 2)], labels={"n": str(i)})
        self.assertEqual(len(self.reeve("task", "ls", "-o", "jsonl").splitlines()), 2500)
        self.assertEqual(len(json.loads(self.reeve("task", "ls", "-o", "json", "-n", "1500"))["items"]), 1500)
        table = self.reeve("task", "ls", "--failed", "-o", "wide").splitlines()
        self.assertRegex(table[0], r"^ID +NAME +QUEUE +STATE +TRY +AGE +TOOK +WORKER +EXIT")
        self.assertEqual(len(table), 51)
        self.assertTrue(all("✗ failed" in line for line in table[1:]))
        self.assertNotIn("\033", "\n".join(table))
        self.assertIn("there are more", self.err)
        self.assertIn("x failed", self.reeve("task", "ls", "--failed", LC_ALL="C"))

    def test_hostile_text(self):
        self.task(command=["true"], queue="\033[2Jx\n")
        self.assertIn("?[2Jx ", self.reeve("task", "ls"))

    def test_yaml(self):
        id = self.task(command=["a", "no", "1e3", "x: y"], labels={"on": "yes"})["id"]
        text = self.reeve("task", "show", id, "-o", "yaml")
        self.assertIn('command:\n- a\n- "no"\n- "1e3"\n- \'x: y\'\n', text)
        self.assertIn('labels:\n  "on": "yes"\n', text)

    def test_show_and_why(self):
        id = self.task(command=["sh", "-c", "it's"])["id"]
        self.assertIn("command    sh -c 'it'\\''s'\n", self.reeve("task", "show", id))
        self.assertRegex(self.reeve("why", id), r"succeeded.*\n  it ended .* ago, and waits for nothing\n")
        why = self.reeve("why", self.task(command=["forever"])["id"])
        self.assertIn("the queue is full", why)
        self.assertIn("• limit 8/8 on queue q\n    → one of 8 must end", why)
        self.reeve("why", "0" * 24, code=1)
        self.assertEqual(self.err, 'reeve: there is no task "%s"\n  hint: `reeve task ls` shows them\n' % ("0" * 24))

    def test_queues(self):
        self.reeve("queue", "create", "a/b c", "--threads", "4", "--order=lifo", "--no-exit-codes", "-e", "A=1", "-e", "B=2")
        queue = self.fake.queues["a/b c"]
        self.assertEqual((queue["threads"], queue["order"], queue["exit_codes"]), (4, "lifo", False))
        self.reeve("queue", "set", "a/b c", "--threads", "none", "-e", "A=", "-e", "C=3", "--timeout", "5m")
        self.assertEqual((queue["threads"], queue["env"], queue["timeout"]), (None, {"B": "2", "C": "3"}, "5m"))
        self.reeve("queue", "pause", "a/b c", "--reason", "new disk", "--until", "2h")
        self.assertEqual((queue["paused"], queue["pause_reason"], queue["until"]), (True, "new disk", "2h"))
        self.assertIn("‖ paused", self.reeve("queue", "ls"))
        self.assertIn("new disk", self.reeve("queue", "show", "a/b c"))
        self.reeve("queue", "resume", "a/b c")
        self.assertFalse(queue["paused"])
        self.task(command=["forever"], queue="a/b c")
        self.reeve("queue", "rm", "a/b c", code=1)
        self.assertIn("  hint: --force", self.err)
        self.assertEqual(self.reeve("queue", "rm", "--force", "a/b c"),
                         "queue a/b c deleted, with 1 task and all output\n")
        self.assertEqual(self.fake.queues, {})
        self.reeve("queue", "create", "x", "--threads", "-1", code=2)
        self.reeve("queue", "show", "x", code=1)
        self.assertEqual(self.err, 'reeve: there is no queue "x"\n  hint: reeve queue ls shows the queues\n')

    def test_workers(self):
        self.fake.add_worker("w1")
        shown = self.reeve("worker", "ls")
        self.assertIn("● healthy", shown)
        self.assertEqual(shown.split("\n")[0].split(), ["NAME", "STATE", "LINK", "TASKS", "MAX", "SEEN", "CHECK", "HOST", "ZONE"])
        self.assertNotIn("!", shown)
        self.assertIn("UNSURE", self.reeve("worker", "ls", "-o", "wide"))
        self.reeve("worker", "set", "w1", "--maxthreads", "0")
        self.assertEqual(self.fake.workers["w1"]["maxthreads"], 0)
        self.reeve("worker", "set", "w1", "--maxthreads", "worker")
        self.assertEqual(self.fake.workers["w1"]["maxthreads"], "worker")
        self.assertIn("40.0s ago", self.reeve("worker", "show", "w1"))
        self.reeve("worker", "rm", "w1")
        self.assertEqual(self.fake.workers, {})

    def test_workers_in_trouble(self):
        self.fake.add_worker("w1", state="unhealthy", connected=False, why_unhealthy="it has been silent for 2m",
                             lost_in_ms=320000, check_age_ms=None, unsure=1, running=2)
        shown = self.reeve("worker", "ls")
        self.assertIn("◐ unhealthy", shown)
        self.assertIn("down", shown)
        self.assertIn("w1: it has been silent for 2m; it is lost in 5m20s, unless that changes; "
                      "nobody knows yet whether 1 task was started\n", shown)
        one = self.reeve("worker", "show", "w1")
        self.assertIn("in 5m20s, if nothing changes", one)
        self.assertIn("1 of them: nobody knows yet whether it was started", one)
        for i in range(11):
            self.fake.add_worker("x%d" % i, state="must_die", connected=False, why_unhealthy="it is lost")
        self.assertIn("and 2 more; reeve worker show NAME", self.reeve("worker", "ls"))
        self.reeve("worker", "ls", "--state", "unhealthy,must_die")
        self.assertIn("state=unhealthy%2Cmust_die", self.fake.requests[-1][1])
        self.reeve("doctor", code=1)
        self.assertIn("1 not healthy", self.out)
        self.assertIn("11 lost", self.out)

    def test_stop_workers(self):
        self.fake.add_worker("w1", running=1)
        self.assertEqual(self.reeve("worker", "stop", "w1"), "worker w1 was told to stop\n")
        self.assertEqual(self.fake.workers["w1"]["told"], "stop")
        self.reeve("worker", "restart", "-y", "w1")
        self.assertEqual(self.fake.workers["w1"]["told"], "restart")
        self.fake.add_worker("w2", connected=False)
        self.reeve("worker", "stop", "w2", code=1)
        self.assertIn("the worker is not connected", self.err)
        self.reeve("worker", "stop", code=2)
        self.reeve("worker", "restart", "none", code=1)

    def test_numbers_have_the_digits_they_need(self):
        for rate in (2.7, 0.1, 12.5, 1e22, 0.1 + 0.2, 1 / 3):
            self.fake.rate = rate
            for form, text in (("json", '"submitted_per_s": %s,'), ("jsonl", '"submitted_per_s":%s,'),
                               ("yaml", "submitted_per_s: %s\n")):
                out = self.reeve("status", "-o", form)
                self.assertIn(text % repr(rate).replace("e+", "e"), out)
        self.fake.rate = 2.7
        self.assertIn("2.7/s submitted", self.reeve("status"))

    def wait(self, text, code="worker-word", **more):
        return dict({"code": code, "worker": None, "tasks": 0, "in_ms": 60000, "until": "2026-11-16T00:30:00.000Z",
                     "text": text}, **more)

    def test_status_sums_up_what_is_long(self):
        self.fake.waiting = [self.wait("worker w%d has been silent" % i) for i in range(6)]
        shown = self.reeve("status")
        self.assertIn("waiting  for 6 things\n", shown)
        self.assertIn("w4 has been silent (until 2026-11-16T00:30:00Z)\n  ! and 1 more; -o wide", shown.replace("⚠", "!"))
        self.assertNotIn("worker w5", shown)
        self.assertIn("w5 has been silent", self.reeve("status", "-o", "wide"))
        self.assertEqual(len(json.loads(self.reeve("status", "-o", "json"))["waiting"]), 6)
        self.fake.waiting.pop()
        self.assertNotIn("more", self.reeve("status"))

    def test_status_says_what_it_waits_for(self):
        self.assertIn("waiting  for nothing itself; `reeve why ID`", self.reeve("status"))
        self.assertNotIn("dispatch", self.reeve("status"))
        self.fake.dispatch = "volatile"
        self.fake.add_worker("w1")
        self.fake.waiting = [self.wait("nothing is started for at most 1m", "initial-wait"),
                             self.wait("worker w1 has not spoken yet", "initial-wait-worker"),
                             self.wait("it is asked again", "unsure", in_ms=2000),
                             self.wait("worker w1 gets no tasks yet", "worker-health"),
                             self.wait("no worker can take tasks", "no-worker", in_ms=None, until=None)]
        shown = self.reeve("status")
        self.assertIn("dispatch volatile; worker set 4 (1 worker), not all agree yet; 2 newcomers wait\n", shown)
        self.assertIn("at most 1m (until 2026-11-16T00:30:00Z)\n", shown)
        self.assertIn("has not spoken yet\n", shown)
        self.assertIn("asked again in 2.0s\n", shown)
        self.assertIn("gets no tasks yet; else it is lost in 1m00s, at 2026-11-16T00:30:00Z\n", shown)
        self.assertIn("can take tasks\n", shown)
        self.assertIn("1 unsure", shown)
        self.assertIn("initial", self.reeve("top", "-o", "json"))

    def test_status_counts_threads_of_workers_that_are_away(self):
        self.assertIn("threads  3 of 8 in use\n", self.reeve("status"))
        self.fake.threads = {"used": 7, "max": 4}
        self.assertIn("threads  7 in use, also on workers that take no tasks now; the healthy ones have 4\n", self.reeve("status"))
        self.fake.threads = {"used": 4, "max": 0}
        self.assertIn("the healthy ones have 0\n", self.reeve("status"))
        self.fake.threads = {"used": 4, "max": None}
        self.assertIn("threads  4 of no limit in use\n", self.reeve("status"))

    def test_status_top_version(self):
        self.fake.add_worker("w1")
        self.fake.add_queue("q")
        text = self.reeve("status")
        self.assertIn("1,234 queued", text)
        self.assertIn("up 1m01s", text)
        self.assertIn("LINK", self.reeve("top"))
        self.assertEqual(set(json.loads(self.reeve("top", "-o", "json"))), {"status", "queues", "services", "workers", "running"})
        self.assertRegex(self.reeve("version"), r"^reeve \S+\nserver \S+ ")
        self.assertRegex(self.reeve("version", REEVE_SERVER="unix:/nowhere"), r"^reeve \S+\n$")

    def test_services_in_status_and_top(self):
        self.assertNotIn("services", self.reeve("status"))
        self.assertNotIn("SERVICES", self.reeve("top"))
        self.fake.services = [
            {"name": name, "instances": 5, "deploy": {"state": "steady"}, "deleting": False, "place_error": None,
             "crash_reason": "exit code 3" if ready < 5 else None, "counts": {"running": 5, "ready": ready, "crashed": 0}}
            for name, ready in (("api", 5), ("web", 2))]
        self.assertIn("services 2: 10 running, 7 ready, 1 crashed\n", self.reeve("status"))
        rows = self.reeve("top").splitlines()
        title = next(i for i, row in enumerate(rows) if row.startswith("SERVICES"))
        self.assertRegex(rows[title + 1], r"^web +5 +5 +2 +0 +steady +exit code 3")
        self.assertRegex(rows[title + 2], r"^api +5 +5 +5 +0 +steady")
        self.assertEqual([s["name"] for s in json.loads(self.reeve("top", "-o", "json"))["services"]], ["api", "web"])

    def test_a_long_service_counts_when_it_is_whole(self):
        """Its pieces are put together; what was cut off, or belongs to another, is not taken for all of it."""
        def head(n, more):
            return ("service", {"name": "web", "tag": 7, "instances": [{"index": n}], "more": more})

        def piece(n, more, name="web"):
            return ("instances", {"name": name, "more": more, "instances": [{"index": n}]})

        self.fake.route_streams = [
            [("reset", {"tag": 7}), head(9, True)],
            [("reset", {"tag": 7}), piece(8, False), head(0, True), piece(1, True), piece(7, False, "api"), piece(2, False),
             ("synced", {"tag": 7})]]
        template, out = os.path.join(self.dir.name, "t"), os.path.join(self.dir.name, "out")
        with open(template, "w") as f:
            f.write("{{for s in services}}{{s.name}}{{for i in s.instances}} {{i.index}}{{end}}{{end}}\n")
        child = subprocess.Popen([REEVE, "routes", "render", template, "--to", out, "--watch", "--interval", "20ms"],
                                 env=self.env, stderr=subprocess.DEVNULL)
        try:
            for _ in range(500):
                if os.path.exists(out):
                    break
                time.sleep(0.02)
            with open(out) as f:
                self.assertEqual(f.read(), "web 0 1 2\n")
        finally:
            child.kill()
            child.wait()

    def test_events(self):
        self.fake.events = [{"seq": i, "time": fake_server.TIME, "kind": "task.failed", "task": "t%d" % i,
                             "exit_code": 3} for i in range(1, 8)]
        lines = self.reeve("events", "-f", "-n", "7", "-o", "jsonl").splitlines()
        self.assertEqual([json.loads(line)["seq"] for line in lines], list(range(1, 8)))
        ids = [r[2].get("Last-Event-ID") for r in self.fake.requests]
        self.assertEqual(ids, [None, "2", "4", "6"])
        self.assertIn("✗ task.failed", self.reeve("events"))

    def test_events_that_the_stream_no_longer_has_are_listed(self):
        self.fake.events = [{"seq": i, "time": fake_server.TIME, "kind": "queue.created", "subject": "q%d" % i}
                            for i in range(1, 8)]
        self.fake.forgotten = 5
        for words in ([], ["--after", "0"]):
            lines = self.reeve("events", "-f", "-n", "7", "-o", "jsonl", *words).splitlines()
            self.assertEqual([json.loads(line)["seq"] for line in lines], list(range(1, 8)))

    def test_watch(self):
        self.fake.add_queue("q")
        p = subprocess.Popen([REEVE, "queue", "ls", "--watch=0.1"], env=self.env, stdout=subprocess.PIPE)
        while sum(r[1].startswith("/v1/queues") for r in list(self.fake.requests)) < 3:
            time.sleep(0.01)
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(30), 0)
        self.assertGreaterEqual(p.stdout.read().count(b"QUEUE "), 2)
        p.stdout.close()
        self.reeve("queue", "ls", "--watch=never", code=2)

    def watch_on_a_terminal(self, *args):
        """Two pictures, then Ctrl-C; returns all that was written."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(REEVE, [REEVE, *args, "--watch=0.1"], dict(self.env, TERM="xterm"))
        seen = b""
        while seen.count(b"\033[J") < 2:
            seen += os.read(fd, 4096)
        os.write(fd, b"\x03")
        try:
            while bytes := os.read(fd, 4096):
                seen += bytes
        except OSError:
            pass
        os.close(fd)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        return seen.decode()

    def test_watch_draws_in_place_on_a_terminal(self):
        seen = self.watch_on_a_terminal("queue", "ls")
        self.assertIn("\033[H", seen)
        self.assertIn("no queue", seen.split("\033[J")[0], "remarks are in the picture")
        for i in range(40):
            self.fake.add_queue("q%02d" % i)
        seen = self.watch_on_a_terminal("queue", "ls")
        self.assertTrue(seen.startswith("\033[?1049h"), "on a screen of its own")
        self.assertTrue(seen.split("^C")[-1].endswith("\033[?1049l"), "which is left again")
        pictures = seen.split("\033[H")[1:]
        self.assertGreaterEqual(len(pictures), 2)
        for picture in pictures:
            self.assertEqual(picture.count("\n"), 23, "nothing may scroll")
            self.assertIn("q21", picture)
            self.assertNotIn("q22", picture)
            self.assertIn("(18 more lines)", picture)


class Asking(Case):
    def test_doctor(self):
        self.reeve("doctor", code=1)
        self.assertIn("no worker is connected", self.out)
        self.fake.add_worker("w1")
        self.fake.add_queue("stuck", workers=0, counts={"queued": 5})
        self.reeve("doctor")
        self.assertIn("5 tasks wait in stuck, which no worker serves", self.out)
        checks = json.loads(self.reeve("doctor", "-o", "json"))
        self.assertTrue(checks["ok"])
        limits = [check["text"].split(":")[0] for check in checks["items"] if check["check"] == "limits"]
        self.assertEqual(limits, ["memory", "cpu", "pids"])
        self.assertEqual([check["check"] for check in checks["items"][-5:]],
                         ["cgroup", "limits", "limits", "limits", "sandbox"])
        self.reeve("doctor", code=1, REEVE_SERVER="unix:/nowhere/reeve.sock")

    def test_token(self):
        self.fake.token = "secret"
        self.reeve("status", code=1)
        self.assertIn("REEVE_TOKEN", self.err)
        self.reeve("status", REEVE_TOKEN="secret")
        path = os.path.join(self.dir.name, "token")
        with open(path, "w") as f:
            f.write("secret\n")
        self.reeve("status", "--token-file", path)
        self.reeve("status", "--token", "two words", code=2)

    def test_retries_while_the_server_restarts(self):
        self.fake.faults = [503, "drop", 503]
        self.reeve("status", REEVE_SERVER_TIMEOUT="20s")
        self.fake.faults = [503] * 50
        self.reeve("--server-timeout", "0", "status", code=1)
        self.assertIn("not now", self.err)

    def test_default_socket(self):
        del self.env["REEVE_SERVER"]
        self.reeve("status", code=1)
        self.assertIn("`reeve dev` starts one", self.err)
        os.mkdir(os.path.join(self.dir.name, "reeve"))
        os.rename(self.socket, os.path.join(self.dir.name, "reeve", "reeve.sock"))
        self.reeve("status", XDG_RUNTIME_DIR=self.dir.name)
        self.reeve("status", XDG_STATE_HOME=self.dir.name)

    def test_completions(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.reeve("completion", shell)
            self.assertIn("__complete", script)
            try:
                subprocess.run([shell, "-n"], input=script.encode(), check=True)
            except FileNotFoundError:
                pass  # that shell is not installed here
        self.reeve("completion", "tcsh", code=2)
        self.fake.add_queue("builds")
        self.assertEqual(self.reeve("__complete", "queue"), "builds\n")
        self.assertEqual(self.reeve("__complete", "line", "task", "ls", "--queue", "b"), "builds\n")
        self.assertEqual(self.reeve("__complete", "queue", REEVE_SERVER="unix:/nowhere"), "")
        self.assertEqual(self.err, "")

    def test_bash_completes(self):
        self.fake.add_queue("builds")
        script = ('source <("$0" completion bash); COMP_WORDS=("$0" "${@}"); COMP_CWORD=$#; _reeve; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        for words, want in ((["queue", "pa"], "pause"), (["task", "ls", "--queue", "b"], "builds"),
                            (["task", "ls", "--queue", "=", "b"], "builds"), (["sub"], "submit")):
            r = subprocess.run(["bash", "-c", script, REEVE, *words], capture_output=True, env=self.env)
            self.assertEqual(r.stdout.decode(), want + "\n", (words, r.stderr))

    def test_man_pages(self):
        self.reeve("gen", "man", self.dir.name)
        with open(os.path.join(self.dir.name, "reeve-queue-create.1")) as f:
            page = f.read()
        self.assertTrue(page.startswith('.TH "REEVE-QUEUE-CREATE" "1"'))
        self.assertIn(".SH EXAMPLES", page)
        self.assertTrue(os.path.exists(os.path.join(self.dir.name, "reeve.1")))

    def test_help(self):
        self.assertIn("queue create", self.reeve("help"))
        for words in (["help", "submit"], ["submit", "--help"], ["--help", "submit"]):
            self.assertIn("usage: reeve submit", self.reeve(*words))
        self.assertIn("queue pause", self.reeve("help", "queue"))
        self.reeve("queue", code=2)
        self.reeve(code=2)
        for words, hint in ((["stauts"], 'did you mean "reeve status"?'), (["task", "lss"], 'did you mean "reeve task ls"?'),
                            (["task", "ls", "--quue", "x"], "did you mean --queue?"), (["status", "-o", "jsom"], "json"),
                            (["status", "extra"], "--help"), (["logs"], "which tasks"), (["task", "show"], "--help"), (["help", "nonsense"], "reeve help")):
            self.reeve(*words, code=2)
            self.assertIn(hint, self.err)


if __name__ == "__main__":
    unittest.main(verbosity=1)
