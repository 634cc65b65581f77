# SPDX-License-Identifier: Apache-2.0
"""Volatile dispatch, and a worker that was let in, served well for a while, and then claims what another runs. Whose an
attempt is that no row tells of, says its receipt."""
import os

import chaos
import pytest
from chaos import proxies  # noqa: F401 (a fixture)
from harness import wait_until
from link_client import Link, new_key
from test_hostile_worker import inner

VOLATILE = {"REEVE_SERVER_DISPATCH": "volatile", "REEVE_SERVER_HEARTBEAT": "200ms"}
HEALTHY = 2


class Member:
    """A worker of the set that is spoken by hand, under one key, through several connections."""

    def __init__(self, cluster, name, instance, **facts):
        self.cluster, self.name, self.instance, self.facts = cluster, name, instance, facts
        self.key, self.dials, self.link = new_key(), 0, None

    def dial(self, tasks=()):
        self.dials += 1
        self.link = Link(self.cluster)
        self.link.knock(self.name, self.instance, self.key)
        self.link.hello(self.name, self.instance, lock=self.name, dial=self.dials, tasks=tasks, **self.facts)
        self.link.wait("welcome")
        return self.link

    def serve(self, until):
        """Answers checks and repeats each set that it is told, until that is so."""
        link, beats, checks = self.link, 0, 0
        while not until(link):
            beats += 1
            link.beat(beats, HEALTHY, (link.heard.get("beat_ack") or [{2: [link.heard["welcome"][-1][8][0]]}])[-1][2][0])
            if len(link.heard.get("check", [])) > checks:
                checks = len(link.heard["check"])
                link.checked(link.heard["check"][-1][1][0])
            link.read()
        return link

    def serve_until_healthy(self):
        self.dial()
        return self.serve(lambda link: any(link.state_of(m[2][0]) == HEALTHY for m in link.heard.get("beat_ack", [])))


def restart(cluster, dispatch="volatile"):
    cluster.server.kill9()
    cluster.server.env = dict(cluster.server.env, REEVE_SERVER_DISPATCH=dispatch)
    cluster.server.start()
    chaos.wait_open(cluster)


def unwritten(cluster, proxy, go):
    """A task that the real w1 runs, and of which nothing reaches the server; with its token."""
    began = os.path.join(cluster.dir, "began")
    proxy.black_hole(up=True, down=False)
    task = cluster.submit("sh", "-c", f"echo $REEVE_TASK_TOKEN >>{began}; echo real; "
                          f"while [ ! -e {go} ]; do sleep 0.05; done; echo done", max_attempts=3)["id"]
    wait_until(lambda: os.path.exists(began) and open(began).read().strip(), what="the task has begun")
    return task, began, int(open(began).read())


@pytest.mark.parametrize("dispatch,keep", [("volatile", False), ("durable", False), ("volatile", True)])
def test_nobody_claims_what_another_runs(proxies, cluster, dispatch, keep):  # noqa: F811
    cluster.start_server(env=VOLATILE)
    proxy = proxies(cluster.link)
    w1 = cluster.start_worker(*(["--on-worker-exit", "keep"] if keep else []), join=proxy.address)
    chaos.wait_healthy(cluster, "w1")
    evil = Member(cluster, "evil", 66, maxthreads=0, receipts=True)
    evil.serve_until_healthy()
    go = os.path.join(cluster.dir, "go")
    task, began, token = unwritten(cluster, proxy, go)
    restart(cluster, dispatch)
    if keep:
        w1.kill9()  # its keeper has the receipt
        w1.start()
    assert cluster.task(task)["state"] == "queued", "nothing was written of its start"
    for receipt in (b"", b"\x01" * 16):
        link = evil.dial(tasks=[(inner(task), token, receipt)])
        kill = link.wait("kill")[1]
        assert kill[1][0] == inner(task) and kill[4][0] == 1, "it is to be forgotten"
        link.started(inner(task), token)
        link.ended(inner(task), token)
        link.wait("ended_ack")
        assert cluster.task(task)["state"] == "queued"
    proxy.heal()
    wait_until(lambda: cluster.task(task)["state"] == "running", what="its worker says that it has it")
    assert cluster.task(task)["worker"] == "w1" and cluster.task(task)["attempt"] == 1
    open(go, "w").close()
    ended = cluster.wait_ended(task)
    assert ended["state"] == "succeeded" and ended["attempt"] == 1, ended
    assert cluster.cli("logs", task).out == "real\ndone\n"
    assert open(began).read().split() == [str(token)], "it began once"


def test_a_receipt_is_for_one_worker_and_one_attempt(cluster):
    cluster.start_server(env=VOLATILE)
    owner = Member(cluster, "owner", 1, maxthreads=1, receipts=True)
    evil = Member(cluster, "evil", 2, maxthreads=0, receipts=True)
    owner.serve_until_healthy()
    task = cluster.submit("true", max_attempts=3)["id"]
    run = owner.serve(lambda link: "run" in link.heard).heard["run"][-1]
    receipt = run[16][0]
    assert len(receipt) == 16 and run[1][0] == inner(task)
    evil.dial()
    restart(cluster)
    assert evil.dial(tasks=[(inner(task), run[2][0], receipt)]).wait("kill"), "it is another's"
    other = owner.dial(tasks=[(inner(task), run[2][0] + 1, receipt)])
    assert other.wait("kill"), "it is of another attempt"
    assert cluster.task(task)["state"] == "queued"
    link = owner.dial(tasks=[(inner(task), run[2][0], receipt)])
    wait_until(lambda: cluster.task(task)["state"] != "queued", what="it is believed")
    link.ended(inner(task), run[2][0])
    assert cluster.wait_ended(task)["state"] == "succeeded" and cluster.task(task)["worker"] == "owner"


@pytest.mark.parametrize("dispatch,receipts", [("volatile", False), ("durable", True), ("durable", False)])
def test_without_receipts_orders_are_written_down(cluster, dispatch, receipts):
    """An older worker keeps none; a durable server gives none."""
    cluster.start_server(env=dict(VOLATILE, REEVE_SERVER_DISPATCH=dispatch))
    worker = Member(cluster, "old", 1, maxthreads=1, receipts=receipts)
    worker.serve_until_healthy()
    task = cluster.submit("true", max_attempts=3)["id"]
    run = worker.serve(lambda link: "run" in link.heard).heard["run"][-1]
    assert (16 in run) == (dispatch == "volatile")
    restart(cluster, dispatch)
    assert cluster.task(task)["state"] != "queued", "its row says who has it"
    link = worker.dial(tasks=[(inner(task), run[2][0])])
    link.ended(inner(task), run[2][0])
    assert cluster.wait_ended(task)["state"] == "succeeded" and cluster.task(task)["attempt"] == 1
