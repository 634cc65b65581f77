# SPDX-License-Identifier: Apache-2.0
"""What was built from the same in an earlier group of the series is taken as it is, if that is wished."""
import json

from client import Api
from harness import wait_until
from jobs import ended, job, submit
from test_groups import output, tasks_of


def api_of(cluster, *options):
    cluster.start_server(*options)
    cluster.start_worker()
    return Api(cluster)


class Builds:
    """a, b after a, c after b, and d, which needs nothing: each says in a log that it was built, and leaves a result."""

    def __init__(self, api, folder):
        self.api, self.folder, self.log = api, folder, folder / "log"

    def job(self, name, *needs, text="", **members):
        path = self.folder / f"{name}.json"
        return job(name, "sh", "-c", f"echo {name} >>{self.log}; echo '\"{name}{text}\"' >{path}", needs=list(needs),
                   run={"result_file": str(path)}, **members)

    def jobs(self, **changed):
        all_of = {"a": (), "b": ("a",), "c": ("b",), "d": ()}
        return [self.job(n, *needs, **changed.get(n, {})) for n, needs in all_of.items()]

    def run(self, *jobs, **members):
        """The group, and the jobs of it that were built now."""
        self.log.write_text("")
        g = submit(self.api, *jobs, **{"series": "night", "reuse": True, **members})
        done = ended(self.api, g["id"])
        assert done["state"] == "complete" and done["counts"]["built"] == len(jobs), done
        return g, sorted(self.log.read_text().split())


def test_only_what_has_changed_is_built(new_cluster, tmp_path):
    cluster = new_cluster()
    api = api_of(cluster)
    builds = Builds(api, tmp_path)
    first, built = builds.run(*builds.jobs())
    assert built == ["a", "b", "c", "d"], "nothing was built before"
    before = tasks_of(api, first)

    same, built = builds.run(*builds.jobs())
    assert built == [], "the same input"
    for name, task in tasks_of(api, same).items():
        assert task["reason"] == f"taken from group {first['id']}, task {before[name]['id']}: same input"
        assert (task["result"], task["started"]) == (before[name]["result"], before[name]["started"])
    said = [e["detail"]["reason"] for e in api.get("/v1/events?kind=group.queued")["items"] if e.get("detail")]
    assert said == ["4 of 4 jobs are taken from earlier groups: same input"], said

    assert "4 built in earlier groups" in cluster.cli("group", "show", same["id"]).out
    assert "earlier groups" not in cluster.cli("group", "show", first["id"]).out

    cluster.server.kill9()
    cluster.restart()
    changed = builds.jobs(b={"text": "2"})
    changed.append(job("see", "sh", "-c", 'cat "$REEVE_NEEDS"', needs=["a", "b"]))
    second, built = builds.run(*changed)
    assert built == ["b", "c"], "another command, and what needs it"
    seen = json.loads(output(api, tasks_of(api, second)["see"]["id"]))
    assert (seen["a"]["result"], seen["b"]["result"]) == ("a", "b2"), "what was taken is shown"
    assert "same input" in seen["a"]["reason"]

    assert builds.run(*builds.jobs(d={"env": {"X": "1"}}, b={"text": "2"}))[1] == ["d"], "another environment"
    api.patch("/v1/queues/default", {"env": {"Y": "1"}})
    assert builds.run(*builds.jobs(d={"env": {"X": "1"}}, b={"text": "2"}))[1] == ["a", "b", "c", "d"], "the queue's"
    assert builds.run(*builds.jobs(), reuse=False)[1] == ["a", "b", "c", "d"], "only if it is wished"
    assert builds.run(*builds.jobs(), series="day")[1] == ["a", "b", "c", "d"], "another series"
    assert builds.run(*builds.jobs())[1] == []
    api.refused("POST", "/v1/groups", 400, "invalid", detail="series", json={"jobs": [job("a")], "reuse": True})


def test_what_goes_by_another_end_is_always_built(new_cluster, tmp_path):
    api = api_of(new_cluster())
    builds = Builds(api, tmp_path)
    jobs = [builds.job("a"), builds.job("b", {"job": "a", "after": "end"}), builds.job("c", "b")]
    builds.run(*jobs)
    assert builds.run(*jobs)[1] == ["b", "c"]


def test_what_is_left_counts_too(new_cluster, tmp_path):
    api = api_of(new_cluster())
    builds = Builds(api, tmp_path)
    flag = tmp_path / "flag"
    jobs = [*builds.jobs(), job("e", "sh", "-c", f"test -e {flag} && echo e >>{builds.log}", max_attempts=1)]
    first = submit(api, *jobs, series="night")
    assert ended(api, first["id"])["state"] == "failed"
    flag.touch()
    again = api.post(f"/v1/groups/{first['id']}/retry", {}, 201)
    assert ended(api, again["id"])["state"] == "complete"
    assert builds.run(*jobs)[1] == [], "e was built in the retry"


def test_what_has_gone_is_built_again(new_cluster, tmp_path):
    file = tmp_path / "reeve.json"
    file.write_text(json.dumps({"server": {"retention": {"count": 1}}}))
    api = api_of(new_cluster(), "--config", file)
    builds = Builds(api, tmp_path)
    first, _ = builds.run(*builds.jobs())
    api.submit()
    wait_until(lambda: api.ask("GET", f"/v1/groups/{first['id']}").status_code == 404, what="the group has gone")
    assert builds.run(*builds.jobs())[1] == ["a", "b", "c", "d"]


def test_a_kept_graph_is_a_series(new_cluster, tmp_path):
    """What is built outside of the group is a part of the input, too."""
    api = api_of(new_cluster())
    log = tmp_path / "log"

    def upload(ident, *build):
        api.post("/v1/graphs/core/packages", {"packages": [{"ident": ident, "build": list(build)}]}, 200)

    def trigger(*touched):
        log.write_text("")
        g = api.post("/v1/groups", {"graph": "core", "touched": list(touched), "reuse": True,
                                    "job": {"command": ["sh", "-c", f"echo {{package}} >>{log}"]}}, 201)
        assert g["series"] == "core" and ended(api, g["id"])["state"] == "complete"
        return sorted(log.read_text().split())

    api.ask("PUT", "/v1/graphs/core/packages", json={"packages": [
        {"ident": "o/lib/1/1"}, {"ident": "o/app/1/1", "build": ["o/lib"]}, {"ident": "o/top/1/1", "build": ["o/app"]}]})
    assert trigger("o/app") == ["o/app", "o/top"]
    assert trigger("o/app") == []
    upload("o/lib/1/2")
    assert trigger("o/app") == ["o/app", "o/top"], "built with another lib"
    upload("o/top/1/2", "o/app")
    assert trigger("o/app") == ["o/top"]
