# SPDX-License-Identifier: Apache-2.0
"""`reeve top` on a terminal: all three lists are always there, however much there is of each."""
import http.server
import json
import os
import re
import signal
import threading

import harness
import pytest
from harness import wait_until
from terminal import OnTerminal


@pytest.fixture
def on_terminal():
    opened = []

    def start(cluster, *args, **options):
        opened.append(OnTerminal(cluster, "top", "--watch=0.2s", *args, **options))
        return opened[-1]

    yield start
    for t in opened:
        t.close()


def many_queues(cluster, n):
    for i in range(n):
        cluster.create_queue(f"q{i:03}")


def test_busy_queues_come_first_and_nothing_is_hidden(dev, on_terminal):
    many_queues(dev, 500)
    gate = os.path.join(dev.dir, "gate")
    task = dev.submit("sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.05; done", queue="q321")["id"]
    dev.wait_task(task, "running")
    top = on_terminal(dev)
    text = top.shows("QUEUES", "WORKERS", "TASKS", task, "q321", "healthy")
    rows = text.splitlines()
    title = next(i for i, line in enumerate(rows) if "QUEUES" in line)
    assert "of 501, by busy" in rows[title] or "of 500, by busy" in rows[title]
    assert rows[title + 1].startswith("q321"), "what is busy comes first"
    assert "q quit" in rows[-1] and "/ filter" in rows[-1], "the keys are shown"
    open(gate, "w").close()
    top.press("q")
    assert top.ended() == 0


def test_scrolling_sorting_and_filtering(server, on_terminal):
    many_queues(server, 60)
    top = on_terminal(server)
    top.shows("> QUEUES 1-", "by busy", "q000")
    top.press("ss")
    top.shows("by name", "q000", "q003")
    top.press("\033[B")
    top.shows("QUEUES 2-", without=["q000"])
    top.press("\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~\033[6~")
    top.shows("-60 of 60", "q059")
    top.press("g")
    top.shows("QUEUES 1-", "q000")
    top.press("G")
    top.shows("-60 of 60")
    top.press("/q01")
    top.shows("filter: q01_", "QUEUES", "q010", "q013", without=["q000", "q059"])
    top.press("\177" + "1\r")
    top.shows("[/q01]", "by name")
    top.press("\033")
    top.shows("of 60", "q000", without=["[/"])
    top.press("\t")
    top.shows("> WORKERS 0, by trouble", without=["> QUEUES"])
    top.press("\t")
    top.shows("> TASKS 0, by longest", "nothing runs")
    top.press("1")
    top.shows("> QUEUES")
    top.press("p")
    top.shows("PAUSED")
    server.create_queue("new-one")
    top.press("p")
    top.shows("of 61", without=["PAUSED"])
    top.press("q")
    assert top.ended() == 0


@pytest.mark.parametrize("columns, rows", [(80, 24), (200, 60), (40, 12), (20, 6), (10, 3), (5, 2), (1, 1)])
def test_every_size(dev, on_terminal, columns, rows):
    many_queues(dev, 30)
    top = on_terminal(dev, columns=columns, rows=rows)
    if rows > 2 and columns >= 10:
        top.shows("QUEUE")
    if rows >= 12:
        top.shows("QUEUES", "WORKERS", "TASKS")
    for wide, high in ((120, 40), (15, 4), (80, 24)):
        top.resize(wide, high)
        top.shows("QUEUES" if wide > 20 else "QUEUE")
    assert top.child.poll() is None
    top.shows("QUEUES", "WORKERS", "TASKS", "q quit")
    top.press("q")
    assert top.ended() == 0


def test_a_server_that_goes_away_and_comes_back(server, on_terminal):
    server.create_queue("here")
    top = on_terminal(server)
    top.shows("here", "q quit")
    server.server.kill9()
    top.shows("the server is away", "here")
    top.press("/he")
    top.shows("filter: he_")
    top.press("\033")
    server.restart()
    top.shows("q quit", "here", without=["is away"])
    server.create_queue("later")
    top.shows("later")
    server.server.kill9()
    top.shows("the server is away")
    top.press("q")
    assert top.ended() == 0, "keys are heard also then"
    server.restart()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_the_terminal_as_it_was(server, on_terminal, number):
    top = on_terminal(server)
    top.shows("QUEUES")
    top.child.send_signal(number)
    assert top.ended() == 0


@pytest.mark.parametrize("key", ["\032", "\034"])
def test_keys_that_would_leave_a_broken_terminal_do_nothing(server, on_terminal, key):
    top = on_terminal(server)
    top.shows("QUEUES")
    top.press(key + "p")
    top.shows("PAUSED")
    top.press("\003" if key == "\032" else "q")
    assert top.ended() == 0


