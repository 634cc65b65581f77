# SPDX-License-Identifier: Apache-2.0
"""Services with a real server and worker: instances start, serve, crash, are scaled, deployed and stopped."""
import json
import random
import re
import socket
import urllib.request

import pytest
from harness import wait_until

SERVE = "exec python3 -c \"import http.server as h,os;" \
        "H=type('H',(h.BaseHTTPRequestHandler,),{'do_GET':lambda s:(s.send_response(200),s.end_headers()," \
        "s.wfile.write(os.environ.get('WORD','one').encode()))});" \
        "h.ThreadingHTTPServer(('127.0.0.1',int(os.environ['PORT'])),H).serve_forever()\""
CHECKS = {"checks": {"readiness": {"tcp": "$PORT", "interval": "200ms"}}}


@pytest.fixture
def one(server):
    server.start_worker("--address", "127.0.0.1", "--ports", free_range())
    return server


def free_range():
    """Ten ports that nobody has now, below those that the kernel gives away."""
    while True:
        first = random.randrange(12000, 31000)
        held = []
        try:
            for port in range(first, first + 10):
                held.append(socket.create_server(("127.0.0.1", port)))
            return f"{first}-{first + 9}"
        except OSError:
            continue
        finally:
            for one in held:
                one.close()


def instances(c, name):
    return c.get(f"/v1/services/{name}/instances")["items"]


def ready(c, name, n):
    def there():
        now = instances(c, name)
        return now if len(now) == n and all(i["ready"] for i in now) else None

    return wait_until(there, what=f"{n} instances of {name} are ready")


def fetch(i):
    with urllib.request.urlopen(f"http://{i['address']}:{i['ports'][0]}/", timeout=5) as answer:
        return answer.read().decode()


def add(c, name="web", n=2, **members):
    c.call("PUT", f"/v1/services/{name}", 201, json={
        "instances": n, "ports": 1, "task": {"command": ["sh", "-c", SERVE], "run": CHECKS},
        "strategy": {"min_healthy": 0}, **members})


def test_instances_serve_and_are_scaled(one):
    add(one)
    two = ready(one, "web", 2)
    assert [fetch(i) for i in two] == ["one", "one"] and two[0]["ports"] != two[1]["ports"]
    service = one.get("/v1/services/web")
    assert service["counts"]["ready"] == 2 and service["deploy"]["stable"] == 1
    one.cli("service", "scale", "web", "1")
    left = ready(one, "web", 1)
    assert left[0]["task"] == two[0]["task"]
    shown = one.cli("service", "show", "web").out
    assert "web/0" in shown and "RUNNING" in shown
    assert "web/0" in one.cli("service", "why", "web/0").out


def test_another_revision_takes_their_place(one):
    add(one)
    before = ready(one, "web", 2)
    one.cli("service", "set", "web", "--env", "WORD=two")
    wait_until(lambda: one.get("/v1/services/web")["deploy"]["stable"] == 2, what="revision 2 is stable")
    after = ready(one, "web", 2)
    assert [fetch(i) for i in after] == ["two", "two"]
    assert not {i["task"] for i in before} & {i["task"] for i in after}
    one.cli("service", "rollback", "web", "--to", "1")
    wait_until(lambda: one.get("/v1/services/web")["deploy"]["stable"] == 1, what="revision 1 is stable again")
    assert [fetch(i) for i in ready(one, "web", 2)] == ["one", "one"]


def test_a_crash_is_told_and_made_up_for(one):
    add(one, n=1)
    first = ready(one, "web", 1)[0]
    one.cli("service", "add", "bad", "--crash-at-once", "0", "--", "sh", "-c", "exit 3")
    crashed = wait_until(lambda: [i for i in instances(one, "bad") if i["state"] == "CRASHED"], what="bad has crashed")[0]
    assert crashed["crashes"] == 1 and crashed["crash_reason"] and crashed["restarts"]
    assert one.get("/v1/services/bad")["crash_reason"]
    one.cli("service", "restart", "bad/0")
    wait_until(lambda: instances(one, "bad")[0]["crashes"] >= 1, what="it was tried again")
    one.cli("service", "stop", "web/0")
    wait_until(lambda: ready(one, "web", 1)[0]["task"] != first["task"], what="web/0 is another start")


