# SPDX-License-Identifier: Apache-2.0
"""`reeve routes render`: the templates of examples/routes with the real HAProxy and nginx; files that are whole or
not there, checks, reloads and what makes up for them; and no request lost while instances come and go."""
import http.client
import http.server
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import threading

import pytest
from harness import BIN, ROOT, clean_environment, wait_until

TEMPLATES = os.path.join(ROOT, "examples", "routes")
HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
needs_haproxy = pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")
needs_nginx = pytest.mark.skipif(not NGINX, reason="nginx is not installed")


def instance(index, port, address="127.0.0.1", ready=True, presence="ordinary", **more):
    return {"index": index, "address": address, "ports": [port], "ready": ready, "presence": presence, "tag": 1, **more}


def service(name, *instances, routes=({"host": "www.example.org"},), **more):
    return {"name": name, "domain": "apps", "tag": 1, "routes": list(routes), "instances": list(instances), **more}


def state(*services):
    return {"tag": 1, "services": list(services)}


# Whatever people write, and what somebody writes who wants to become configuration.
ODD = state(
    service("web", instance(0, 31000), instance(1, 31001, "::1"), instance(2, 31002, ready=False)),
    service("a b", instance(0, 31003), routes=[{"host": "ab.example.org", "path": "/x"}]),
    service("nobody", routes=[{"host": "nobody.example.org"}]),
    service("mapped", instance(0, 31004), routes=({"host": "x.org; } http {"}, {"host": "y\norg"}, {"path": "/"},
                                                  {"host": ["z"]}, {"host": "v.org", "path": "/a b"}, 7, None)),
    service("} server x { '\"$\\ #", instance(0, 31005)),
    {"name": "bare"},
    {"name": "silent", "routes": {"host": "silent.example.org"}, "instances": []},
)


@pytest.fixture
def render(tmp_path):
    """render("haproxy.cfg", state, …): the result of the command; the state comes from a file."""
    def run(template, data, *args, code=0):
        path = tmp_path / "state.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        if not os.path.isabs(template):
            template = os.path.join(TEMPLATES, template + ".tmpl")
        done = subprocess.run([BIN, "routes", "render", template, "--from", str(path), *map(str, args)],
                              env=clean_environment(), capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def template(tmp_path):
    """template(text): the path of such a template."""
    def make(text, name="t.tmpl"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return make


def check_haproxy(tmp_path, text):
    path = tmp_path / "checked.cfg"
    path.write_text(text)
    return subprocess.run([HAPROXY, "-c", "-f", str(path)], capture_output=True, text=True)


def check_nginx(tmp_path, text):
    (tmp_path / "included.conf").write_text(text)
    path = tmp_path / "nginx.conf"
    path.write_text(f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off;"
                    f" include {tmp_path}/included.conf; }}")
    return subprocess.run([NGINX, "-t", "-c", str(path), "-p", str(tmp_path)], capture_output=True, text=True)


@needs_haproxy
def test_haproxy_takes_its_configuration(render, tmp_path):
    text = render("haproxy.cfg", ODD).stdout
    done = check_haproxy(tmp_path, text)
    assert done.returncode == 0, done.stderr + text
    assert text.count("\nbackend ") == len(ODD["services"])
    assert text.count("    server ") == 5
    assert "server ordinary-1 [::1]:31001" in text and "31002" not in text


@needs_nginx
def test_nginx_takes_its_configuration(render, tmp_path):
    text = render("nginx.conf", ODD).stdout
    done = check_nginx(tmp_path, text)
    assert done.returncode == 0, done.stderr + text
    assert text.count("\nupstream ") + text.startswith("upstream ") == 4
    assert "server [::1]:31001;" in text and "31002" not in text


def hostile_text(rng):
    pieces = ["a", "Z", "0", ".", "-", "_", " ", "\t", "\n", "\r", ";", "{", "}", "'", '"', "\\", "$x", "#", "%[", "]",
              "é", "\u0085", "\x01", "server ", "\n  bind :1\n", "} server {", "/", ":", "||", "{{x}}", "*", "~"]
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(0, 8)))


