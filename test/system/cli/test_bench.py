# SPDX-License-Identifier: Apache-2.0
"""`reeve bench` measures everything that it promises, and leaves nothing behind. No figure is judged here."""
import os
import signal
import subprocess
import tempfile

import harness
import pytest


@pytest.fixture
def disk():
    # Not below pytest's own directory: a unix socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="rb-") as path:
        yield path


def processes_in(path):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if path.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


def test_all_cases(reeve, disk):
    result = reeve("bench", "--scale", "0.01", "--dir", disk, timeout=harness.PATIENCE * 4)
    out = result.json
    assert {"run", "machine", "submit", "noop", "spawn", "latency", "backlog", "cron", "plan", "needs", "services", "goals"} <= out.keys()
    assert out["machine"]["fdatasync_4k_append"]["per_s"] > 0
    assert out["machine"]["sqlite_insert_1000_rows_per_commit"]["rows_per_s"] > 0
    for way in "one_by_one_unix", "one_by_one_tcp":
        for clients in "clients_1", "clients_8", "clients_64":
            assert out["submit"][way][clients]["tasks_per_s"] > 0
    assert out["submit"]["bulk"]["tasks_per_s"] > 0
    assert out["noop"]["end_to_end"]["tasks_per_s"] > 0
    assert out["noop"]["drain"]["tasks_per_s"] > 0
    assert out["spawn"]["tasks_per_s"] > 0 and out["spawn"]["ratio_to_bare_loops"] > 0
    assert 0 < out["latency"]["idle"]["p50_ms"] <= out["latency"]["idle"]["p99_ms"]
    assert out["latency"]["half_load"]["samples"] > 0
    assert out["backlog"]["queued"] >= 5000 and out["backlog"]["rss_queued_mb"] > 0
    for queue in "other_queue", "same_queue":
        assert out["backlog"][queue]["ratio"]["bulk_submit"] > 0
        assert out["backlog"][queue]["ratio"]["drain"] > 0
    assert out["cron"]["peers"] is None and out["cron"]["least_ratio_common"] is None
    for pattern in out["cron"]["patterns"].values():
        assert pattern["fresh_per_s"] > 0 and pattern["walking_per_s"] > 0
    for shape in "layers", "small_cycles", "huge_cycle":
        assert out["plan"][shape]["jobs"] >= 1000 and out["plan"][shape]["plan_cpu_s"] > 0
    assert out["goals"] and all({"name", "goal", "measured", "met"} <= g.keys() for g in out["goals"])
    assert "workers" not in out and "schedules" not in out and "dag" not in out  # take minutes: only by name
    assert os.listdir(disk) == []


def test_one_case(reeve, disk):
    out = reeve("bench", "--scale", "0.001", "--dir", disk, "noop").json
    assert "noop" in out and "backlog" not in out


def test_dag(reeve, disk):
    graph = os.path.join(disk, "graph.json")
    with open(graph, "w", encoding="utf-8") as file:
        file.write('{"packages": [{"ident": "o/a/1/1"}, {"ident": "o/b/1/1", "build": ["o/a"]}]}')
    out = reeve("bench", "--scale", "0.001", "--spawn-threads", "3", "--graph", graph, "--dir", disk, "dag",
                timeout=harness.PATIENCE * 4).json["dag"]
    gaps = out["end_to_start"]
    assert gaps["samples"] == 49 and 0 < gaps["p50_ms"] <= gaps["p99_ms"] <= gaps["max_ms"]
    for shape in "chain", "wide", "layers", "real":
        noop, true = out[shape]["noop"], out[shape]["true"]
        assert noop["jobs"] == true["jobs"] == (2 if shape == "real" else 100)
        assert noop["jobs_per_s"] > 0 and noop["ratio_to_noop"] > 0
        assert (true["peers_at_once"], true["two"]["at_once"], true["many"]["at_once"]) == (2, 2, 3)
        assert true["two"]["jobs_per_s"] > 0 and true["many"]["jobs_per_s"] > 0
        if "make_per_s" in true:
            assert true["two"]["ratio_to_make"] > 0 and true["many"]["ratio_to_make"] > 0
    assert out["chain"]["noop_few"]["edges"] == 99
    assert out["waiting"]["jobs"] == 1000 and 0 < out["waiting"]["rss_mb"] <= out["waiting"]["rss_peak_mb"]
    os.unlink(graph)
    assert os.listdir(disk) == []
    assert not processes_in(disk)


@pytest.mark.parametrize("dispatch", ["durable", "volatile"])
def test_workers(reeve, disk, dispatch):
    out = reeve("bench", "--workers", "50", "--seconds", "1", "--heartbeat", "500ms", "--dispatch", dispatch,
                "--dir", disk, "workers", timeout=harness.PATIENCE * 4).json
    figures = out["workers"][dispatch]
    assert out["workers"]["workers"] == 50 and out["workers"].keys() >= {"consensus", dispatch}
    assert {"durable", "volatile"} - out["workers"].keys() == {"durable", "volatile"} - {dispatch}
    assert out["workers"]["consensus"]["worst_ms"] > 0
    assert figures["links_lost"] == 0
    assert figures["beat_answered"]["samples"] > 0 and figures["frames_to_server_per_s"] > 0
    assert figures["server_rss_mb"] > 0 and figures["server_cpu_percent"] >= 0
    for figure in "all_healthy_s", "all_know_the_set_s", "set_change_s", "newcomer_healthy_s", \
                  "all_healthy_after_restart_s":
        assert figures[figure] > 0, figure
    assert [g for g in out["goals"] if dispatch in g["name"]]
    assert os.listdir(disk) == []
    assert not processes_in(disk)


