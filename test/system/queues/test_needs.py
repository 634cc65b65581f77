# SPDX-License-Identifier: Apache-2.0
"""Placement by need with real workers: labels, resources, the cluster's own; who holds what after a crash; why."""
import pytest
import requests
from chaos import wait_worker
from harness import wait_until
from records import Records


def free(cluster, worker, what):
    return cluster.get(f"/v1/workers/{worker}")["free"][what]


def reasons(cluster, task):
    return {r["code"]: r["text"] for r in cluster.get(f"/v1/tasks/{task}/why")["reasons"]}


def test_tasks_go_where_they_may_be(cluster):
    cluster.start_server()
    cluster.start_worker("--label", "disk=ssd", "--resource", "gpu=2", name="w1")
    cluster.start_worker("--label", "disk=hdd", "--zone", "cellar", "--target", "arm64-linux", name="w2")
    for need, worker in ((("disk=ssd",), "w1"), (("disk=hdd",), "w2"), (("zone=cellar",), "w2")):
        task = cluster.submit("true", need={"labels": dict(n.split("=") for n in need)})["id"]
        assert cluster.wait_ended(task)["worker"] == worker
    for need, worker in (("target=arm64-linux", "w2"), ("not.disk=hdd", "w1"), ("gpu=1,memory=1M,cpu=0.1,disk=1K", "w1")):
        task = cluster.cli("submit", "--need", need, "--", "true").out.strip()
        assert cluster.wait_ended(task)["worker"] == worker
    nowhere = cluster.submit("true", need="label.disk=tape")["id"]
    assert reasons(cluster, nowhere)["need-place"].endswith("it needs the label disk=tape")
    cluster.start_worker("--label", "disk=tape", name="w3")
    assert cluster.wait_ended(nowhere)["worker"] == "w3"
    shown = cluster.get("/v1/workers/w1")
    assert shown["offers"]["gpu"] == 2 and shown["offers"]["cpu"] >= 0.001 and shown["offers"]["memory"] > 1 << 20
    assert "gpu=2" in cluster.cli("worker", "show", "w1").out


def test_resources_are_exact_over_crashes(cluster):
    cluster.start_server("--cluster-resource", "licence=3")
    for name in "w1", "w2":
        cluster.start_worker("--resource", "gpu=2", "--maxthreads", 20, name=name)
    cluster.create_queue("q", need="gpu=1")
    records = Records(cluster)
    forever = [{"queue": "q", "command": records.command("forever")}] * 5
    ids = cluster.submit_many(forever)["ids"]
    records.wait_begun(4)
    waits = [i for i in ids if cluster.task(i)["state"] == "queued"]
    assert len(waits) == 1
    assert reasons(cluster, waits[0])["need-short"] == "it needs 1 of gpu: of 2 workers the freest has 0; total 4"
    assert free(cluster, "w1", "gpu") == free(cluster, "w2", "gpu") == 0
    cluster.cli("queue", "set", "q", "--need", "none")
    wait_until(lambda: cluster.task(waits[0])["state"] == "running", what="it needs nothing any more")
    cluster.server.kill9()
    cluster.restart()
    for name in "w1", "w2":
        wait_worker(cluster, name, "healthy")
        assert free(cluster, name, "gpu") == 0, "what was charged is known from the rows"
    big = cluster.submit("true", queue="q", need="gpu=2")["id"]
    holder = [i for i in ids if cluster.task(i)["holds"]]
    assert len(holder) == 4 and cluster.task(holder[0])["holds"] == {"resources": {"gpu": 1}}
    for i in ids:
        cluster.cli("cancel", i)
    assert cluster.wait_ended(big)["state"] == "succeeded"
    wait_until(lambda: free(cluster, "w1", "gpu") == free(cluster, "w2", "gpu") == 2, what="all is given back")
    records.check()