@needs_haproxy
@needs_nginx
def test_no_text_becomes_configuration(render, tmp_path):
    """Either the state is refused, or both proxies see just what they would see with harmless names."""
    rng = random.Random(14)
    taken = 0
    for n in range(40):
        services = [service(hostile_text(rng) + str(i), instance(0, 31000 + i), labels={hostile_text(rng): "x"},
                            routes=[{"host": hostile_text(rng), "path": hostile_text(rng)}]) for i in range(4)]
        path = tmp_path / "s.json"
        path.write_text(json.dumps(state(*services)))
        command = [BIN, "routes", "render", "--from", str(path), os.path.join(TEMPLATES, "haproxy.cfg.tmpl")]
        done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True)
        if done.returncode:
            assert done.returncode == 2 and "the state of routes" in done.stderr, done.stderr
            continue
        taken += 1
        assert done.stdout.count("\nbackend ") == 4 and done.stdout.count("    server ") == 4
        assert done.stdout.count("    bind ") == 1
        assert check_haproxy(tmp_path, done.stdout).returncode == 0, done.stdout
        nginx = render("nginx.conf", state(*services)).stdout
        assert nginx.count("upstream service-") == 4
        assert check_nginx(tmp_path, nginx).returncode == 0, nginx
    assert taken > 5


def test_only_what_is_new_is_written(render, template, tmp_path):
    out, runs = tmp_path / "out.cfg", tmp_path / "runs"
    t = template("{{for s in services}}\n{{s.name}} {{for i in s.routed}}{{i.port}} {{end}}\n{{end}}\n")
    reload = json.dumps(["sh", "-c", f"echo x >>{runs}; test -f $0", "{}"])
    assert "written, and reloaded" in render(t, state(service("a", instance(0, 80))), "--to", out,
                                             "--exec", reload).stderr
    assert out.read_text() == "a 80 \n" and out.stat().st_mode & 0o777 == 0o644
    os.chmod(out, 0o600)
    before = out.stat()
    assert "unchanged" in render(t, state(service("a", instance(0, 80))), "--to", out, "--exec", reload).stderr
    after = out.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns) and runs.read_text() == "x\n"
    # The order of what comes makes no difference.
    both = [service("b"), service("a", instance(1, 81), instance(0, 80))]
    render(t, state(*both), "--to", out, "--exec", reload)
    assert out.read_text() == "a 80 81 \nb \n" and out.stat().st_mode & 0o777 == 0o600
    assert "unchanged" in render(t, state(*both[::-1]), "--to", out, "--exec", reload).stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.cfg", "runs", "state.json", "t.tmpl"]


