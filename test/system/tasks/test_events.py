# SPDX-License-Identifier: Apache-2.0
"""The event stream: live, filtered, resumable, and nobody's problem when its reader is slow."""
import json
import signal
import socket
import subprocess
import threading

import harness
import pytest
import requests
from client import Api, Canary, read_all
from harness import wait_until


def of_task(task_id):
    return lambda events: [e for e in events if e["data"].get("task") == task_id]


def has_kind(kind):
    return lambda events: any(e["event"] == kind for e in events)


def test_a_task_tells_its_life(live, tmp_path):
    stream, gate = live.stream(), tmp_path / "gate"
    # One that is over at once may be told without its start: both words come in one frame.
    task = live.submit("sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.02; done; exit 4")["id"]
    stream.wait_for(has_kind("task.running"), "the task runs")
    gate.touch()
    events = of_task(task)(stream.wait_for(has_kind("task.failed"), "the task failed"))
    assert [e["event"] for e in events] == ["task.submitted", "task.claimed", "task.running", "task.failed"]
    last = events[-1]["data"]
    assert (last["kind"], last["status"], last["exit_code"], last["attempt"]) == ("task.failed", 2, 4, 1)
    assert last["queue"] and last["worker"] and last["time"]
    assert all(int(e["id"]) == e["data"]["seq"] for e in stream.events)
    assert stream.ids() == sorted(set(stream.ids()))
    assert stream.comments[0] == ": reeve"
    stream.close()


def test_every_other_kind(live):
    stream = live.stream()
    live.queue("q")
    live.post("/v1/queues/q/pause")
    live.post("/v1/queues/q/resume")
    live.patch("/v1/queues/q", {"threads": 1})
    held = live.submit(queue="q", status=-10)["id"]
    live.patch(f"/v1/tasks/{held}", {"status": -2})
    live.ended(held)
    later = live.submit(queue="q", run_after="1h")["id"]
    live.patch(f"/v1/tasks/{later}", {"status": -11})
    live.post(f"/v1/tasks/{later}/cancel")
    flaky = live.submit("false", queue="q", max_attempts=2, backoff="0s")["id"]
    live.ended(flaky)
    worker = live.get("/v1/workers")["items"][0]["name"]
    live.patch(f"/v1/workers/{worker}", {"maxthreads": 3})
    live.delete("/v1/queues/q")
    stream.wait_for(has_kind("queue.deleted"), "the queue was deleted")
    expected = {"queue.created", "queue.paused", "queue.resumed", "queue.changed", "queue.deleted", "task.submitted",
                "task.released", "task.held", "task.cancelled", "task.retrying", "task.failed", "worker.changed"}
    assert expected <= set(stream.kinds()), expected - set(stream.kinds())
    stream.close()


def test_filters(live):
    live.queue("a")
    live.queue("b")
    streams = {query: live.stream(query) for query in (
        "?kind=task.succeeded", "?kind=task&kind=queue", "?queue=a", "?kind=queue,task.failed")}
    one = live.submit(queue="a")["id"]
    two = live.submit("false", queue="b")["id"]
    live.ended(one)
    live.ended(two)
    mine = live.stream(f"?task={one}&after={streams['?queue=a'].ids()[0] - 1 if streams['?queue=a'].events else 0}")
    live.post("/v1/queues/b/pause")
    streams["?kind=task&kind=queue"].wait_for(has_kind("queue.paused"), "everything has come")
    streams["?kind=queue,task.failed"].wait_for(has_kind("queue.paused"), "everything has come")
    assert streams["?kind=task.succeeded"].kinds() == ["task.succeeded"]
    assert set(streams["?kind=queue,task.failed"].kinds()) == {"task.failed", "queue.paused"}
    assert {e["data"]["task"] for e in streams["?queue=a"].events} == {one}
    mine.wait_for(of_task(one), "the task's past")
    assert {e["data"].get("task", one) for e in mine.events} == {one}
    for query, status in (("?queue=none", 404), ("?task=7", 404), ("?worker=none", 404), ("?kind=", 400),
                          ("?after=x", 400), ("?king=task", 400)):
        answer = live.ask("GET", "/v1/events" + query, headers={"Accept": "text/event-stream"})
        assert answer.status_code == status or (status == 404 and answer.status_code == 400), (query, answer.text)
        assert answer.headers["Content-Type"] == "application/problem+json"
    for stream in (*streams.values(), mine):
        stream.close()


