# SPDX-License-Identifier: Apache-2.0
"""A bad network between workers and server, under load. Each worker dials through a proxy of its own."""
import chaos
import pytest
from chaos import LONG, SHORT, Load, judge, pause, proxies, rng, wait_worker  # noqa: F401 (fixtures)
from harness import wait_until
from proxy import DOWN, UP
from records import Records

ROUNDS = 12
WAYS = [{"up": True, "down": False}, {"up": False, "down": True}, {"up": True, "down": True}]
WAY_NAMES = ["up", "down", "both"]


class Stand:
    """A server, two workers behind their proxies, and load."""

    def __init__(self, cluster, proxies, rng, seconds=(0, 0, 0.05, 0.3)):
        self.cluster, self.rng = cluster, rng
        cluster.start_server(env=SHORT)
        cluster.create_queue(chaos.QUEUE, threads=6)
        self.proxies = [proxies(cluster.link, rng.random()) for _ in range(2)]
        self.workers = [cluster.start_worker("--maxthreads", 4, "--when-lost", "restart", name=f"w{i + 1}", join=p.address)
                        for i, p in enumerate(self.proxies)]
        self.wait_healthy()
        self.instances = self.who()
        self.load = Load(cluster, rng, seconds).begin()
        self.load.wait_more()

    def who(self):
        return {w["name"]: w["instance"] for w in self.cluster.get("/v1/workers")["items"]}

    def wait_healthy(self):
        chaos.wait_healthy(self.cluster, "w1", "w2")

    def victims(self):
        return self.rng.choice([self.proxies[:1], self.proxies[1:], self.proxies])

    def judge(self, certain):
        """certain: the faults were shorter than the limits, so nobody was lost, and nothing may be repeated."""
        for p in self.proxies:
            p.heal()
        self.wait_healthy()
        tasks = judge(self.cluster, self.load, certain)
        if certain:
            assert self.who() == self.instances and all(w.running for w in self.workers)
            retried = [t for t in tasks.values() if t["attempt"] > 1 and t["labels"]["code"] == "0"]
            assert not retried, "nobody was lost, so nothing that succeeds was tried twice"
        return tasks


@pytest.fixture
def stand(proxies, cluster, rng):
    return Stand(cluster, proxies, rng)


def test_delays(stand):
    for _ in range(ROUNDS // 2):
        for p in stand.victims():
            most = stand.rng.uniform(0.02, 0.3)
            p.delay(up=(0, most), down=(0, stand.rng.uniform(0, most)))
        stand.load.wait_more()
        pause(stand.rng, 0.2, 0.8)
    stand.judge(certain=True)


@pytest.mark.parametrize("how", ["rst", "fin"])
def test_cuts_inside_a_frame(stand, how):
    for _ in range(ROUNDS * 2):
        for p in stand.victims():
            p.cut_after(stand.rng.choice([0, 1, 3, 5, 20, 200, 2000]), stand.rng.choice([UP, DOWN]), how)
        pause(stand.rng, 0.05, 0.4)
    stand.judge(certain=True)


def test_cuts_at_any_moment(stand):
    for _ in range(ROUNDS * 2):
        for p in stand.victims():
            p.cut(stand.rng.choice(["rst", "fin"]))
        if stand.rng.random() < 0.5:
            stand.load.wait_more()
        pause(stand.rng, 0, 0.2)
    stand.judge(certain=True)


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_short_black_hole(stand, way):
    """What is swallowed comes late, but before anybody has given up."""
    for _ in range(4):
        victims = stand.victims()
        for p in victims:
            p.black_hole(**way)
        pause(stand.rng, 0.1, 0.9)
        for p in victims:
            p.heal()
        stand.load.wait_more()
    stand.judge(certain=True)


@pytest.mark.parametrize("way", WAYS, ids=WAY_NAMES)
def test_a_long_black_hole(proxies, cluster, rng, way):
    """w1 is lost, whichever way it cannot be heard or hear; its tasks go on elsewhere, after they ended here. What the
    hole held back comes then, much too late, and does no harm."""
    stand = Stand(cluster, proxies, rng, seconds=(0, 0.1, 0.8))
    records = Records(cluster)
    once = cluster.submit(*records.command(LONG))["id"]
    records.wait_begun(1)
    where = cluster.get(f"/v1/tasks/{once}")["worker"]
    stand.proxies[int(where[1]) - 1].black_hole(**way)
    assert cluster.wait_ended(once)["state"] == "orphaned"
    assert chaos.task_processes({once}) == [], "an orphan is certainly over"
    stand.load.wait_more()
    stand.judge(certain=False)
    records.check(once=[once])
    assert stand.who()[where] != stand.instances[where], "it came back as another"


@pytest.mark.parametrize("late", [False, True], ids=["silent", "with late words"])
def test_half_open_connections(stand, late):
    """The server still holds the old connection when the worker comes on a new one."""
    for _ in range(ROUNDS):
        victims = stand.victims()
        for p in victims:
            if late:
                p.black_hole(up=True, down=stand.rng.random() < 0.5)
        if late:
            pause(stand.rng, 0.02, 0.3)
        for p in victims:
            p.half_open()
        pause(stand.rng, 0, 0.2)
        for p in victims:
            p.black_hole(up=False, down=False)  # the new hello and the old words, in whatever order
        if stand.rng.random() < 0.5:
            stand.load.wait_more()
        for p in victims:
            p.heal()
    stand.judge(certain=True)


def test_refused_for_a_while(stand):
    for _ in range(ROUNDS // 3):
        victims = stand.victims()
        for p in victims:
            p.refuse()
            p.cut()
        pause(stand.rng, 0.1, 1.0)
        for p in victims:
            p.heal()
        stand.wait_healthy()  # else one could be refused again and again until it is lost
    stand.judge(certain=True)


def test_everything_at_once(stand):
    """Any fault after any other, the server killed now and then: no promise but the promises."""
    faults = [lambda p: p.delay(up=(0, 0.2), down=(0, 0.2)), lambda p: p.cut("rst"), lambda p: p.half_open(),
              lambda p: p.cut_after(stand.rng.randrange(500), stand.rng.choice([UP, DOWN])),
              lambda p: p.black_hole(**stand.rng.choice(WAYS)), lambda p: p.refuse()]
    for _ in range(ROUNDS * 2):
        for p in stand.victims():
            stand.rng.choice(faults + [lambda p: p.heal()] * 3)(p)
        if stand.rng.random() < 0.15:
            stand.cluster.server.kill9()
            stand.cluster.server.start()
        pause(stand.rng, 0, 0.6)
    chaos.wait_open(stand.cluster)
    stand.judge(certain=False)