def test_schedules(reeve, disk):
    out = reeve("bench", "--schedules", "500", "--scale", "0.02", "--seconds", "1", "--dir", disk, "schedules",
                timeout=harness.PATIENCE * 4).json
    figures = out["schedules"]
    assert figures["schedules"] == 100 and figures["created_per_s"] > 0 and figures["restart_s"] > 0
    assert figures["rss_mb"] > figures["rss_mb_before"] and figures["rss_mb_loaded"] > 0
    assert 0 <= figures["idle_cpu_percent"] < 100
    assert figures["due"]["ticks"] == 200
    for way in "alone", "watched":
        late = figures["due"][way]["submitted"]
        assert late["samples"] == 200 and 0 <= late["p50_ms"] <= late["p99_ms"] <= late["max_ms"]
    told = figures["due"]["watched"]["told"]
    assert told["samples"] == 200 and told["max_ms"] > 0
    assert len([g for g in out["goals"] if g["name"].startswith("schedules")]) == 5
    assert os.listdir(disk) == []
    assert not processes_in(disk)


FAKE_NODE = """#!/usr/bin/python3
import json, sys
question = json.load(open(sys.argv[2]))
answer = {"fresh_per_s": 1, "walking_per_s": 2, "fresh": [t - 1 for t in question["starts"]], "walk": [question["starts"][0]]}
json.dump({name: answer if pattern else None for name, pattern in question["patterns"].items()}, open(sys.argv[3], "w"))
"""


@pytest.fixture
def fake_peers(tmp_path):
    """Peers whose every answer is wrong, and a "node" that gives them."""
    (tmp_path / "run.mjs").write_text("")
    for name in "croner", "cron-parser":
        (tmp_path / "node_modules" / name).mkdir(parents=True)
        (tmp_path / "node_modules" / name / "package.json").write_text('{"version": "1.2.3"}')
    (tmp_path / "node").write_text(FAKE_NODE)
    (tmp_path / "node").chmod(0o755)
    return tmp_path


def test_cron_counts_where_peers_differ(reeve, disk, fake_peers):
    out = reeve("bench", "--scale", "0.001", "--dir", disk, "--peers", str(fake_peers), "cron", timeout=harness.PATIENCE,
                env={"PATH": f"{fake_peers}:{os.environ['PATH']}"}).json["cron"]
    assert out["peers"] == {"croner": "1.2.3", "cron-parser": "1.2.3"}
    tuesdays = out["patterns"]["tuesdays_at_0230"]
    assert tuesdays["croner"]["differ"] == tuesdays["croner"]["answers"] == out["start_times"]
    assert tuesdays["croner"]["walk_differ"] == 1
    assert tuesdays["croner"]["example"]["ours"] > tuesdays["croner"]["example"]["theirs"]
    assert tuesdays["ratio"] == min(tuesdays["ratio_fresh"], tuesdays["ratio_walking"])
    assert out["patterns"]["friday_13th"]["cron-parser"] is None
    assert out["least_ratio_common"] > 0 and out["least_ratio_rare"] > 0
    assert os.listdir(disk) == []


@pytest.mark.parametrize("args, words", [
    (["--peers", "/nowhere", "cron"], ["/nowhere", "run.mjs", "cron-peers/install"]),
    (["sumbit"], ["sumbit", "submit"]),
    (["--scale", "much"], ["scale"]),
    (["--tasks", "-1"], ["tasks"]),
    (["--workers", "1000000", "workers"], ["workers", "25000"]),
    (["--heartbeat", "0", "workers"], ["--heartbeat", "1ms or more"]),
    (["--schedules", "0", "schedules"], ["schedules"]),
    (["--dispatch", "fast", "workers"], ["fast", "durable", "volatile"]),
    (["--dir", "/nowhere/at/all", "noop"], ["/nowhere/at/all", "--dir"]),
])
def test_mistakes_are_explained(reeve, args, words):
    result = reeve("bench", *args, check=False)
    assert result.code in (1, 2)
    assert all(word in result.err for word in words), result


def test_interrupted_it_leaves_nothing(disk):
    bench = subprocess.Popen([harness.BIN, "bench", "--dir", disk, "submit"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=harness.clean_environment())
    harness.wait_until(lambda: any(os.path.exists(os.path.join(disk, d, "submit", "reeve.sock"))
                                   for d in os.listdir(disk)), what="its server runs")
    bench.send_signal(signal.SIGINT)
    bench.communicate(timeout=harness.PATIENCE)
    assert bench.returncode == 130
    assert os.listdir(disk) == []
    harness.wait_until(lambda: not processes_in(disk), what="its processes are gone")
