# SPDX-License-Identifier: Apache-2.0
"""Somebody at the worker port who knows everything that can be read, but has no other worker's key."""
import json
import os
import ssl
import stat
import time

import pytest
from client import Api
from harness import wait_until
from link_client import Closed, Link, new_key, number, text
from test_security import certs, server_flags  # noqa: F401 (a fixture)

YEARS_31 = 31 * 366 * 86400 * 1000
CHUNK = 65536


def worker_of(server, name="w1"):
    return next(w for w in server.get("/v1/workers")["items"] if w["name"] == name)


def inner(shown):
    """Inside, an id is its first and last bytes: the five between are the installation's."""
    return int(shown[:8] + shown[-6:], 16)


def busy(server, *command):
    """A task that runs on w1 until it is told to end; returns its file and its object."""
    flag = os.path.join(server.dir, "go-on")
    task = server.submit("sh", "-c", f"echo real; while [ ! -e {flag} ]; do sleep 0.05; done; echo done", max_attempts=1)
    server.wait_task(task["id"], "running")
    return flag, task


def finish(server, flag, task):
    """The real worker ends its own task, and nobody else did."""
    assert server.task(task["id"])["state"] == "running"
    open(flag, "w").close()
    assert server.wait_ended(task["id"])["state"] == "succeeded"
    assert server.cli("logs", task["id"]).out == "real\ndone\n"


def test_an_instance_is_not_taken_over_by_who_knows_its_number(server):
    worker = server.start_worker()
    flag, task = busy(server)
    instance = int(worker_of(server)["instance"], 16)
    for lock in ("whatever", f"{open('/etc/machine-id').read().strip()}:{os.path.realpath(server.state_dir('w1'))}"):
        for dial in (2, 1 << 40, 1 << 56):
            with Link(server) as thief:
                thief.knock("w1", instance, new_key())
                thief.hello("w1", instance, lock=lock, dial=dial, start=int(time.time() * 1000) + 10**6,
                            tasks=[(inner(task["id"]), 1)])
                assert "only the worker itself" in thief.refused()
                with pytest.raises((Closed, BrokenPipeError, ConnectionError)):
                    for _ in range(1000):
                        thief.ended(inner(task["id"]), 1)
                        thief.read()
    with Link(server) as thief:
        thief.knock("w1", instance, new_key())
        thief.hello("w1", instance, dial=(1 << 63) - 1)
        assert "hello.dial" in thief.refused()
    assert worker.running and "has taken over" not in worker.log()
    finish(server, flag, task)
    # not locked out: it comes back, also as the next process
    worker.kill9()
    server.restart(worker)
    assert server.wait_ended(server.submit("echo", "again")["id"])["stdout"] == "again\n"


def test_a_lock_is_not_taken_by_who_can_read_it(server):
    worker = server.start_worker()
    task = server.wait_ended(server.submit("sh", "-c", "env")["id"])
    shown = dict(line.split("=", 1) for line in task["stdout"].splitlines() if "=" in line)["REEVE_WORKER_LOCK"]
    real = f"{open('/etc/machine-id').read().strip()}:{os.path.realpath(server.state_dir('w1'))}"
    assert real not in task["stdout"] and len(shown) == 16
    assert real not in json.dumps(server.json("worker", "ls")) and shown not in json.dumps(server.json("worker", "ls"))
    flag, task = busy(server)
    for lock in (real, shown):
        for start in (int(time.time() * 1000) + YEARS_31, 1 << 56):
            with Link(server) as thief:
                thief.knock("w1", 77, new_key())
                thief.hello("w1", 77, lock=lock, start=start)
                assert "another worker has this name" in thief.refused()
    assert worker.running
    finish(server, flag, task)
    worker.stop()
    server.restart(worker)
    assert server.wait_ended(server.submit("echo", "again")["id"])["stdout"] == "again\n"