def test_a_link_stays_a_link(render, template, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.cfg").write_text("old")
    (tmp_path / "link.cfg").symlink_to("real/a.cfg")
    render(template("new\n"), state(), "--to", tmp_path / "link.cfg")
    assert (tmp_path / "link.cfg").is_symlink() and (tmp_path / "real" / "a.cfg").read_text() == "new\n"


def test_what_is_refused_is_not_put_in_place(render, template, tmp_path):
    out = tmp_path / "out.cfg"
    out.write_text("old")
    said = render(template("new\n"), state(), "--to", out, "--check",
                  json.dumps(["sh", "-c", "grep -q new $0 && echo line 7 is wrong >&2; exit 3", "{}"]),
                  "--exec", "touch " + str(tmp_path / "reloaded"), code=1).stderr
    assert "sh ended with 3" in said and "it said: line 7 is wrong" in said
    assert out.read_text() == "old" and not (tmp_path / "reloaded").exists()
    assert "took too long" in render(template("new\n"), state(), "--to", out, "--check", "sleep 60",
                                     "--timeout", "0.2s", code=1).stderr
    assert "cannot run" in render(template("new\n"), state(), "--to", out, "--check", "/no/such/thing",
                                  code=1).stderr
    assert out.read_text() == "old" and [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_reload_that_failed_is_made_up_for(render, template, tmp_path):
    """Also when the first one was cut off between file and reload: the mark is there before the file."""
    out, flag = tmp_path / "out.cfg", tmp_path / "up"
    reload = json.dumps(["sh", "-c", f"test -f {flag} && cat $0 >>{tmp_path}/reloads", "{}"])
    render(template("new\n"), state(), "--to", out, "--exec", reload, code=1)
    assert out.read_text() == "new\n"
    flag.write_text("")
    assert "reloaded" in render(template("new\n"), state(), "--to", out, "--exec", reload).stderr
    assert "unchanged" in render(template("new\n"), state(), "--to", out, "--exec", reload).stderr
    assert (tmp_path / "reloads").read_text() == "new\n"


def test_a_process_gets_a_signal(render, template, tmp_path):
    got = tmp_path / "got"
    child = subprocess.Popen(["sh", "-c", f"trap 'echo hup >>{got}' HUP; trap 'echo usr2 >>{got}' USR2; echo r;"
                                          " while :; do sleep 0.05; done"], stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        (tmp_path / "pid").write_text(f"{child.pid}\n")
        render(template("1\n"), state(), "--to", tmp_path / "o", "--signal", tmp_path / "pid")
        wait_until(lambda: got.exists() and got.read_text() == "hup\n")
        render(template("2\n"), state(), "--to", tmp_path / "o", "--signal", f"USR2:{tmp_path}/pid")
        wait_until(lambda: got.read_text() == "hup\nusr2\n")
        for bad in ("", "x", "1", "-5", "0", "99999999999999999999"):
            (tmp_path / "pid").write_text(bad)
            said = render(template("3\n" + bad), state(), "--to", tmp_path / "o", "--signal", tmp_path / "pid", code=1)
            assert "does not hold the id of a process" in said.stderr
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("args, says", [
    (["t", "--from", "/none", "--exec", "x"], "need a file: --to"),
    (["t", "--from", "/none", "--once", "--watch"], "either --once or --watch"),
    (["t", "u", "--from", "/none"], "takes one TEMPLATE"),
    (["t", "--from", "/none", "--to", "x", "--check", "[1]"], "no list of texts in JSON"),
    (["t", "--from", "/none", "--to", "x", "--check", " "], "--check is empty"),
    (["/no/template", "--from", "/dev/null"], "cannot read /no/template"),
])
def test_usage(reeve, args, says):
    done = reeve("routes", "render", *args, check=False)
    assert done.code == 2 and says in done.err


def test_the_template_is_told_with_its_line(render, template):
    assert "line 2 of the template: s.name has a character" in render(
        template("a\n{{for s in services}}{{s.name}}{{end}}"), state(service("a b")), code=2).stderr


@pytest.fixture
def watching(tmp_path):
    """Starts the command with --watch; ends it."""
    children = []

    def start(template, *args, **options):
        log = open(tmp_path / "watch.log", "w")
        children.append(subprocess.Popen([BIN, "routes", "render", template, "--watch", *map(str, args)],
                                         env=clean_environment(), stderr=log, text=True, **options))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        child.wait()


def test_lines_that_come_fast_are_one_change(watching, template, tmp_path):
    out, runs = tmp_path / "out", tmp_path / "runs"
    child = watching(template("{{tag}}\n"), "--from", "-", "--to", out, "--interval", "0.3s",
                     "--exec", json.dumps(["sh", "-c", f"echo >>{runs}"]), stdin=subprocess.PIPE)
    for n in range(1, 201):
        child.stdin.write(json.dumps({"tag": n, "services": []}) + "\n")
        child.stdin.flush()
    wait_until(lambda: out.exists() and out.read_text() == "200\n")
    wait_until(runs.exists)  # the file takes its place before the reload
    assert len(runs.read_text()) < 100
    child.stdin.write("{broken\n")
    child.stdin.flush()
    wait_until(lambda: "is no JSON" in (tmp_path / "watch.log").read_text())
    assert out.read_text() == "200\n"
    child.stdin.write(json.dumps({"tag": 201, "services": []}) + "\n")
    child.stdin.close()
    assert child.wait(timeout=30) == 0
    assert out.read_text() == "201\n"


def test_a_file_is_watched(watching, template, tmp_path):
    out, source, text = tmp_path / "out", tmp_path / "state", template("{{tag}}\n")
    child = watching(text, "--from", source, "--to", out, "--interval", "0.1s")
    wait_until(lambda: "cannot read" in (tmp_path / "watch.log").read_text())
    source.write_text('{"tag": 1, "services": []}')
    wait_until(lambda: out.exists() and out.read_text() == "1\n")
    (tmp_path / "new").write_text('{"tag": 2, "services": []}')
    os.rename(tmp_path / "new", source)
    wait_until(lambda: out.read_text() == "2\n")
    template("now {{tag}}\n")
    wait_until(lambda: out.read_text() == "now 2\n")
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=30) == 0


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Backend:
    """A small HTTP server that says who it is."""

    def __init__(self, name):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(name)))
                self.end_headers()
                self.wfile.write(name.encode())

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 64

            def handle_error(self, *args):
                """A proxy that goes drops its idle connections."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Load:
    """A client that asks all the time, each time anew, and counts what went wrong."""

    def __init__(self, port):
        self.port, self.good, self.bad, self.seen, self.over = port, 0, [], set(), False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def ask(self):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            client.request("GET", "/", headers={"Host": "www.example.org"})
            answer = client.getresponse()
            return answer.status, answer.read().decode()
        finally:
            client.close()

    def run(self):
        while not self.over:
            try:
                status, text = self.ask()
            except OSError as error:
                status, text = error, ""
            if status == 200:
                self.good += 1
                self.seen.add(text)
            else:
                self.bad.append((status, text))

    def answers_of(self, n):
        """Who answers the next n requests, or until one fails."""
        self.seen, begun = set(), self.good
        wait_until(lambda: self.good > begun + n or self.bad)
        assert self.bad == []
        return self.seen

    def end(self):
        self.over = True
        self.thread.join()


@needs_haproxy
def test_no_request_is_lost_while_instances_come_and_go(watching, template, tmp_path):
    port, config, pid = free_port(), tmp_path / "haproxy.cfg", tmp_path / "pid"
    with open(os.path.join(TEMPLATES, "haproxy.cfg.tmpl")) as file:
        text = template(file.read().replace("127.0.0.1:8080", f"127.0.0.1:{port}"), "h.tmpl")
    backends = [Backend("zero")]
    watch = watching(text, "--from", "-", "--to", config, "--interval", "0.05s", "--check", f"{HAPROXY} -c -f {{}}",
                     "--exec", json.dumps(["sh", "-c", f"! test -f {pid} || kill -USR2 $(cat {pid})"]),
                     stdin=subprocess.PIPE)

    def say(*instances):
        watch.stdin.write(json.dumps(state(service("web", *instances))) + "\n")
        watch.stdin.flush()

    def has(*ports):
        """The proxy sends its requests to these, and to no other."""
        text = config.read_text() if config.exists() else ""
        return all(f":{p}\n" in text for p in ports) and text.count("    server ") == len(ports)

    say(instance(0, backends[0].port))
    wait_until(lambda: has(backends[0].port))
    proxy = subprocess.Popen([HAPROXY, "-W", "-f", str(config), "-p", str(pid)], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: pid.exists() and listens(port))
        load = Load(port)
        for name in ("one", "two", "three", "four"):
            new, old = Backend(name), backends[-1]
            backends.append(new)
            say(instance(0, old.port), instance(1, new.port))
            wait_until(lambda: name in load.seen)
            say(instance(0, old.port, stopping=True), instance(1, new.port))
            wait_until(lambda: has(new.port))
            wait_until(lambda: load.answers_of(20) == {name})
        load.end()
        assert load.bad == [] and load.good > 100
    finally:
        proxy.terminate()
        proxy.wait(timeout=30)
        for backend in backends:
            backend.close()
