# SPDX-License-Identifier: Apache-2.0
"""The way down to an older schema and up again, with groups in every state that lasts."""
import json
from pathlib import Path

from client import Api
from harness import ROOT, wait_until

OLDEST = 13  # before batches, needs and groups
GATED = "echo {name} >>{log}; while [ ! -e {gate} ]; do sleep 0.05; done"


def job(name, command, **members):
    return {"name": name, "command": ["sh", "-c", command], **members}


def state(api, name):
    return api.get(f"/v1/groups/{name}")["state"]


def stands(api, name, wanted):
    wait_until(lambda: state(api, name) == wanted, what=f"group {name} is {wanted}")


def begins(log, name):
    wait_until(lambda: log.exists() and name in log.read_text().split(), what=f"{name} runs")


def make_all(api, log, gate):
    """Three workers' threads are taken in the end, so that one more group has to wait for its turn."""
    def gated(name, before="", **members):
        return job(name, before + GATED.format(name=name, log=log, gate=gate), **members)

    def group(name, *jobs, **members):
        api.post("/v1/groups", {"name": name, "jobs": list(jobs), **members}, 201)

    group("complete", job("a", f"echo a >>{log}"))
    stands(api, "complete", "complete")
    group("failed", job("b", "exit 3"), job("never", f"echo never >>{log}", needs=["b"]))
    stands(api, "failed", "failed")
    group("cleanup", gated("slow"), job("bad", f"while ! grep -q slow {log}; do sleep 0.05; done; exit 3"),
          policy="fail-fast")
    begins(log, "slow")
    stands(api, "cleanup", "failure-cleanup")
    group("canceling", gated("stubborn", "trap '' TERM; ", run={"kill": {"method": "term"}}))
    begins(log, "stubborn")
    api.post("/v1/groups/canceling/cancel", {"reason": "enough"}, 200)
    stands(api, "canceling", "canceling")
    group("dispatching", gated("first"), job("second", f"echo second >>{log}", needs=["first"]))
    begins(log, "first")
    group("queued", job("last", f"echo last >>{log}"))
    stands(api, "queued", "queued")
    group("canceled", job("none", f"echo never >>{log}"))
    api.post("/v1/groups/canceled/cancel", {}, 200)
    stands(api, "canceled", "canceled")
    return ["complete", "failed", "cleanup", "canceling", "dispatching", "queued", "canceled"]


def test_groups_in_every_state(new_cluster, tmp_path):
    file, log, gate = tmp_path / "reeve.json", tmp_path / "log", tmp_path / "gate"
    file.write_text(json.dumps({"server": {"groups_active": 1}}))
    cluster = new_cluster()
    cluster.start_server("--config", file)
    cluster.start_worker("--maxthreads", 3)
    api = Api(cluster)
    names = make_all(api, log, gate)
    before = {n: api.get(f"/v1/groups/{n}") for n in names}
    jobs = {n: api.get(f"/v1/groups/{n}/jobs")["items"] for n in names}
    url = f"sqlite:{cluster.state_dir()}/reeve.db"
    cluster.server.kill9()
    newest = len(list(Path(ROOT, "src/store/migrations").glob("*_up.sql")))
    for version in range(newest - 1, OLDEST - 1, -1):
        cluster.cli("store", "migrate", "--to", version, "--store", url)
        cluster.cli("store", "migrate", "--store", url)
    said = cluster.cli("store", "check", "--store", url)
    assert said.code == 0, said
    cluster.restart()
    for n in names:
        assert api.get(f"/v1/groups/{n}") == before[n]
        assert api.get(f"/v1/groups/{n}/jobs")["items"] == jobs[n]
    gate.touch()
    ends = {"cleanup": "failed", "canceling": "canceled", "dispatching": "complete", "queued": "complete"}
    for name, end in ends.items():
        stands(api, name, end)
    assert sorted(log.read_text().split()) == sorted(["a", "slow", "stubborn", "first", "second", "last"])