def test_proofs_do_not_hold_for_anything_else(server):
    key, other = new_key(), new_key()
    with Link(server) as good:
        good.knock("w9", 5, key)
        overheard, nonce = good.signature, good.nonce
        good.hello("w9", 5)
        good.wait("welcome")
        for how, knock in {"replayed": {"signature": overheard}, "of another connection": {"nonce": nonce},
                           "of another key": {"signer": other}, "of zeros": {"signature": bytes(64)}}.items():
            with Link(server) as bad:
                bad.knock("w9", 5, key, **knock)
                assert "proof" in bad.refused(), how
        # a proof for one name or instance is not one for another
        for shard, instance in (("w8", 5), ("w9", 6)):
            with Link(server) as bad:
                bad.knock("w9", 5, key)
                bad.hello(shard, instance)
                assert "another worker" in bad.refused()
        with Link(server) as bad:
            bad.wait("challenge")
            bad.hello("w9", 5)
            assert "must be a knock" in bad.refused()
        with Link(server) as old:
            old.knock("w9", 5, key, protocol=2)
            assert "version 2" in old.refused() and "update" in old.refused()


def test_a_key_outlives_its_process_and_is_nobody_elses(server):
    worker = server.start_worker()
    path = os.path.join(server.state_dir("w1"), "key")
    before = open(path, "rb").read()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600 and len(before) == 32
    worker.kill9()
    server.restart(worker)
    server.wait_ended(server.submit("true")["id"])
    assert open(path, "rb").read() == before
    worker.stop()
    for spoil, word in ((lambda: os.chmod(path, 0o644), "chmod 600"), (lambda: open(path, "wb").write(b"short"), "key")):
        spoil()
        worker.start()
        assert worker.child.wait(30) != 0 and word in worker.log()
        os.chmod(path, 0o600)
    open(path, "wb").write(os.urandom(32))  # another key: another worker, for as long as the first is not lost
    worker.start()
    wait_until(lambda: "another worker has this name" in worker.log(), what="it is told why it is refused")


def test_nothing_with_a_nul_passes_for_what_is_before_it(cluster):
    cluster.start_server(env={"REEVE_SERVER_JOIN_TOKEN": "RIGHT-and-long-enough"})
    key = new_key()
    for token in (b"RIGHT-and-long-enough\0zz", b"RIGHT-and-long-enoug", b"RIGHT-and-long-enough2", None):
        with Link(cluster) as bad:
            bad.knock("w1", 1, key, token=token)
            reason = bad.refused()
            assert ("NUL" if token and b"\0" in token else "join token") in reason
    with Link(cluster) as bad:
        bad.knock(b"w1\0x", 1, key, token="RIGHT-and-long-enough")
        assert "NUL" in bad.refused()
    with Link(cluster) as good:
        good.join("w1", key, token="RIGHT-and-long-enough")
    assert "RIGHT" not in cluster.server.log()


def test_a_join_token_does_not_speak_for_others(cluster):
    cluster.start_server(env={"REEVE_SERVER_JOIN_TOKEN": "the-token-of-all"})
    cluster.start_worker(env={"REEVE_WORKER_TOKEN": "the-token-of-all"})
    flag, task = busy(cluster)
    instance = int(worker_of(cluster)["instance"], 16)
    with Link(cluster) as thief:
        thief.knock("w1", instance, new_key(), token="the-token-of-all")
        thief.hello("w1", instance)
        assert "only the worker itself" in thief.refused()
    # admitted under a name of its own, it is heard of its own attempts only
    with Link(cluster) as other:
        other.join("evil", new_key(), token="the-token-of-all", maxthreads=0)
        for call in (other.started, other.ended):
            call(inner(task["id"]), 1)
        other.output(inner(task["id"]), 1, b"forged")
        other.notified(1 << 40, [(inner(task["id"]), 1)])
        other.wait("output_ack", "ended_ack")
        assert cluster.task(task["id"])["state"] == "running"
    finish(cluster, flag, task)


class NoSecret:
    """The point of order 1 as a key: anybody signs for it, whatever is to be signed."""
    signature = bytes([1]) + bytes(63)

    def public_key(self):
        return self

    def public_bytes(self, *_):
        return bytes([1]) + bytes(31)


