#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`reeve sim play`: every scenario holds; failures and mistakes are told well."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

REEVE = None
SCENARIOS = sorted((pathlib.Path(__file__).parent / "scenarios").glob("*.json"))
START = {"do": "start", "node": "server"}


def play(*words):
    return subprocess.run([REEVE, "sim", "play", *map(str, words)], capture_output=True, text=True, timeout=1800)


def sim(*words):
    return subprocess.run([REEVE, "sim", *words], capture_output=True, text=True, timeout=1800)


def play_text(text, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
        file.flush()
        return play(*words, file.name)


def scenario(events, **more):
    return {"name": "n", "workers": [{"name": "w1"}], "tasks": {"t1": {}}, "events": events, **more}


class Scenarios(unittest.TestCase):
    def test_all_hold(self):
        self.assertGreater(len(SCENARIOS), 30)
        done = play("--brief", *SCENARIOS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        passed = [line for line in done.stdout.splitlines() if line.startswith("passed  ")]
        self.assertEqual(len(passed), len(SCENARIOS), done.stdout)

    def test_same_story_twice(self):
        path = SCENARIOS[0]
        self.assertEqual(play("--trace", path).stdout, play("--trace", path).stdout)

    def test_json_lines(self):
        done = play("-o", "json", "--trace", *SCENARIOS[:3])
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["ok"] for line in lines if line.get("type") == "result"], [True] * 3)