def test_no_server_at_all(server, on_terminal):
    server.server.kill9()
    os.unlink(server.socket)
    top = on_terminal(server)
    assert top.ended() == 1
    wait_until(lambda: b"hint" in top.raw or b"reeve: " in top.raw, what="it says why")
    server.restart()


def test_trends(dev, on_terminal):
    dev.create_queue("closed", threads=0)
    top = on_terminal(dev)
    titles = next(line for line in top.shows("closed", "TREND", "WORKERS").splitlines() if "TREND" in line)
    for _ in range(3):
        dev.submit("true", queue="closed")
    line = top.shows("█")
    assert any(row.startswith("closed") and "█" in row for row in line.splitlines())
    wait_until(lambda: re.search("^closed.*[▁-█]{6}", top.text(), re.M), what="as many looks as the trend has room for")
    assert titles in top.text(), "it pushes no column out"
    ascii_only = on_terminal(dev, env={"LC_ALL": "C", "LANG": "C"})
    ascii_only.shows("closed", "#")
    assert "█" not in ascii_only.text() and ascii_only.text().isascii()


def test_one_picture_without_a_terminal(dev):
    many_queues(dev, 150)
    out = dev.cli("top").out
    assert sum(line[:1] == "q" and line[1:4].isdigit() for line in out.splitlines()) == 150 and "WORKERS" in out and "nothing runs" in out and "\033" not in out
    assert len(json.loads(dev.cli("top", "-o", "json").out)["queues"]) >= 150


class Large(http.server.BaseHTTPRequestHandler):
    """As much as a large installation has, without having one."""
    protocol_version = "HTTP/1.1"
    LISTS = {
        "/v1/queues": [{"name": f"queue-{i:03}", "threads": None, "paused": False, "oldest_ms": i, "workers": 5,
                        "counts": {"queued": i * 7 % 500, "running": i % 50, "claimed": 0}} for i in range(500)],
        "/v1/workers": [{"name": f"worker-{i:04}", "state": "healthy" if i % 100 else "unhealthy", "connected": True,
                         "running": i % 16, "maxthreads": 16, "host": f"host-{i}", "silent_ms": 100,
                         "why_unhealthy": None if i % 100 else "it has been silent for 70s"} for i in range(1000)],
        "/v1/tasks": [{"id": f"{i:024x}", "queue": f"queue-{i % 500:03}", "state": "running", "worker": f"worker-{i:04}",
                       "started": "2026-01-01T00:00:00Z", "command": ["build", f"--part={i}"]} for i in range(100)],
    }

    def do_GET(self):
        path = self.path.split("?")[0]
        items, more = self.LISTS.get(path), "x" if path == "/v1/tasks" else None
        if path == "/v1/workers":  # a page has a length in bytes, too
            at = int(self.path.partition("&cursor=")[2] or 0)
            items, more = items[at:at + 300], str(at + 300) if at + 300 < len(items) else None
        body = json.dumps({"items": items, "next": more} if items else {
            "version": "1", "ready": True, "store": {"backend": "sqlite"}, "workers": {"connected": 1000}, "queues": 500,
            "tasks": {"running": 12000, "queued": 90000}, "threads": {"used": 12000, "max": 16000},
            "rates": {"submitted_per_s": 5.0, "ended_per_s": 7.0}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@pytest.fixture
def large():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Large)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {"REEVE_SERVER": f"http://127.0.0.1:{server.server_port}", "REEVE_TOKEN": "t" * 32}
    server.shutdown()
    server.server_close()


def test_five_hundred_queues_and_a_thousand_workers(cluster, on_terminal, large):
    top = on_terminal(cluster, env=large)
    text = top.shows("of 500, by busy", "of 1000", "of 100+", "worker-0300", "unhealthy", "7.0/s ended  █")
    assert "queue-099" in text or "queue-049" in text or "queue-499" in text, "one of the busiest"
    top.press("\t")
    top.shows("> WORKERS 1-", "of 1000, by trouble", "worker-0700")
    top.press("ss")
    top.shows("by name", "worker-0000", "worker-0001")
    top.press("G")
    top.shows("-1000 of 1000", "worker-0999")
    top.press("/part=7")
    top.shows("none fits the filter", "TASKS 11+", "00000000000000000000004f")
    top.press("\r\t")
    top.shows("> TASKS", "[/part=7]")
    assert "1000+" not in top.text()
    top.resize(120, 40)
    top.shows("--part=79")
    top.press("q")
    assert top.ended() == 0
