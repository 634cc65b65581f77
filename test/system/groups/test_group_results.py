# SPDX-License-Identifier: Apache-2.0
"""What jobs of a group leave for those that need them, and what is left of a group when it is tried again."""
import json

import pytest
from client import Api
from harness import wait_until
from jobs import ended, job, submit



@pytest.fixture
def api(dev):
    return Api(dev)


def leaving(name, place, result, **members):
    path = place / f"{name}.json"
    return job(name, "sh", "-c", f"printf '%s' '{result}' >{path}", run={"result_file": str(path)}, **members)


def tasks_of(api, group):
    """Its tasks by name: their ids are those behind the group's."""
    first = int(group["id"], 16) + 1
    found = [api.get(f"/v1/tasks/{first + i:024x}") for i in range(group["jobs"])]
    return {t["name"]: t for t in found}


def output(api, task):
    return api.get(f"/v1/tasks/{task['id']}/logs").text


def test_a_job_sees_what_its_needs_left(api, tmp_path):
    g = submit(api, leaving("fetch", tmp_path, '{"v": 1, "artifacts": ["a.tar"]}'), leaving("text", tmp_path, "no JSON"),
               job("quiet"), job("use", "sh", "-c", 'cat "$REEVE_NEEDS"; echo; echo "$REEVE_NEEDS_JSON"',
                                 needs=["fetch", "text", "quiet"]))
    assert ended(api, g["id"])["state"] == "complete"
    tasks = tasks_of(api, g)
    file, variable = output(api, tasks["use"]).splitlines()
    assert file == variable
    seen = json.loads(file)
    assert set(seen) == {"fetch", "text"}, "who has nothing to say is not shown"
    fetch = seen["fetch"]
    assert fetch["result"] == {"v": 1, "artifacts": ["a.tar"]} and fetch["artifacts"] == ["a.tar"]
    assert seen["text"]["result"] == "no JSON" and "artifacts" not in seen["text"]
    task = tasks["fetch"]
    assert (fetch["task"], fetch["state"], fetch["exit"], fetch["attempt"]) == (task["id"], "built", 0, 1)
    assert fetch["started"] == task["started"] and fetch["ended"] == task["ended"]
    worker = api.get("/v1/workers")["items"][0]
    assert (fetch["worker"], fetch["host"], fetch["target"]) == (worker["name"], worker["host"], worker["target"])
    assert fetch["host"] and fetch["target"]


def test_who_is_shown_nothing_has_no_file(api):
    g = submit(api, job("a"), job("b", "sh", "-c", "env | grep REEVE_NEEDS || echo none", needs=["a"]))
    assert ended(api, g["id"])["state"] == "complete"
    assert output(api, tasks_of(api, g)["b"]) == "none\n"


def test_a_clean_up_job_sees_what_failed(api):
    g = submit(api, job("bad", "sh", "-c", "exit 7", max_attempts=1), job("skipped", needs=["bad"]),
               job("clean", "sh", "-c", 'cat "$REEVE_NEEDS"',
                   needs=[{"job": "bad", "after": "end"}, {"job": "skipped", "after": "end"}]))
    assert ended(api, g["id"])["state"] == "failed"
    seen = json.loads(output(api, tasks_of(api, g)["clean"]))
    assert (seen["bad"]["state"], seen["bad"]["exit"], seen["bad"]["result"]) == ("job-failed", 7, None)
    assert seen["skipped"]["state"] == "dependency-failed" and seen["skipped"]["started"] is None
    assert seen["bad"]["host"] and (seen["skipped"]["host"], seen["skipped"]["target"]) == (None, None)


def test_in_a_sandbox_it_is_the_same_file(api, tmp_path):
    g = submit(api, leaving("a", tmp_path, "5"),
               job("b", "sh", "-c", 'cat "$REEVE_NEEDS"', needs=["a"], run={"sandbox": {}, "status_file": False}))
    assert ended(api, g["id"])["state"] == "complete", output(api, tasks_of(api, g)["b"])
    assert json.loads(output(api, tasks_of(api, g)["b"]))["a"]["result"] == 5


def test_results_that_are_too_much_together_are_left_out(api, tmp_path):
    text = "x" * 50000
    g = submit(api, *[leaving(f"j{i}", tmp_path, text) for i in range(6)],
               job("use", "sh", "-c", 'cat "$REEVE_NEEDS"', needs=[f"j{i}" for i in range(6)]))
    assert ended(api, g["id"])["state"] == "complete"
    seen = json.loads(output(api, tasks_of(api, g)["use"]))
    assert len(seen) == 6 and all(s["result"] is None and s["result_left_out"] for s in seen.values())