class Stories(unittest.TestCase):
    """Names of workers are the script's, also where they look like the simulator's own."""

    EVENTS = [START, {"at": "1s", "do": "start", "node": "w1"}, {"at": "2s", "do": "start", "node": "w0"},
              {"at": "5s", "do": "partition", "worker": "w1"}, {"at": "6s", "do": "heal", "worker": "w1"},
              {"at": "7s", "do": "kill", "node": "w0"}]
    WORKERS = [{"name": "w1"}, {"name": "w2"}, {"name": "w0"}]

    def test_names(self):
        story = play_text(scenario(self.EVENTS, workers=self.WORKERS), "--trace").stdout
        for part in ("1.000s  w1 starts", "2.000s  w0 starts", "5.000s  w1 is cut off", "the network of w1 heals",
                     "w1 -> server  hello", "server -> w0  welcome", "w0 is killed"):
            self.assertIn(part, story)
        self.assertNotIn("w2", story)

    def test_names_in_a_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "t.shiviz"
            play_text(scenario(self.EVENTS, workers=self.WORKERS), "--trace-shiviz", path)
            trace = path.read_text()
        self.assertIn("w1 {", trace)
        self.assertIn("w0 {", trace)
        self.assertNotIn("w2", trace)

    def test_puppet(self):
        done = play_text(scenario([START, {"do": "dial", "from": "w1"}, {"do": "hello", "from": "w1"}, {"at": "2s"}],
                                  workers=[{"name": "a"}, {"name": "b"}, {"name": "w1", "kind": "puppet"}]), "--trace")
        self.assertIn("w1 -> server  hello", done.stdout, done.stderr)

    def test_why_it_never_started(self):
        done = play("--trace", pathlib.Path(__file__).parent / "scenarios" / "run-delayed-past-notify.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"ended task \S+ never started: \w")

    def test_brief(self):
        events = [START, {"print": ["set"], "text": "look"}, {"expect": {"set": {"waiting": False}}}]
        for words in ((), ("-o", "json")):
            loud, brief = play_text(scenario(events), *words), play_text(scenario(events), "--brief", *words)
            self.assertGreater(len(loud.stdout.splitlines()), 2)
            self.assertEqual(len(brief.stdout.splitlines()), 1, brief.stdout)


class Seeds(unittest.TestCase):
    """`reeve sim` itself: what it can't do is said first and alone."""

    def wrong(self, *words):
        done = sim("--seeds", "1", *words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("hint: ", done.stderr)
        return done.stderr

    def test_faults(self):
        self.assertIn('no class of faults ""', self.wrong("--faults", ""))
        self.assertIn('"none" stands alone', self.wrong("--faults", "net,none"))
        self.assertIn('"all" stands alone', self.wrong("--faults", "all,net"))
        self.assertIn('no class of faults "rain"', self.wrong("--faults", "rain"))
        self.assertIn("seed 1 has no fault 99999", self.wrong("--only-faults", "99999"))
        self.assertIn("not a list of numbers", self.wrong("--only-faults", ""))
        self.assertEqual(sim("--seeds", "1", "--minutes", "1", "--only-faults", "0").returncode, 0)

    def test_trace_that_cannot_be_written(self):
        done = sim("--from", "1", "--trace-shiviz", "/nonexistent/t")
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("reeve: "), done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_story_in_words(self):
        story = sim("--from", "1", "--seeds", "1", "--minutes", "2", "--trace").stdout
        self.assertRegex(story, r"client: request \d+ \(submit\) is answered: ok")
        self.assertNotIn("kind ", story)


class Failures(unittest.TestCase):
    def test_expectation(self):
        done = play_text(scenario([START, {"at": "1s", "do": "start", "node": "w1"},
                                   {"at": "5s", "expect": {"workers": {"w1": {"state": "must_die"}}}, "text": "a lie"}]))
        self.assertEqual(done.returncode, 1)
        for part in ("5.000s  NOT SO  a lie", "at       workers.w1.state", 'expected "must_die"', 'seen     "healthy"',
                     "w1 -> server  hello", "FAILED  n"):
            self.assertIn(part, done.stdout)

    def test_expectation_as_json(self):
        done = play_text(scenario([START, {"expect": {"set": {"waiting": True}}}]), "-o", "json")
        line = json.loads(done.stdout.splitlines()[0])
        self.assertEqual((line["ok"], line["path"], line["expected"], line["seen"]), (False, "set.waiting", True, False))

    def test_wait(self):
        done = play_text(scenario([START, {"wait": {"tasks": {"t1": {"starts": 1}}}, "within": "3s"}]))
        self.assertEqual(done.returncode, 1)
        self.assertIn("3.000s  NOT SO", done.stdout)

    def test_violation_that_does_not_come(self):
        done = play_text(scenario([START], expect_violation=5))
        self.assertEqual(done.returncode, 1)
        self.assertIn("invariant 5 was expected", done.stdout)


class Users(unittest.TestCase):
    def test_task_that_was_never_accepted(self):
        for action in ("retry", "cancel"):
            done = play_text(scenario([START, {"at": "1s", "do": action, "task": "t1"},
                                       {"after": "1s", "expect": {"replies": {action: {"result": "not-found"}}}}]))
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_own_backoff_is_judged(self):
        tasks = {"t1": {"max_attempts": 2, "backoff": "0s", "run": "1s", "exit": 1}}
        done = play_text(scenario([START, {"at": "1s", "do": "start", "node": "w1"}, {"at": "5s", "do": "submit", "task": "t1"},
                                   {"wait": {"tasks": {"t1": {"status": "failed", "starts": 2}}}}],
                                  tasks=tasks, queues={"default": {"backoff": "1h"}}))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Mistakes(unittest.TestCase):
    def wrong(self, text, *parts):
        done = play_text(text)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertNotRegex(done.stderr, "hint: *$")

    def test_file(self):
        self.wrong('{"name": ', "line 1", "it is not JSON")
        self.wrong("[]", "it is not an object")
        self.wrong('{"name": "n", /* open', "line 1")
        self.wrong({"name": "n"}, "workers", "it is missing")
        self.wrong(scenario([], color=1), "color", "there is no such key")
        self.wrong(scenario([], dispatch="fast"), "dispatch", "durable, volatile")
        self.wrong(scenario([], timeouts={"hartbeat": 1}), "timeouts.hartbeat", 'perhaps "heartbeat"')
        self.wrong(scenario([], timeouts={"heartbeat": "soon"}), "timeouts.heartbeat", "it is not a time")
        self.wrong(scenario([], workers=[{"name": "a.b"}]), "workers[0].name")
        self.wrong(scenario([], workers=[{"name": "a"}, {"name": "a"}]), "workers[1].name", "taken")
        self.wrong(scenario([], workers=[{"name": "a", "count": 100}]), "workers[0]", "too many agents")
        self.wrong(scenario([], tasks={"t": {"queue": "q"}}), "tasks.t.queue", "there is no such queue")
        self.wrong(scenario([], tasks={"t": {"outcomes": []}}), "tasks.t.outcomes")

    def test_values(self):
        def expect(pattern):
            return scenario([START, {"at": "1s", "expect": pattern}])

        self.wrong(expect({"workers": {"w1": {"state": "healty"}}}), "events[1].expect.workers.w1.state", "perhaps healthy")
        self.wrong(expect({"workers": {"w1": {"self": {"not": "unhealhty"}}}}), "perhaps unhealthy")
        self.wrong(expect({"workers": {"w1": {"lack": {"any": ["beat", "chek"]}}}}), "perhaps check")
        self.wrong(expect({"workers": {"w1": {"phase": "servin"}}}), "perhaps serving")
        self.wrong(expect({"tasks": {"t1": {"status": "suceeded"}}}), "perhaps succeeded")
        self.wrong(expect({"tasks": {"t1": {"worker": "w3"}}}), "events[1].expect.tasks.t1.worker")
        self.wrong(expect({"replies": {"submit": {"result": "conflct"}}}), "perhaps conflict")
        self.wrong(scenario([START, {"wait": {"waits": {"has": {"worker": "w9"}}}}]), "it is never that")

    def test_restart(self):
        self.wrong(scenario([START, {"do": "restart", "node": "w1", "timeouts": {}}]), "it is the server's setting")
        self.wrong(scenario([START, {"do": "restart", "node": "server", "timeouts": {"hartbeat": 1}}]),
                   "events[1].timeouts.hartbeat", 'perhaps "heartbeat"')
        self.wrong(scenario([START, {"do": "restart", "node": "server", "timeouts": {"margin": "1d"}}]),
                   "these timeouts make no sense")

    def test_events(self):
        self.wrong(scenario({}), "events", "it is not a list")
        self.wrong(scenario([{"do": "dance"}]), "events[0].do", "there is no such action")
        self.wrong(scenario([{"do": "submitt", "task": "t1"}]), "perhaps submit")
        self.wrong(scenario([START, {"do": "submit", "task": "t9"}]), "events[1].task", "there is no such task")
        self.wrong(scenario([{"do": "submit", "task": "t1", "from": "w1"}]), "events[0].from", "there is no such key")
        self.wrong(scenario([{"do": "start", "node": "w9"}]), "events[0].node", "there is no such worker")
        self.wrong(scenario([{"do": "hello", "from": "w1"}]), "events[0].from", "this worker is an agent")
        self.wrong(scenario([{"do": "welcome", "to": "w1"}]), "the server is not a puppet")
        self.wrong(scenario([{"at": "5s"}, {"at": "1s"}]), "events[1].at", "earlier")
        self.wrong(scenario([{"at": "5s", "after": "1s"}]), "events[0].after", "twice")
        self.wrong(scenario([{"do": "fault", "kind": "letter", "fate": "lose"}]), "events[0].kind", "there is no such message")
        self.wrong(scenario([{"do": "fault", "kind": "run", "fate": "delay"}]), "events[0].by", "it is missing")
        self.wrong(scenario([{"do": "start", "each": "x*"}]), "events[0].each")

    def test_looks(self):
        self.wrong(scenario([START, {"expect": {"workers": {"w1": {"stat": "new"}}}}]),
                   "events[1].expect.workers.w1.stat", "there are: state")
        self.wrong(scenario([{"expect": 5}]), "events[0].expect", "it is not an object")
        self.wrong(scenario([{"print": ["wörkers"]}]), "events[0].print")

    def unplayed(self, text, *parts):
        """Whatever is wrong with a file is said before any of it is played."""
        done = play_text(text)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_numbers_are_checked_before_anything_is_played(self):
        puppet = [{"name": "w1", "kind": "puppet"}]
        for times in (0, 2000, 1000000000):
            for event in ({"do": "beat", "from": "w1"}, {"do": "hello", "from": "w1"}, {"do": "repeat", "from": "w1", "kind": "beat"},
                          {"do": "started", "from": "w1", "task": "t1"}, {"do": "ended", "from": "w1", "task": "t1"}):
                self.unplayed(scenario([START, {"at": 1, "do": "hello", "from": "w1"}, {**event, "at": 2, "times": times}], workers=puppet),
                              "events[2].times", "from 1 to 1000")
            self.unplayed(scenario([{"do": "welcome", "to": "w1", "times": times}], server="puppet"), "events[0].times")
        self.unplayed(scenario([], expect_violation=99), "expect_violation", "there is no such invariant", "1, 2, 3")
        self.unplayed(scenario([START], queues={"default": {"threads": -4}}), "queues.default.threads")
        self.unplayed(scenario([START], queues={"default": {"max_attempts": 0}}), "queues.default.max_attempts")
        self.unplayed(scenario([START], workers=[{"name": "w1", "kind": "puppet", "facts": {"colour": 1}}]), "workers[0].facts.colour")
        self.unplayed(scenario([START, {"do": "start", "each": "w*", "rounds": 10000, "every": "40000d"}]), "events[1].every", "too long")

    def test_times_that_can_not_be(self):
        self.unplayed(scenario([], net={"delay": "-5s"}), "net.delay", "it is less than nothing")
        self.unplayed(scenario([], net={"commit": "-5s"}), "net.commit")
        self.unplayed(scenario([], caution_startup_wait="-5s"), "caution_startup_wait")
        self.unplayed(scenario([], tasks={"t": {"run": "-5s"}}), "tasks.t.run")
        self.unplayed(scenario([], tasks={"t": {"timeout": "-5s"}}), "tasks.t.timeout")
        self.unplayed(scenario([], queues={"default": {"backoff": "-5s"}}), "queues.default.backoff")
        for event in ({"do": "pause", "node": "w1", "for": "-5s"}, {"do": "start", "node": "w1", "in": "-9s"},
                      {"do": "slow", "worker": "w1", "by": "-5s"}, {"do": "slow", "worker": "w1", "by": "5s", "for": "-1s"},
                      {"do": "partition", "worker": "w1", "until": "-5s"}, {"do": "partition", "worker": "w1", "for": "-5s"},
                      {"do": "start", "each": "w1", "apart": "-1s"}, {"do": "start", "each": "w1", "every": "-1s", "rounds": 3},
                      {"do": "kill", "node": "w1", "down": "-5s"}, {"do": "processes_fail", "node": "w1", "for": "-5s"},
                      {"do": "store", "fault": "slow", "by": "-5s"}, {"do": "store", "fault": "busy", "for": "-5s"},
                      {"do": "fault", "kind": "beat", "fate": "delay", "by": "-5s"}, {"after": "-5s"},
                      {"wait": {"processes": 0}, "within": "-5s"}):
            bad = [k for k, v in event.items() if isinstance(v, str) and v.startswith("-")][0]
            self.unplayed(scenario([START, event]), f"events[1].{bad}", "it is less than nothing")
        self.unplayed(scenario([{"at": "100000d"}]), "events[0].at", "it is too long", "at most 50903d")
        self.unplayed(scenario([{"at": 10000000000}]), "events[0].at", "it is too long", "at most 50903d")

    def test_looks_are_checked_before_anything_is_played(self):
        for path in ("workers.w9.state", "workers.w1.stat", "tasks.t1.starts_lists", "server.upp", "set.versoin"):
            self.unplayed(scenario([START, {"print": [path]}]), "events[1].print", "there is no such thing", path)
        for path in ("workers.w1.told_last.welcome.state", "tasks.t1.starts_list.0.worker", "replies.submit.result", "waits.0.text", "set.id"):
            self.assertEqual(play_text(scenario([START, {"print": [path]}])).returncode, 0 if path != "set.id" else 2, path)
        state = {"workers": {"w1": {"state": {}}}}
        for wrong in ({"<": "abc"}, {">=": True}, {"any": "healthy"}, {"contains": 5}, {"length": "x"}, {"length": {"<": "x"}}, {"not": {"<": []}},
                      {"any": [{">": "soon"}]}):
            state["workers"]["w1"]["state"] = wrong
            self.unplayed(scenario([START, {"expect": state}]), "events[1].expect.workers.w1.state")

    def test_as_json(self):
        done = play_text(scenario([{"do": "dance"}]), "-o", "json")
        line = json.loads(done.stdout)
        self.assertEqual((done.returncode, line["type"], line["path"]), (2, "malformed", "events[0].do"))

    def test_usage(self):
        self.assertEqual(play().returncode, 2)
        self.assertEqual(play("-o", "xml", SCENARIOS[0]).returncode, 2)
        self.assertEqual(play("/nonexistent.json").returncode, 2)


if __name__ == "__main__":
    REEVE = sys.argv.pop()
    unittest.main()