def test_the_cluster_has_its_own(cluster):
    cluster.start_server("--cluster-resource", "licence=3")
    for name in "w1", "w2":
        cluster.start_worker("--maxthreads", 20, name=name)
    records = Records(cluster)
    cluster.submit_many([{"command": records.command(0.05), "need": {"resources": {"licence": 1}}}] * 30)
    assert cluster.wait_idle() == {"succeeded": 30}
    records.check()
    assert records.most_at_once() <= 3
    held = cluster.submit("sleep", "1000", need="licence=2")["id"]
    cluster.wait_task(held, "running")
    short = cluster.submit("true", need="licence=2")["id"]
    assert reasons(cluster, short)["resource-short"] == "it needs 2 of licence: of 3 in the whole cluster 1 are free"
    never = cluster.submit("true", need="licence=4")["id"]
    assert reasons(cluster, never)["resource-too-much"] == "it needs 4 of licence: the whole cluster has only 3"
    assert cluster.status()["resources"] == [{"name": "licence", "total": 3, "held": 2}]
    assert "licence 2 of 3 held" in cluster.cli("status").out
    metrics = requests.get(cluster._base + "/metrics", headers=cluster.auth, timeout=10).text
    assert 'reeve_resource_held{resource="licence"} 2\n' in metrics
    cluster.cli("cancel", held)
    assert cluster.wait_ended(short)["state"] == "succeeded"


def test_an_array_has_a_limit_of_its_own(cluster):
    """At most so many at once, with a worker that could run all, also when the server is killed and the worker runs on."""
    cluster.start_server()
    cluster.start_worker("--maxthreads", 20, name="w1")
    records, others = Records(cluster), Records(cluster)
    batch = cluster.cli("submit", "--array", "1-12%3", "--", "sh", "-c",
                        f"while [ ! -e {records.dir}/go ]; do sleep 0.02; done; exec \"$@\"", "sh", *records.command(0.2)).out.strip()

    def tasks(state):
        return [t["id"] for t in cluster.all_tasks(batch=batch, state=state)]

    wait_until(lambda: len(tasks("running")) == 3, what="three of them run")
    assert cluster.wait_ended(cluster.submit(*others.command())["id"])["state"] == "succeeded", "others pass"
    waiting = tasks("queued")
    assert len(waiting) == 9 and reasons(cluster, waiting[0])["throttled"] == "3 of at most 3 tasks of this array run"
    cluster.server.kill9()
    cluster.restart()
    wait_worker(cluster, "w1", "healthy")
    assert len(tasks("queued")) == 9, "what runs is known from the rows"
    open(f"{records.dir}/go", "w").close()
    records.wait_begun(5)
    cluster.server.kill9()
    cluster.restart()
    assert cluster.cli("wait", batch).code == 0
    assert len(tasks("succeeded")) == 12
    records.check()
    assert len(records.begun()) == 12 and records.most_at_once() <= 3
    assert [q["name"] for q in cluster.get("/v1/queues")["items"]] == ["default"], "no queue was made for it"
    need = cluster.task(waiting[0])["need"]["throttles"]
    assert list(need.values()) == [3] and f"throttle.{next(iter(need))}=3" in cluster.cli("task", "show", waiting[0]).out


def test_a_limit_of_lines(dev):
    """From standard input too, beside a need that is given; two arrays do not count for each other."""
    records = Records(dev)
    for _ in range(2):
        dev.cli("submit", "--array", "-%1", "--need", "cpu=0.001", "--", *records.command("forever"), input="a\nb\n")
    records.wait_begun(2)
    assert dev.get("/v1/tasks/summary")["states"] == {"running": 2, "queued": 2}
    for wrong in "1-9%", "1-9%0", "1%2,3", "-%x":
        assert "is not how many may run at once" in dev.cli("submit", "--array", wrong, "--", "true", check=False).err


@pytest.mark.parametrize("need, what", [
    ("throttle.db=0", "is not how many may run at once"), ({"throttles": {"d b": 1}}, "is not the key of a throttle"),
    ("memory=8X", "is not an amount"), ("gpu=-1", "is not an amount"), ("gpu=0", "needs nothing"), ("gpu", "is not name=value"),
    ({"cpus": 1}, "cpus"), ({"resources": {"cpu": 1}}, "is no resource of its own"), (7, "an object, or a text")])
def test_what_is_wrong_is_refused(dev, need, what):
    problem = dev.call("POST", "/v1/tasks", expect=400, json={"command": ["true"], "need": need}).json()
    assert what in problem["detail"] and problem["field"].startswith("need")


def test_a_schedule_has_needs_too(dev):
    dev.cli("schedule", "add", "s", "--crontab", "0 0 1 1 *", "--tz", "UTC", "--max-shift", "1h", "--need", "memory=9000G", "--", "true")
    task = dev.call("POST", "/v1/schedules/s/run").json()["tasks"][0]
    assert dev.task(task)["need"] == {"memory": 9000 << 30}
    assert "need-too-much" in dev.why(task)
    assert "memory=8.7 TiB" in dev.cli("schedule", "show", "s").out