def test_a_service_goes_with_its_last_instance(one):
    add(one, n=2)
    ready(one, "web", 2)
    one.cli("service", "rm", "web", "-y")
    wait_until(lambda: not one.get("/v1/services")["items"], what="web is gone")
    wait_until(lambda: one.get("/v1/workers/w1")["running"] == 0, what="nothing runs")


def test_instances_outlive_a_server_that_is_killed(one):
    add(one)
    before = ready(one, "web", 2)
    one.server.kill9()
    assert [fetch(i) for i in before] == ["one", "one"]
    one.restart()
    after = ready(one, "web", 2)
    assert {i["task"] for i in after} == {i["task"] for i in before}


def test_what_has_no_place_says_why(one):
    one.cli("service", "add", "big", "--need", "memory=100T", "--", "true")
    row = wait_until(lambda: [i for i in instances(one, "big") if i["place_error"]], what="it has no place")[0]
    assert "memory" in row["place_error"]
    assert "memory" in one.get("/v1/services/big")["place_error"]
    assert "memory" in one.cli("service", "ls").out
    reasons = json.loads(one.cli("service", "why", "big/0", "-o", "json").out)["reasons"]
    assert any("memory" in r["text"] for r in reasons)


TEMPLATE = """\
{{for s in services}}
service {{s.name}}
{{for i in s.routed}}
  {{i.address | host}}:{{i.port}}
{{end}}
{{end}}
"""


def test_routes_follow_what_is_ready(one, tmp_path):
    template, out = tmp_path / "t", tmp_path / "out"
    template.write_text(TEMPLATE)
    assert one.cli("routes", "render", str(template)).out == ""
    add(one, routes=[{"host": "www.example.org"}], domain="apps")
    two = ready(one, "web", 2)
    ports = [i["ports"][0] for i in two]
    text = "service web\n" + "".join(f"  127.0.0.1:{port}\n" for port in ports)
    assert one.cli("routes", "render", str(template)).out == text
    state = one.get("/v1/routes")
    assert state["services"][0]["routes"] == [{"host": "www.example.org"}]
    assert [i["routed"] for i in state["services"][0]["instances"]] == [True, True]
    assert one.get("/v1/routes", domain="none")["services"] == []
    targets = one.get("/v1/routes/prometheus")
    assert [t["targets"] for t in targets] == [[f"127.0.0.1:{port}"] for port in ports]
    assert targets[0]["labels"]["__meta_reeve_service"] == "web"


def test_a_proxy_is_kept_up_to_date(one, tmp_path):
    template, out = tmp_path / "t", tmp_path / "out"
    template.write_text(TEMPLATE)
    watcher = one._process("render", ["routes", "render", str(template), "--to", str(out), "--watch", "--interval", "50ms"],
                           {"REEVE_SERVER": f"unix:{one.socket}"})
    wait_until(out.exists, what="the first configuration")
    add(one, n=1)
    first = ready(one, "web", 1)[0]["ports"][0]
    wait_until(lambda: out.read_text() == f"service web\n  127.0.0.1:{first}\n", what="one route")
    one.cli("service", "scale", "web", "2")
    second = ready(one, "web", 2)[1]["ports"][0]
    wait_until(lambda: f"127.0.0.1:{second}" in out.read_text(), what="two routes")
    one.server.kill9()
    one.restart()
    one.cli("service", "scale", "web", "1")
    wait_until(lambda: out.read_text() == f"service web\n  127.0.0.1:{first}\n", what="one route again")
    one.cli("service", "rm", "web", "-y")
    wait_until(lambda: out.read_text() == "", what="no route")
    assert watcher.running
    watcher.stop()