def failing(name, flag, **members):
    """Fails until the file is there."""
    return job(name, "sh", "-c", f"test -e {flag}", max_attempts=1, **members)


def test_what_failed_is_done_again_with_what_was_built(api, tmp_path):
    flag, log = tmp_path / "flag", tmp_path / "log"
    use = job("use", "sh", "-c", f'cat "$REEVE_NEEDS"; echo $REEVE_GROUP >>{log}', needs=["fetch", "bad"], env={"A": "b"})
    first = submit(api, leaving("fetch", tmp_path, '{"v": 7}'), job("early"), failing("bad", flag, needs=["early"]), use,
                   name="night", policy="fail-fast")
    assert ended(api, "night")["state"] == "failed" and first["retried_of"] is None
    flag.touch()
    again = api.post("/v1/groups/night/retry", {"what": "failed", "name": "night-2"}, 201)
    assert (again["retried_of"], again["jobs"], again["policy"], again["name"]) == (first["id"], 4, "fail-fast", "night-2")
    done = ended(api, again["id"])
    assert done["state"] == "complete" and done["counts"]["built"] == 4
    before, after = tasks_of(api, first), tasks_of(api, again)
    assert set(after) == {"fetch", "early", "bad", "use"}
    taken = after["fetch"]
    assert taken["state"] == "succeeded" and taken["result"] == '{"v": 7}'
    assert taken["reason"] == f"taken from group {first['id']}, task {before['fetch']['id']}"
    assert taken["started"] == before["fetch"]["started"]
    seen = json.loads(output(api, after["use"]))
    assert seen["fetch"]["result"] == {"v": 7} and seen["fetch"]["task"] == taken["id"]
    assert after["use"]["env"] == {"A": "b"} and log.read_text() == again["id"] + "\n"


def test_from_one_job_on(api, tmp_path):
    log = tmp_path / "log"
    jobs = [job(n, "sh", "-c", f"echo {n} >>{log}", needs=needs) for n, needs in
            [("a", []), ("b", ["a"]), ("c", ["b"]), ("d", ["a"])]]
    g = submit(api, *jobs)
    assert ended(api, g["id"])["state"] == "complete"
    log.unlink()
    again = api.post(f"/v1/groups/{g['id']}/retry", {"what": "from", "job": "b"}, 201)
    assert ended(api, again["id"])["state"] == "complete"
    assert log.read_text().split() == ["b", "c"] and again["jobs"] == 3, "a is there as it was, d is not"
    by_id = api.post(f"/v1/groups/{g['id']}/retry", {"what": "from", "job": tasks_of(api, g)["d"]["id"]}, 201)
    assert ended(api, by_id["id"])["state"] == "complete" and log.read_text().split() == ["b", "c", "d"]
    third = api.post(f"/v1/groups/{again['id']}/retry", {"what": "from", "job": "c"}, 201)
    assert third["retried_of"] == again["id"] and ended(api, third["id"])["counts"]["built"] == 2


def test_what_cannot_be_tried_again(api):
    g = submit(api, job("a", "sleep", "1000"), job("b", needs=["a"]))
    retry = f"/v1/groups/{g['id']}/retry"

    def no(status, name, detail, body, path=retry):
        api.refused("POST", path, status, name, detail=detail, json=body)

    no(409, "conflict", "has not ended", {})
    api.post(f"/v1/groups/{g['id']}/cancel", {})
    ended(api, g["id"])
    no(400, "invalid", 'needs a "job"', {"what": "from"})
    no(400, "invalid", "only for", {"what": "failed", "job": "a"})
    no(400, "invalid", "what", {"what": "everything"})
    no(404, "not-found", 'no job "x"', {"what": "from", "job": "x"})
    no(404, "not-found", "no", {}, "/v1/groups/nobody/retry")
    done = submit(api, job("a"))
    ended(api, done["id"])
    no(409, "conflict", "nothing is left", {}, f"/v1/groups/{done['id']}/retry")


def test_a_long_group_is_tried_again(api):
    jobs = [job(f"j{i}", needs=[f"j{i // 2}"] if i else [], labels={"i": str(i)}) for i in range(1500)]
    g = submit(api, *jobs, job("bad", "false", needs=["j0"], max_attempts=1), job("rest", needs=["bad"]))
    assert ended(api, g["id"])["state"] == "failed"
    again = api.post(f"/v1/groups/{g['id']}/retry", {}, 201)
    assert again["jobs"] == 3 and ended(api, again["id"])["counts"] == {
        "built": 1, "failed": 1, "lost": 0, "skipped": 1, "cancelled": 0}
    whole = api.post(f"/v1/groups/{g['id']}/retry", {"what": "from", "job": "j0"}, 201)
    assert whole["jobs"] == 1502
    assert ended(api, whole["id"])["counts"]["built"] == 1500


