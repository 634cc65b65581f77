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
    return subprocess.run([REEVE, "sim", "play", *map(str, words)], capture_output=True, text=True, timeout=120)


def sim(*words):
    return subprocess.run([REEVE, "sim", *words], capture_output=True, text=True, timeout=120)


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