def test_a_drain_moves_instances_when_their_replacement_is_ready(one):
    add(one)
    before = ready(one, "web", 2)
    said = one.cli("worker", "drain", "w1", "--reason", "new disk")
    assert "2 instances of services cannot move; web/0: " in said.err
    assert [i["task"] for i in ready(one, "web", 2)] == [i["task"] for i in before]
    one.start_worker("--address", "127.0.0.1", "--ports", free_range(), name="w2")
    ready_counts = set()

    def moved():
        ready_counts.add(one.get("/v1/services/web")["counts"]["ready"])
        return all(i["worker"] == "w2" and i["ready"] for i in instances(one, "web"))

    wait_until(moved, what="both are on w2")
    assert ready_counts == {2}
    wait_until(lambda: one.get("/v1/workers/w1")["services"]["instances"] == 0, what="w1 is empty")


def test_a_drain_has_an_end(one):
    add(one, n=1)
    ready(one, "web", 1)
    one.cli("worker", "drain", "w1", "--timeout", "1s", "--wait")
    row = instances(one, "web")[0]
    assert row["state"] != "RUNNING"
    assert one.get("/v1/workers/w1")["drain_until"]


def test_starts_are_tasks_of_their_service(one):
    one.cli("service", "add", "web", "-i", "2", "--", "sh", "-c", "echo hello from a copy; exec sleep 1000")
    rows = wait_until(lambda: [i for i in instances(one, "web") if i["state"] == "RUNNING"][1:] and instances(one, "web"),
                      what="two instances run")
    tasks = one.get("/v1/tasks", service="web")["items"]
    assert {(t["id"], t["service"], t["index"]) for t in tasks} == {(i["task"], "web", i["index"]) for i in rows}
    one.submit("true")
    assert len(one.cli("task", "ls", "--service", "web", "-o", "json").json["items"]) == 2
    wait_until(lambda: one.cli("logs", "--service", "web").out.count("hello from a copy") == 2, what="both have said it")
    assert "web, instance 0" in one.cli("task", "show", rows[0]["task"]).out
    assert "there is no service" in one.cli("task", "ls", "--service", "wbe", check=False).err


def test_services_in_figures_and_events(one):
    add(one)
    ready(one, "web", 2)
    figures = {name: float(n) for name, n in re.findall(r"(?m)^(reeve_service\S+) (\S+)$", one.call("GET", "/metrics", 200).text)}
    assert figures["reeve_services"] == 1 and figures["reeve_service_starts_total"] == 2
    assert figures['reeve_service_instances{state="RUNNING"}'] == 2 and figures["reeve_service_instances_ready"] == 2
    assert figures["reeve_service_missed_total"] == 0
    assert "services 1: 2 running, 2 ready" in one.cli("status").out
    top = one.cli("top").out
    assert [line.split()[:4] for line in top.splitlines() if line.startswith("web ")] == [["web", "2", "2", "2"]]
    made = [e for e in one.get("/v1/events", service="web")["items"] if e["kind"] == "service.created"]
    told = [json.loads(line) for line in one.cli("events", "--service", "web", "-f", "--after", made[0]["seq"], "-n", "4",
                                                 "-o", "jsonl").out.splitlines()]
    assert {e["service"] for e in told} == {"web"} and "instance.changed" in {e["kind"] for e in told}
    assert "service.created" in one.cli("events", "--service", "web").out


def follow(one, log, *args):
    """A command that goes on, and how to read what it has said."""
    process = one._process(log, list(args), {"REEVE_SERVER": f"unix:{one.socket}"})
    return process, lambda: [line for line in process.log().splitlines() if line.startswith("[")]


@pytest.mark.parametrize("command", [("logs", "-f", "--service", "web"), ("service", "logs", "-f", "web")])
def test_logs_of_all_instances_and_of_those_that_come_later(one, command):
    add(one, task={"command": ["sh", "-c", "echo old $PORT; exec sleep 1000"]}, ports=1)
    ready(one, "web", 2)
    once = [word for word in command if word != "-f"]
    wait_until(lambda: sorted(line.split()[0] for line in one.cli(*once).out.splitlines()) == ["[web/0]", "[web/1]"],
               what="both have said it")
    process, lines = follow(one, "follow", *command)
    wait_until(lambda: len(lines()) == 2, what="what both have said before")
    one.cli("service", "scale", "web", "3")
    wait_until(lambda: [line for line in lines() if line.startswith("[web/2] old ")], what="a third one is followed")
    one.server.kill9()
    one.restart()
    one.cli("service", "set", "web", "--", "sh", "-c", "echo new; exec sleep 1000")
    wait_until(lambda: {f"[web/{i}] new" for i in range(3)} <= set(lines()), what="another revision is followed")
    assert process.running and len(lines()) == len(set(lines())), "nothing is said twice"
    process.stop()


