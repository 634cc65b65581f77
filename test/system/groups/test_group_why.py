# SPDX-License-Identifier: Apache-2.0
"""What a group waits for is said of the group and of each job behind it, and whatever is proposed can be typed."""
import json
import os
import re
import shlex
import time

import pytest
from client import Api
from harness import wait_until


FIRST = "it's #1"


@pytest.fixture
def api(dev):
    return Api(dev)


@pytest.fixture
def cli(dev, tmp_path):
    def run(*args, **options):
        return dev.cli(*args, env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""}, **options)

    return run


def submit(cli, first, name="odd name"):
    """Three jobs in a row, of which the first one has something peculiar."""
    row = [{"name": FIRST, "command": ["true"], **first}]
    row += [{"name": n, "command": ["true"], "needs": [need]} for n, need in (("test", FIRST), ("core/deploy", "test"))]
    return cli("group", "submit", "-", input=json.dumps({"name": name, "jobs": row})).out.strip()


def type_it(cli, lift):
    """What a hint proposes, as a shell would take it."""
    typed = re.search(r"reeve (why|queue resume|task release) .*", lift)
    assert typed, lift
    result = cli(*shlex.split(typed.group(0))[1:])
    assert result.code == 0, result
    return result.out


def check(cli, api, code, words):
    """The same reason, wherever somebody may ask. Returns what would lift it."""
    def blocks():
        return [j for j in api.get("/v1/groups/odd name/why")["jobs"] if any(r["code"] == code for r in j["reasons"])]
    wait_until(blocks, what=f"the group says {code}")
    why = api.get("/v1/groups/odd name/why")
    assert [r["code"] for r in why["reasons"]] == ["group-runs"] and [j["job"] for j in why["jobs"]] == [FIRST], why
    assert f"; {FIRST}: " in why["summary"], why
    assert words in " ".join(r["text"] for r in why["jobs"][0]["reasons"]), why
    last = api.get("/v1/groups/odd name/jobs/core/deploy")["task"]
    deploy = api.get(f"/v1/tasks/{last}/why")
    assert [r["code"] for r in deploy["reasons"]] == ["needs", "needs-first"], deploy
    assert deploy["reasons"][0]["text"] == "it needs test, which has not ended", deploy
    assert deploy["reasons"][1]["text"] == f"the first of 2 in a row that it waits for is {FIRST}", deploy
    assert [j["job"] for j in deploy["jobs"]] == [FIRST] and deploy["jobs"] == why["jobs"], deploy
    for args in (("why", "odd name"), ("group", "why", "odd name"), ("why", "odd name/core/deploy"),
                 ("group", "why", "odd name", "test"), ("group", "show", "odd name")):
        out = cli(*args).out
        assert words in out and FIRST in out, (args, out)
    for reason in deploy["reasons"]:
        out = type_it(cli, reason["lift"])
        assert words in out, (reason, out)
    return next(r["lift"] for r in why["jobs"][0]["reasons"] if r["code"] == code)


def test_a_target_that_no_worker_has(api, cli):
    submit(cli, {"need": {"target": "sparc-solaris"}})
    lift = check(cli, api, "need-place", "it needs the target sparc-solaris")
    assert "reeve worker" in lift, lift


def test_a_label_that_no_worker_has(api, cli):
    submit(cli, {"need": {"labels": {"zone": "mars"}}})
    check(cli, api, "need-place", "it needs the label zone=mars")


def test_a_queue_that_is_paused(api, cli):
    cli("queue", "create", "slow one")
    cli("queue", "pause", "slow one", "--reason", "disk full")
    submit(cli, {"queue": "slow one"})
    type_it(cli, check(cli, api, "queue-paused", "the queue slow one is paused: disk full"))
    assert cli("wait", "odd name").code == 0


def test_a_job_that_is_held(api, cli):
    cli("queue", "create", "q")
    cli("queue", "pause", "q")
    submit(cli, {"queue": "q"})
    cli("task", "hold", f"odd name/{FIRST}", "--reason", "not today")
    cli("queue", "resume", "q")
    type_it(cli, check(cli, api, "held", f"it is held back by uid={os.getuid()} (status -10): not today"))
    assert cli("wait", "odd name").code == 0


def test_one_of_many_is_not_overlooked(api, cli):
    """However many others wait for a worker in the line before it."""
    cli("queue", "create", "q", "--threads", "0")
    jobs = [{"name": f"j{i}", "command": ["true"], "queue": "q"} for i in range(50)]
    jobs.append({"name": "odd", "command": ["true"], "need": {"target": "sparc-solaris"}})
    cli("group", "submit", "-", "--name", "many", input=json.dumps({"jobs": jobs}))
    why = api.get("/v1/groups/many/why")
    assert len(why["jobs"]) == 8 and "odd" in [j["job"] for j in why["jobs"][:2]], why
    assert "it needs the target sparc-solaris" in cli("why", "many").out