def test_batch_filter(live):
    stream = live.stream("?kind=task")
    many = live.submit_many([{"command": ["true"]}] * 3)
    other = live.submit()["id"]
    for task in (*many["ids"], other):
        live.ended(task)
    stream.wait_for(lambda es: sum(e["event"] == "task.succeeded" for e in es) == 4, "all have ended")
    again = live.stream(f"?batch={many['batch']}&after={stream.ids()[0] - 1}")
    again.wait_for(lambda es: sum(e["event"] == "task.succeeded" for e in es) == 3, "the batch's past")
    assert {e["data"]["task"] for e in again.events} == set(many["ids"])
    stream.close()
    again.close()


def test_resume_without_gap_or_repeat(live):
    whole = live.stream()
    live.queue("q")
    seen, last = [], None
    for round_ in range(4):
        headers = {"Last-Event-ID": str(last)} if last else {}
        part = live.stream("" if last else f"?after={whole.wait_for(len, 'the queue')[0]['id']}", **headers)
        many = live.submit_many([{"command": ["true"], "queue": "q"}] * 5)
        live.ended(many["ids"][-1])
        part.wait_for(lambda es: sum(e["event"] == "task.submitted" for e in es) >= 1, "something came")
        part.close()
        seen += part.ids()
        last = seen[-1]
    tail = live.stream(**{"Last-Event-ID": str(last)})
    live.post("/v1/queues/q/pause")
    tail.wait_for(has_kind("queue.paused"), "the end")
    whole.wait_for(has_kind("queue.paused"), "the end")
    seen += tail.ids()
    assert seen == whole.ids()[1:], "no gap, no repeat, in order"
    whole.close()
    tail.close()


def test_header_wins_over_parameter_and_both_are_checked(live):
    live.queue("q")
    here = live.get("/v1/events")["items"][-1]["seq"]
    stream = live.stream("?after=0", **{"Last-Event-ID": str(here)})
    live.queue("r")
    stream.wait_for(len, "something came")
    assert stream.kinds() == ["queue.created"]
    stream.close()
    for bad in ("x", "-1", "99999999999999999999999", "1 2"):
        live.refused("GET", "/v1/events", 400, "invalid", "Last-Event-ID",
                     headers={"Accept": "text/event-stream", "Last-Event-ID": bad})


@pytest.mark.parametrize("place", [0, 1, 2**62])
def test_reset_when_the_place_is_unknown(live, place):
    stream = live.stream(f"?after={place}")
    stream.wait_for(len, "the reset")
    assert stream.kinds() == ["reset"]
    live.queue("q")
    stream.wait_for(has_kind("queue.created"), "it goes on")
    assert stream.ids()[1] == stream.ids()[0] + 1, "from the place that reset names, without a gap"
    stream.close()


def test_reset_when_too_much_has_happened(api):
    api.queue("q")
    first = api.get("/v1/events")["items"][-1]["seq"]
    ids = api.submit_many([{"command": ["true"], "queue": "q"}] * 6000)["ids"]
    for action in ("hold", "release", "cancel"):
        assert api.post(f"/v1/tasks/actions/{action}", {"filter": {}, "all": True}, timeout=harness.PATIENCE)["changed"] == len(ids)
    stream = api.stream(f"?after={first}")
    stream.wait_for(len, "the reset")
    assert stream.kinds()[0] == "reset"
    near = stream.ids()[0] - 10_000
    recent = api.stream(f"?after={near}")
    recent.wait_for(lambda es: len(es) == 10_000, "what is still in memory comes whole")
    assert recent.ids() == list(range(near + 1, near + 10_001))
    stream.close()
    recent.close()


def test_list_of_durable_events(api):
    for n in range(7):
        api.queue(f"q{n}")
    events = api.get("/v1/events")["items"]
    assert events[0]["kind"] == "server.started"
    assert [e["subject"] for e in events if e["kind"] == "queue.created"] == [f"q{n}" for n in range(7)]
    paged, after = [], 0
    while True:
        page = api.get(f"/v1/events?after={after}&limit=3")
        paged += page["items"]
        if page["next"] is None:
            break
        after = page["next"]
    assert paged == events
    assert {e["kind"] for e in api.get("/v1/events?kind=queue")["items"]} == {"queue.created"}
    assert [e["subject"] for e in api.get("/v1/events?queue=q3")["items"]] == ["q3"]
    api.refused("GET", "/v1/events?limit=0", 400, "invalid", "limit")
    api.refused("GET", "/v1/events?after=-1", 400, "invalid", "after")