def test_a_group_goes_when_its_jobs_have_gone(new_cluster, tmp_path):
    file = tmp_path / "reeve.json"
    file.write_text(json.dumps({"server": {"retention": {"count": 1}}}))
    cluster = new_cluster()
    cluster.start_server("--config", file)
    cluster.start_worker()
    api = Api(cluster)
    live = submit(api, job("first"), job("held", "sleep", "1000", needs=["first"]), name="live")
    over = submit(api, job("a"), job("b", needs=["a"]), name="over")
    ended(api, "over")
    cluster.wait_ended(api.submit()["id"])
    wait_until(lambda: api.ask("GET", "/v1/groups/over").status_code == 404, what="the group has gone with its jobs")
    first = int(over["id"], 16) + 1
    assert [api.ask("GET", f"/v1/tasks/{first + i:024x}").status_code for i in range(2)] == [404, 404]
    assert tasks_of(api, live)["first"]["state"] == "succeeded", "a group that has not ended keeps its jobs"


def test_what_took_long_before_goes_first_in_the_next_group(api, tmp_path):
    log = tmp_path / "log"
    api.post("/v1/queues", {"name": "one", "threads": 1}, 201)

    def jobs(long=None):
        return [job(n, "sh", "-c", f"echo {n} >>{log}; sleep {3 if n == long else 0}") for n in ("a", "b", "c")]

    first = submit(api, *jobs("c"), series="night", queue="one")
    assert first["series"] == "night" and ended(api, first["id"])["state"] == "complete"
    assert log.read_text().split() == ["a", "b", "c"], "nothing is known of them yet"
    log.unlink()
    second = submit(api, *jobs(), job("new", "sh", "-c", f"echo new >>{log}"), series="night", queue="one")
    assert ended(api, second["id"])["state"] == "complete"
    order = log.read_text().split()
    assert order[0] == "c" and order[1] == "new", "what is new counts as the average"
    log.unlink()
    other = submit(api, *jobs(), series="day", queue="one")
    assert ended(api, other["id"])["state"] == "complete"
    assert log.read_text().split() == ["a", "b", "c"], "another series knows nothing of it"
    again = api.post(f"/v1/groups/{second['id']}/retry", {"what": "from", "job": "a"}, 201)
    assert again["series"] == "night"
    api.refused("POST", "/v1/groups", 400, "invalid", json={"jobs": jobs(), "series": "x" * 129})


def test_a_clean_up_after_some_element(api, tmp_path):
    """As docs/GROUPS.md has it: each element is a need of its own, so a `failure` waits for all of them to fail."""
    log = tmp_path / "log"
    look = 'test -z "$REEVE_NEEDS" || ! grep -q "\\"state\\":\\"job-" "$REEVE_NEEDS"'

    def run(bad):
        array = job("build", "sh", "-c", f'test "$n" -gt {bad}', matrix={"n": [1, 2, 3]}, max_attempts=1)
        g = submit(api, array, job("clean", "sh", "-c", f"{look} || echo some >>{log}", needs=[{"job": "build", "after": "end"}]),
                   job("all", "sh", "-c", f"echo all >>{log}", needs=[{"job": "build", "after": "failure"}]))
        log.write_text("")
        ended(api, g["id"])
        return sorted(log.read_text().split())

    assert (run(0), run(1), run(3)) == ([], ["some"], ["all", "some"])


def test_a_killed_server_shows_the_same(new_cluster, tmp_path):
    """Each job of a chain tells if it does not see what the one before it left."""
    cluster = new_cluster()
    cluster.start_server()
    cluster.start_worker()
    api = Api(cluster)
    n, wrong = 12, tmp_path / "wrong"

    def link(i):
        check = f'''test "$REEVE_NEEDS_JSON" && grep -q '"result":{{"n":{i - 1}}}' "$REEVE_NEEDS" || touch {wrong};''' if i else ""
        path = tmp_path / f"{i}.json"
        return job(f"j{i}", "sh", "-c", f"""{check} sleep 0.2; echo '{{"n": {i}}}' >{path}""", needs=[f"j{i - 1}"] if i else [],
                   run={"result_file": str(path)}, max_attempts=20)

    g = submit(api, *[link(i) for i in range(n)])
    for built in (2, 5, 8):
        wait_until(lambda b=built: api.get(f"/v1/groups/{g['id']}")["counts"]["built"] >= b, what=f"{built} jobs are built")
        cluster.server.kill9()
        cluster.restart()
    done = ended(api, g["id"])
    assert done["state"] == "complete" and done["counts"]["built"] == n, done
    assert not wrong.exists()