def test_what_a_token_does_not_see_is_not_named(dev, api, cli):
    for queue in ("mine", "theirs"):
        cli("queue", "create", queue)
    cli("queue", "pause", "theirs", "--reason", "a secret")
    jobs = [{"name": "hidden", "command": ["true"], "queue": "theirs"},
            {"name": "seen", "command": ["true"], "queue": "mine", "needs": ["hidden"]}]
    cli("group", "submit", "-", "--name", "mixed", input=json.dumps({"jobs": jobs}))
    token = api.post("/v1/tokens", {"name": "one", "role": "operate", "queues": ["mine"]}, 201)["token"]
    task = api.get("/v1/groups/mixed/jobs/seen")["task"]
    wait_until(lambda: api.get(f"/v1/tasks/{task}/why")["jobs"], what="it is known what blocks")
    answer = Api(dev, token).get(f"/v1/tasks/{task}/why")
    assert answer["jobs"] == [] and answer["reasons"][0]["code"] == "needs", answer
    assert "hidden" not in json.dumps(answer) and "secret" not in json.dumps(answer), answer


def test_what_has_ended_repeats_its_reason(api, cli):
    jobs = [{"name": "a", "command": ["sh", "-c", "exit 3"]}, {"name": "b", "command": ["true"], "needs": ["a"]}]
    cli("group", "submit", "-", "--name", "over", "--wait", input=json.dumps({"jobs": jobs}), check=False)
    why = api.get("/v1/groups/over/why")
    assert why["reasons"] == why["jobs"] == [], why
    assert "it has ended, and waits for nothing: 1 of 2 jobs failed" in why["summary"], why
    assert re.search(r"failed \(exit code 3\) on .*\n  it ended 0s ago, and waits for nothing\n", cli("why", "over/a").out)
    assert "dependency-failed: it needs a" in cli("why", "over/b").out
    assert re.search(r": it needs a, which failed\n  it ended \d+s ago, and waits", cli("why", "over/b").out)


def test_a_group_that_waits_says_what_holds_it(api, cli):
    """Those that dispatch, each with its first reason; the setting; and when it is looked at again."""
    cli("queue", "create", "q", "--threads", "2")
    for name in ("one", "two", "three"):
        job = {"name": "a", "queue": "q", "command": ["sleep", "600"]}
        cli("group", "submit", "-", "--name", name, input=json.dumps({"jobs": [job]}))
    for name in ("one", "two"):
        wait_until(lambda n=name: api.get(f"/v1/groups/{n}/jobs/a")["state"] == "dispatched", what=f"{name} runs")
    why = api.get("/v1/groups/three/why")
    assert [r["code"] for r in why["reasons"]] == ["group-waits"], why
    assert "2 of at most 2 groups go on at once (server.groups_active)" in why["reasons"][0]["text"], why
    assert re.search(r"has nothing to do for \d", why["reasons"][0]["lift"]), why
    assert [(j["group"], j["job"]) for j in why["jobs"]] == [("one", "a"), ("two", "a")], why
    assert "; one/a: it is running on worker" in why["summary"], why
    task = api.get("/v1/groups/three/jobs/a")["task"]
    assert api.get(f"/v1/tasks/{task}/why")["jobs"] == why["jobs"]
    for args in (("why", "three"), ("group", "why", "three"), ("why", "three/a"), ("group", "show", "three")):
        out = cli(*args).out
        assert "server.groups_active" in out and "one/a" in out, (args, out)
    for name in ("one", "two"):
        cli("group", "cancel", name)


def test_groups_that_nobody_can_run_keep_no_other_out(api, cli):
    """Each of them cost the good one 4 s."""
    job = {"name": "a", "command": ["true"]}
    for i in range(12):
        jobs = {"jobs": [dict(job, need={"target": "dead"})]}
        cli("group", "submit", "-", "--name", f"dead{i}", input=json.dumps(jobs))
    begin = time.monotonic()
    cli("group", "submit", "-", "--name", "good", "--wait", input=json.dumps({"jobs": [job]}))
    assert time.monotonic() - begin < 10
    assert {g["state"] for g in api.get("/v1/groups")["items"] if g["name"] != "good"} == {"dispatching"}


def test_who_waits_is_told_why_nothing_moves(server, tmp_path):
    """Once, and no line of progress is said twice."""
    jobs = {"name": "g", "jobs": [{"name": "a", "command": ["true"]}]}
    waited = server.cli("group", "submit", "-", "--wait", "--wait-timeout", "14s", input=json.dumps(jobs), check=False,
                        env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""})
    assert waited.code == 124, waited
    assert waited.err.count("waiting: a: no worker is connected") == 1, waited
    assert waited.err.count("0/1") == 1, waited