def test_place_survives_a_restart(server):
    """Numbers go on after a restart; what the memory lost is announced, never silently skipped."""
    api = Api(server)
    api.queue("before")
    place = api.get("/v1/events")["items"][-1]["seq"]
    server.server.kill9()
    server.restart()
    api = Api(server)
    stream = api.stream(**{"Last-Event-ID": str(place)})
    api.queue("after")
    stream.wait_for(has_kind("queue.created"), "it goes on")
    assert stream.kinds()[0] in ("reset", "server.started")
    assert min(stream.ids()) > place and stream.ids() == sorted(set(stream.ids()))
    durable = [e["seq"] for e in api.get(f"/v1/events?after={place}")["items"]]
    assert durable == sorted(set(durable)) and len(durable) == 2
    stream.close()


@pytest.mark.parametrize("late_back", [False, True], ids=["at-once", "late"])
def test_cli_follows_over_a_restart(server, tmp_path, late_back):
    """Back at once or only after things happened: nothing durable is missed, nothing is told twice."""
    out = tmp_path / "out"
    with open(out, "wb") as f:
        child = subprocess.Popen([harness.BIN, "events", "-f", "-o", "jsonl"], stdout=f, stderr=subprocess.PIPE,
                                 env=harness.clean_environment(REEVE_SERVER=f"unix:{server.socket}"))
    try:
        def kinds():
            return [(e["kind"], e.get("subject")) for e in map(json.loads, out.read_text().splitlines())]

        def sees(name):
            # until the stream is open, what happens is the past
            if requests_made[name] == 0 or not kinds():
                Api(server).queue(f"{name}{requests_made[name]}")
                requests_made[name] += 1
            return any(k == "queue.created" and s.startswith(name) for k, s in kinds())

        requests_made = {"early": 0}
        wait_until(lambda: sees("early"), what="it follows", every=0.2)
        if late_back:
            child.send_signal(signal.SIGSTOP)
        server.server.kill9()
        server.restart()
        Api(server).queue("late")
        child.send_signal(signal.SIGCONT)
        wait_until(lambda: ("queue.created", "late") in kinds(), what="it found its way back")
        assert kinds().count(("queue.created", "late")) == 1
        assert child.poll() is None
    finally:
        child.terminate()
        _, err = child.communicate(timeout=harness.PATIENCE)
    assert not harness.SANITIZER.search(err.decode()), err


def open_stream(api, query="", receive_buffer=None):
    s = socket.socket()
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.settimeout(harness.PATIENCE)
    s.connect(api.address)
    s.sendall(api.signed(
        b"GET /v1/events%s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n" % query.encode()))
    assert s.recv(1) == b"H"
    return s


def test_slow_reader_is_told_of_the_gap(api):
    """One who never reads, one who does: the first is told no more, and when he reads on, that he missed something."""
    api.queue("q")
    many = api.submit_many([{"command": ["true"], "queue": "q", "status": -10}] * 4000)
    slow, quick = open_stream(api, receive_buffer=4096), open_stream(api, "?kind=task.held&queue=q")
    heard = [0]

    def listen():
        tail = b""
        while part := quick.recv(1 << 20):
            text = tail + part
            heard[0] += text.count(b"event: task.held\n")
            tail = text[len(text.rsplit(b"event: ", 1)[0]):] if not text.endswith(b"\n") else b""
            if tail.startswith(b"event: task.held\n"):
                tail = b""

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    told = 0
    with Canary(api):
        while told < 80_000:  # some 20 MB: more than the ring and all that the kernel holds for him
            for action in ("release", "hold"):
                done = api.post(f"/v1/tasks/actions/{action}", {"filter": {"batch": many["batch"]}}, timeout=harness.PATIENCE)
                told += done["changed"]
        wait_until(lambda: heard[0] == told // 2, 60, "the quick reader has everything")
    got = b""
    while b"event: reset\n" not in got:
        part = slow.recv(1 << 20)
        assert part, "the stream ended"
        got += part
    assert 0 < got.count(b"\nevent: ") < told
    api.queue("after")
    while b'"after"' not in got[-5000:]:
        part = slow.recv(1 << 20)
        assert part, "the stream ended"
        got += part
    quick.shutdown(socket.SHUT_RDWR)
    listener.join(harness.PATIENCE)
    slow.close()


def test_many_watchers_hear_the_same(api):
    streams = [api.stream("?kind=queue") for _ in range(50)]
    for n in range(5):
        api.queue(f"q{n}")
    for stream in streams:
        stream.wait_for(lambda es: len(es) == 5, "all five")
    assert len({tuple(s.ids()) for s in streams}) == 1
    for stream in streams:
        stream.close()


def test_stop_ends_streams(dev):
    stream = Api(dev).stream()
    waiting = requests.get(dev.url + "/v1/events?follow=true", headers=dev.auth, stream=True, timeout=harness.PATIENCE)
    assert waiting.status_code == 200
    assert dev.server.stop() == 0
    wait_until(lambda: stream.ended, what="the stream has ended")
    waiting.close()