def test_logs_of_one_instance_are_those_of_its_last_start(one):
    one.cli("service", "add", "bad", "--crash-at-once", "0", "--", "sh", "-c", "echo why; exit 3")
    wait_until(lambda: [i for i in instances(one, "bad") if i["state"] == "CRASHED"], what="bad has crashed")
    assert one.cli("service", "logs", "bad/0").out == "why\n"
    assert one.cli("service", "logs", "bad").out == "[bad/0] why\n"
    process, lines = follow(one, "follow", "service", "logs", "-f", "--prefix", "bad/0")
    one.cli("service", "restart", "bad/0")
    wait_until(lambda: "[bad/0] why" in lines(), what="a start that is over at once is shown, too")
    process.stop()
    assert "there is no service" in one.cli("service", "logs", "-f", "wbe", check=False).err
    assert "there is no service" in one.cli("service", "logs", "wbe", check=False).err
    assert "no instance" in one.cli("service", "logs", "bad/7", check=False).err
    one.cli("service", "add", "big", "--need", "memory=100T", "--", "true")
    wait_until(lambda: [i for i in instances(one, "big") if i["place_error"]], what="it has no place")
    assert "nothing of it has started" in one.cli("service", "logs", "big").err


def test_why_takes_services_and_instances(one):
    one.cli("service", "add", "big", "-i", "12", "--need", "memory=100T", "--", "true")
    wait_until(lambda: [i for i in instances(one, "big") if i["place_error"]][11:], what="nothing has a place")
    one_of_them = one.cli("why", "big/3").out
    assert one_of_them.startswith("big/3\n") and "memory" in one_of_them
    assert one.cli("service", "why", "big/3").out == one_of_them
    whole = one.cli("why", "big").out
    assert whole.startswith("big: 12 wanted, 0 ready\n") and "big/9\n" in whole and "and 2 more" in whole
    assert "big/10\n" not in whole and one.cli("service", "why", "big").out == whole
    told = json.loads(one.cli("why", "big", "-o", "json").out)
    assert told["unready"] == 12 and len(told["instances"]) == 10 and told["instances"][0]["reasons"]
    add(one, n=1)
    ready(one, "web", 1)
    assert "all of its instances are ready: nothing waits" in one.cli("why", "web").out
    assert "no instance" in one.cli("why", "web/1", check=False).err
    assert "it is a service" in one.cli("cancel", "web", check=False).err
    assert "neither" in one.cli("why", "wbe", check=False).err


def test_a_name_of_two_things_is_refused(one):
    add(one, n=1)
    one.cli("submit", "--name", "web", "--array", "1-2", "--", "true")
    for command in ("why", "logs"):
        said = one.cli(command, "web", check=False)
        assert said.code != 0 and "is of a service, and of a batch or a group" in said.err
    assert one.cli("service", "why", "web").out.startswith("web: 1 wanted")


def test_services_and_instances_are_completed(one):
    add(one)
    ready(one, "web", 2)

    def words(*line):
        return [word.split("\t")[0] for word in one.cli("__complete", "line", *line).out.splitlines()]

    assert words("service", "why", "w") == words("why", "w") == words("logs", "w") == ["web"]
    assert words("why", "web/") == words("service", "logs", "web/") == ["web/0", "web/1"]
    assert words("service", "stop", "web/1") == ["web/1"] and words("service", "rm", "w") == ["web"]
    assert words("why", "wbe/") == [] and set(words("why", "")) >= {"@last", "web"}