def test_a_key_that_needs_no_secret_is_refused(server):
    with Link(server) as bad:
        bad.knock("w1", 1, NoSecret(), signature=NoSecret.signature)
        assert "anybody can sign" in bad.refused()
    assert not server.has_worker("w1")


def orders(link):
    part, run = link.wait("run")
    return run[1][0], run[2][0]


def test_a_worker_is_held_to_the_limits(server):
    api = Api(server)
    server.create_queue("small", output_max=2 * CHUNK)
    with Link(server) as bad:
        bad.join("evil", new_key(), maxthreads=1000000, started_ms=int(time.time() * 1000) + YEARS_31)
        assert worker_of(server, "evil")["maxthreads"] == 10000
        assert worker_of(server, "evil")["started"] < "2050"
        task = server.submit("true", queue="small")
        bad.wait("run")
        for i in range(64):
            bad.output(inner(task["id"]), 1, bytes(CHUNK), offset=i * CHUNK)
        huge = (1 << 63) - 1
        bad.ended(inner(task["id"]), 1, extra=number(11, 2) + number(14, 1 << 62) + number(16, huge) +
                  text(18, number(1, huge) + number(2, huge) + number(3, huge)))
        ended = server.wait_ended(task["id"])
        assert ended["stdout_bytes"] == 2 * CHUNK and ended["usage"]["user_ms"] > 0, ended
        log = api.ask("GET", f"/v1/tasks/{task['id']}/logs")
        assert log.status_code == 200 and len(log.content) < 2 * CHUNK + 200 and b"dropped" in log.content
        # what cannot be unpacked is refused when it comes
        task = server.submit("true", queue="small")
        wait_until(lambda: [bad.read(), len(bad.heard["run"]) == 2][1], what="the second run came")
        bad.output(inner(task["id"]), 1, b"\x28\xb5\x2f\xfd garbage", codec=1, raw=CHUNK)
        assert "output.data" in bad.wait("refused")[1][1][0].decode()
    assert api.ask("GET", f"/v1/tasks/{task['id']}/logs").status_code == 200


def test_certificates_are_for_names(cluster, certs):  # noqa: F811
    cluster.start_server(*server_flags(certs, "link-", "ca"))
    tls = ["--tls-ca", certs / "ca.pem", "--tls-cert", certs / "w1.pem", "--tls-key", certs / "w1.key"]
    other = cluster._process("w2", ["worker", "--join", cluster.link, "--name", "w2", "--state-dir",
                                    cluster.state_dir("w2"), *tls], cluster.join)
    wait_until(lambda: "its certificate is not for this name" in other.log(), what="the worker is told why")
    assert "its certificate is not for this name" in cluster.server.log()
    for name in ("w1", "also-w1"):  # by its CN, and by a DNS name
        cluster.start_worker(*tls, name=name)
    assert not cluster.has_worker("w2")
    context = ssl.create_default_context(cafile=certs / "ca.pem")
    context.load_cert_chain(certs / "w1.pem", certs / "w1.key")
    for name in ("w3", ".example", "*", "w1.", "w"):
        with Link(cluster, context) as bad:
            bad.knock(name, 1, new_key())
            assert "certificate" in bad.refused()


# -- before anybody is let in

def flood(server, n, head, body):
    """So many connections, each with the beginning of a frame."""
    links = [Link(server) for _ in range(n)]
    for link in links:
        link.socket.setblocking(False)
        try:
            link.socket.send(head + body)
        except (BlockingIOError, ConnectionError):
            pass
    return links


@pytest.fixture
def released(cluster):
    """A server as it is released: a sanitizer's memory says nothing."""
    cluster.binary = os.environ.get("REEVE_RELEASE_BIN")
    if not cluster.binary:
        pytest.skip("REEVE_RELEASE_BIN names no released program")
    return cluster


