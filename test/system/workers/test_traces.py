# SPDX-License-Identifier: Apache-2.0
"""--trace-shiviz: files of several processes, put together, are one true story."""
import os
import re

import pytest
import shiviz
from harness import ROOT, wait_until


def trace_file(cluster, name):
    return os.path.join(cluster.dir, f"{name}.shiviz")


def whole(cluster):
    text = ""
    for name in sorted(os.listdir(cluster.dir)):
        if name.endswith(".shiviz"):
            with open(os.path.join(cluster.dir, name)) as f:
                text += f.read()
    return text


def processes_of(hosts, name):
    return [host for host in hosts if host.startswith(name + ".")]


def said(hosts, name, pattern):
    return any(re.search(pattern, e.text) for host in processes_of(hosts, name) for e in hosts[host])


def start(cluster, *names):
    cluster.start_server("--trace-shiviz", trace_file(cluster, "server"), env={"REEVE_SERVER_HEARTBEAT": "200ms"})
    return [cluster.start_worker("--trace-shiviz", trace_file(cluster, name), name=name) for name in names]


def run_tasks(cluster, n):
    ids = [cluster.submit("true")["id"] for _ in range(n)]
    for task in ids:
        assert cluster.wait_ended(task)["state"] == "succeeded"
    return ids


def test_server_and_workers_tell_one_story(cluster):
    workers = start(cluster, "w1", "w2")
    ids = run_tasks(cluster, 20)
    for process in [*workers, cluster.server]:
        assert process.stop() == 0
    hosts, received = shiviz.check(whole(cluster))
    assert len(hosts) == 3 and received > 20
    for name in ("w1", "w2"):
        assert said(hosts, name, r"^sends to server: hello, holds nothing$")
        assert said(hosts, name, r"^receives from server: welcome \(")
        assert said(hosts, name, r"^sends to server: .*\bbeat \d+ \(")
        assert said(hosts, name, r"^receives from server: .*\bbeat-ack \d+ \(healthy")
        assert said(hosts, name, r"\bcheck 1\b") and said(hosts, name, r"\bchecked 1 ok\b")
    for task in ids:
        assert said(hosts, "server", rf"^sends to w\d\S+: .*\brun\b.* {task}/\d+")
        assert said(hosts, "w1", rf"^starts {task}/") or said(hosts, "w2", rf"^starts {task}/")
        assert said(hosts, "server", rf"^receives from w\d\S+: .*\bended\b.* {task}/\d+ succeeded")
        assert said(hosts, "server", rf"^task.succeeded {task}\b")


def test_killed_processes_leave_a_true_story(cluster):
    """What was sent is in the file before it leaves, so a kill takes nothing that others heard of."""
    w1, _ = start(cluster, "w1", "w2")
    run_tasks(cluster, 5)
    w1.kill9()
    cluster.restart(w1)
    wait_until(lambda: len(re.findall(r"^w1\.\S+ .*\nreceives from server: welcome", whole(cluster), re.M)) == 2,
               what="w1 is welcome again")
    run_tasks(cluster, 5)
    cluster.server.kill9()
    cluster.restart()
    run_tasks(cluster, 5)
    for process in cluster.processes:
        process.stop()
    hosts, _ = shiviz.check(whole(cluster))
    assert len(processes_of(hosts, "server")) == 2, "each process counts from 1, under a name of its own"
    assert len(processes_of(hosts, "w1")) == 2
    assert len(processes_of(hosts, "w2")) == 1
    assert said(hosts, "w2", "^the link is gone: ")


def test_one_side_alone(cluster):
    """A peer without a trace sends no clocks; the story is then only one's own."""
    cluster.start_server()
    worker = cluster.start_worker("--trace-shiviz", trace_file(cluster, "w1"), name="w1")
    run_tasks(cluster, 3)
    assert worker.stop() == 0
    hosts = shiviz.by_host(shiviz.parse(whole(cluster)))
    shiviz.check_counters(hosts)
    shiviz.check_past(hosts)
    assert len(hosts) == 1 and said(hosts, "w1", "^starts ")


def test_dev_shares_one_file(cluster):
    cluster.start_dev("--trace-shiviz", trace_file(cluster, "dev"))
    run_tasks(cluster, 3)
    assert cluster.server.stop() == 0
    hosts, received = shiviz.check(whole(cluster))
    assert len(hosts) == 2 and received > 3


@pytest.mark.parametrize("program", ["server", "worker"])
def test_a_file_that_can_not_be_opened(reeve, tmp_path, program):
    result = reeve(program, "--state-dir", tmp_path / "state", "--trace-shiviz", tmp_path / "no" / "trace", check=False)
    assert result.code == 1
    assert f"{tmp_path}/no/trace" in result.err and "--trace-shiviz" in result.err


def simulated(reeve, tmp_path, *args):
    path = tmp_path / "sim.shiviz"
    result = reeve("sim", *args, "--trace-shiviz", path)
    return result, path.read_text()


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_simulator(reeve, tmp_path, seed):
    """With everything that can happen to nodes and messages."""
    args = ["--from", seed, "--workers", "4", "--minutes", "3", "--tasks", "60"]
    result, text = simulated(reeve, tmp_path, *args)
    hosts, received = shiviz.check(text)
    assert {"server", "w0", "w1", "w2", "w3"} <= set(hosts) and received > 100
    assert any("sends to server: hello" in e.text for e in hosts["w1"])
    # looking on changes nothing, and the next run begins a new file
    plain = reeve("sim", *args, "--seeds", "1", "--trace")
    found = [re.findall(r"hash ([0-9a-f]{16})", out)[-1] for out in (result.out, plain.out)]
    assert found[0] == found[1]
    assert simulated(reeve, tmp_path, *args)[1] == text


def test_simulator_traces_one_seed_at_a_time(reeve, tmp_path):
    result = reeve("sim", "--seeds", "2", "--trace-shiviz", tmp_path / "x", check=False)
    assert result.code == 2 and "one seed" in result.err
    result = reeve("sim", "--trace-shiviz", tmp_path / "no" / "x", check=False)
    assert result.code == 1 and f"{tmp_path}/no/x" in result.err


def scenarios():
    folder = os.path.join(ROOT, "test", "sim", "scenarios")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".json"))


@pytest.mark.parametrize("path", scenarios(), ids=os.path.basename)
def test_scripted_scenarios(reeve, tmp_path, path):
    out = tmp_path / "play.shiviz"
    reeve("sim", "play", path, "--trace-shiviz", out, check=False)
    hosts, _ = shiviz.check(out.read_text())
    assert hosts


@pytest.mark.parametrize("wrong, why", [
    ('a {"a":2}\nx\n', "own counter"),
    ('a {"a":1,"b":1}\nx\n', "never happened"),
    ('a {"a":1}\nsends to b: x\nb {"b":1}\nreceives from a: x\n', "nobody sent"),
    ('a {"a":1,"b":1}\nx\nb {"a":1,"b":1}\ny\n', "future"),
    ('a {"a":1}\nx\nstray\n', "not an event"),
    ('a {"a":1}\nx\nb {"b":1,"a":1}\ny\nb {"b":2}\nz\n', "forgot"),
])
def test_the_checker_sees_lies(wrong, why):
    with pytest.raises(AssertionError, match=why):
        shiviz.check(wrong)