@pytest.mark.parametrize("bytes_said", [8 << 20, 65536])
def test_strangers_cost_little(released, bytes_said):
    released.start_server(env={"REEVE_SERVER_LIMITS_LINKS_WAITING_MAX": "400"})
    released.start_worker()
    before = released.server.rss_kb()
    released.server.reset_peak()
    links = flood(released, 500, bytes_said.to_bytes(4, "big"), bytes(65000))
    # somebody honest is let in meanwhile, and what is there works
    with Link(released) as honest:
        honest.join("other", new_key(), maxthreads=0)
        assert released.wait_ended(released.submit("echo", "x")["id"])["stdout"] == "x\n"
    grown = released.server.rss_kb("VmHWM") - before
    for link in links:
        link.socket.close()
    print(f"{grown} kB")
    assert grown < 400 * 160 + 16384, f"500 strangers cost {grown} kB"


def test_unfinished_frames_of_workers_have_one_limit(released):
    released.start_server(env={"REEVE_SERVER_LIMITS_LINKS_BUFFERED_MAX": "16MiB"})
    released.start_worker()
    before = released.server.rss_kb()
    released.server.reset_peak()
    links = []
    for i in range(20):
        links.append(Link(released).join(f"evil{i}", new_key(), maxthreads=0))
        links[i].socket.settimeout(0.2)
        try:
            links[i].socket.sendall((8 << 20).to_bytes(4, "big") + bytes((8 << 20) - 1))
        except OSError:
            pass
    wait_until(lambda: "this one has most of them" in released.server.log(), what="the greediest is closed")
    assert released.wait_ended(released.submit("echo", "x")["id"])["stdout"] == "x\n"
    grown = released.server.rss_kb("VmHWM") - before
    for link in links:
        link.socket.close()
    print(f"{grown} kB")
    assert grown < 3 * 16384 + 16384, f"160 MiB of unfinished frames cost {grown} kB"


def join_as(server, name, key, instance, **more):
    """What becomes of a hello: "welcome", or the reason that it is refused for."""
    with Link(server) as link:
        link.knock(name, instance, key, **more)
        link.hello(name, instance, dial=int(time.monotonic() * 1e6))
        part, said = link.wait("welcome", "refused")
        return part if part == "welcome" else said[1][0].decode()


def test_a_join_token_does_not_make_names_without_end(cluster):
    cluster.start_server(env={"REEVE_SERVER_LIMITS_JOINS_PER_MINUTE": "20"})
    other = cluster.cli("token", "create", "other", "--join").out.strip()
    key, begun = new_key(), time.monotonic()
    answers = [join_as(cluster, f"n{i}", key, i + 1) for i in range(60)]
    may = 20 + 20 * (time.monotonic() - begun) / 60 + 1
    assert 20 <= answers.count("welcome") <= may, answers.count("welcome")
    why = next(a for a in answers if a != "welcome")
    assert "joins_per_minute" in why and "tries again" in why
    assert len(cluster.get("/v1/workers")["items"]) == answers.count("welcome")
    # who is known comes back, after a restart of the server too; a worker of another token joins
    assert all(join_as(cluster, f"n{i}", key, i + 1) == "welcome" for i in range(20))
    real = cluster.start_worker(name="real", env={"REEVE_WORKER_TOKEN": other})
    # an honest one that comes too early shows why, and is let in by itself
    for i in range(100, 160):
        join_as(cluster, f"n{i}", key, i + 1)
    late = cluster._process("late", ["worker", "--join", cluster.link, "--name", "late", "--state-dir", cluster.state_dir("late")],
                            {"REEVE_WORKER_TOKEN": cluster.own_token("join-token")})
    wait_until(lambda: cluster.has_worker("late"), timeout=120, what="it is let in")
    assert late.running and real.running


def test_the_server_knows_no_more_workers_than_it_may(cluster):
    cluster.start_server(env={"REEVE_SERVER_LIMITS_WORKERS_MAX": "5"})
    key = new_key()
    answers = [join_as(cluster, f"n{i}", key, i + 1) for i in range(8)]
    assert answers[:5] == ["welcome"] * 5
    assert all("workers_max" in a and "reeve worker rm" in a for a in answers[5:])
    assert cluster.server.stop() == 0
    cluster.restart()
    assert join_as(cluster, "n3", key, 4) == "welcome", "who is known comes back"
    cluster.cli("worker", "rm", "--lost", "n1")
    assert join_as(cluster, "n9", new_key(), 10) == "welcome"
