# SPDX-License-Identifier: Apache-2.0
"""`reeve action`, as a worker starts it: the action on standard input, the outcome on descriptor 3."""
import hashlib
import http.server
import json
import os
import signal
import subprocess
import threading
import uuid

import harness
import pytest
from harness import wait_until


class Done:
    def __init__(self, code, out, err, result):
        self.code, self.out, self.err = code, out, err
        self.result = json.loads(result) if result else None

    @property
    def reason(self):
        assert self.result["status"] == 2, self
        return self.result["reason"]

    def __repr__(self):
        return f"exit {self.code}, {self.result}\n{self.out}{self.err}"


class Runner:
    """Starts actions; every process of theirs carries a mark by which it is found."""

    def __init__(self, folder):
        self.folder, self.mark = folder, f"MARK={uuid.uuid4()}"
        self.env = {**harness.clean_environment(), "NO_PROXY": "*", "no_proxy": "*"}
        self.env["MARK"] = self.mark.split("=")[1]

    def start(self, action, *words):
        text = action if isinstance(action, (str, bytes)) else json.dumps(action)
        text = text.encode() if isinstance(text, str) else text
        source = self.folder / "action.json"
        source.write_bytes(text)
        # a shell puts the file at descriptor 3, which Python cannot
        return subprocess.Popen(["sh", "-c", 'in=$1 out=$2; shift 2; exec "$0" action "$@" <"$in" 3>"$out"', harness.BIN,
                                 source, self.folder / "result", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.env, cwd=self.folder)

    def finish(self, child):
        out, err = (text.decode() for text in child.communicate(timeout=harness.PATIENCE))
        assert not harness.SANITIZER.search(err), err
        assert self.processes() == []
        return Done(child.returncode, out, err, (self.folder / "result").read_text())

    def __call__(self, action, *words):
        return self.finish(self.start(action, *words))

    def processes(self):
        return harness.processes_with(self.mark)


@pytest.fixture
def act(tmp_path):
    runner = Runner(tmp_path)
    yield runner
    for pid in runner.processes():
        os.kill(pid, signal.SIGKILL)


def sh(script, **members):
    return {"run": {"path": "/bin/sh", "args": ["-c", script], **members}}


def serial(*actions):
    return {"serial": {"actions": list(actions)}}


def parallel(*actions):
    return {"parallel": {"actions": list(actions)}}


# -- run

def test_a_run_that_succeeds(act):
    done = act(sh("echo out; echo err >&2"))
    assert (done.code, done.out, done.err, done.result) == (0, "out\n", "err\n", {"status": 1})


def test_a_single_run_gives_its_exit_code(act):
    done = act(sh("exit 42"))
    assert (done.code, done.reason) == (42, "Exited with status 42")


def test_of_more_than_one_run_the_code_is_one(act):
    assert act(serial(sh("exit 42"))).code == 1


def test_a_signal_is_named(act):
    done = act(sh("kill -SEGV $$"))
    assert (done.code, done.reason) == (128 + signal.SIGSEGV, "Exited with signal 11 (SIGSEGV)")


@pytest.mark.parametrize("run, code, words", [
    ({"path": "/nonexistent"}, 127, "exec /nonexistent: No such file or directory"),
    ({"command": ["no-such-program"]}, 127, "exec no-such-program: not found in PATH"),
    ({"path": "/tmp"}, 126, "exec /tmp: Permission denied"),
    ({"path": "true", "dir": "/nonexistent"}, 126, "working directory /nonexistent: No such file or directory"),
])
def test_what_can_not_be_executed(act, run, code, words):
    done = act({"run": run})
    assert (done.code, done.reason) == (code, words)


def test_directory_environment_and_descriptors(act):
    (act.folder / "sub").mkdir()
    done = act(sh('pwd; echo "$K $MARK"; ls /proc/self/fd; cat', dir=str(act.folder / "sub"),
                  env={"K": "v w"}))
    assert done.out.splitlines() == [str(act.folder / "sub"), f"v w {act.env['MARK']}",
                                     "0", "1", "2", "3"]  # 3 is the directory that ls looks at
    assert act(sh("pwd")).out.strip() == str(act.folder)


def test_what_a_run_leaves_behind_is_ended(act):
    """In its group, in sessions of their own, and orphans of orphans."""
    done = act(sh("sleep 1000 & setsid sleep 1000 & setsid sh -c 'setsid sleep 1000 & sleep 1000' & echo on"))
    assert (done.code, done.out) == (0, "on\n")


def test_orphans_do_not_stay_as_zombies(act):
    count = "for i in 1 2 3 4 5 6 7 8; do (setsid true &); done; until ! grep -l 'State:.Z' /proc/[0-9]*/status 2>&1" \
            " | xargs -r grep -l \"PPid:.$PPID\\$\" | grep -q .; do sleep 0.05; done; echo none"
    assert act(sh(count)).out == "none\n"


# -- the inner nodes

def test_serial_stops_at_the_first_failure(act):
    done = act(serial(sh("echo 1"), sh("exit 7"), sh("echo 3")))
    assert (done.out, done.reason) == ("1\n", "Exited with status 7 (action.serial.actions[1].run)")


def test_parallel_runs_at_once_and_merges_failures(act):
    meet = "touch {0}; until [ -e {1} ]; do sleep 0.02; done; exit {2}"
    done = act(parallel(sh(meet.format("a", "b", 3)), sh(meet.format("b", "a", 0)), sh("exit 4")))
    assert done.reason == ("Exited with status 3 (action.parallel.actions[0].run); "
                           "Exited with status 4 (action.parallel.actions[2].run)")


def test_codependent_ends_the_others_even_after_success(act):
    other = sh("trap 'echo asked; exit 0' TERM; touch ready; while :; do sleep 0.02; done")
    done = act({"codependent": {"actions": [other, sh("until [ -e ready ]; do sleep 0.02; done")]}})
    assert (done.code, done.out, done.reason) == (1, "asked\n", "Codependent step exited (action.codependent.actions[1].run)")


def test_codependent_says_which_failure(act):
    done = act({"codependent": {"actions": [sh("sleep 1000"), sh("exit 9")]}})
    assert done.reason == "Exited with status 9 (action.codependent.actions[1].run)"


def with_sidecars(action, *sidecars, **members):
    return {"with_sidecars": {"action": action, "sidecars": list(sidecars), **members}}


def test_sidecars_live_with_the_action(act):
    other = sh("trap 'echo asked; exit 0' TERM; touch ready; while :; do sleep 0.02; done")
    wait = "until [ -e ready ]; do sleep 0.02; done;"
    done = act(with_sidecars(sh(f"{wait} echo main; exit 0"), other, setup=sh("echo setup")))
    assert (done.code, done.result["status"], done.out) == (0, 1, "setup\nmain\nasked\n"), done
    done = act(with_sidecars(sh(f"{wait} exit 3"), other))
    assert (done.code, done.reason) == (1, "Exited with status 3 (action.with_sidecars.action.run)")
    done = act(with_sidecars(sh("exec sleep 1000"), sh("exit 0")), "--monitored")
    assert (done.code, done.reason) == (1, "Sidecar exited (action.with_sidecars.sidecars[0].run)")
    done = act(with_sidecars(sh("touch never"), sh("touch never"), setup=sh("exit 4")))
    assert done.reason == "Exited with status 4 (action.with_sidecars.setup.run)" and not (act.folder / "never").exists()


DAEMON = """(trap 'echo asked; exit 0' TERM; touch ready; while :; do sleep 0.02; done) & exit 0"""


def test_a_daemon_is_kept_where_somebody_looks(act):
    """The program exits with 0 and leaves another one behind: that is the action now."""
    child = act.start(with_sidecars(sh(DAEMON), sh("until [ -e stop ]; do sleep 0.02; done; exit 0")), "--monitored")
    wait_until((act.folder / "ready").exists, what="the daemon runs")
    wait_until(lambda: len(children_of(child.pid)) == 2, what="its parent is gone")
    (act.folder / "stop").touch()
    done = act.finish(child)
    assert (done.code, done.reason, done.out) == (
        1, "Sidecar exited (action.with_sidecars.sidecars[0].run)", "asked\n"), "it was asked to end"
    (act.folder / "ready").unlink()
    child = act.start(with_sidecars(sh(DAEMON)), "--monitored")
    wait_until((act.folder / "ready").exists, what="the daemon runs")
    child.terminate()
    done = act.finish(child)
    assert (done.code, done.reason, done.out) == (1, "Cancelled", "asked\n")


def test_no_daemon_is_kept_where_nobody_looks(act):
    done = act(with_sidecars(sh("setsid sleep 1000 & exit 0")))
    assert (done.code, done.result["status"]) == (0, 1)


def test_timeout_asks_first(act):
    done = act({"timeout": {"timeout": "300ms", "action": sh("trap 'echo asked; exit 0' TERM; while :; do sleep 0.02; done")}})
    assert (done.code, done.out, done.reason) == (1, "asked\n", "exceeded 300ms timeout")


def test_timeout_kills_what_does_not_listen(act):
    child = act.start({"timeout": {"timeout": 0.1, "action": sh("trap '' TERM; echo on; sleep 1000 & wait; sleep 1000")}})
    done = act.finish(child)
    assert (done.out, done.reason) == ("on\n", "exceeded 100ms timeout")


def test_a_stopped_program_still_hears_the_end(act):
    done = act({"timeout": {"timeout": 0.3, "action": sh("kill -STOP $$")}})
    assert done.reason == "exceeded 300ms timeout"


def test_try_swallows_and_says_so(act):
    done = act(serial({"try": {"action": sh("exit 5"), "log_source": "cache"}}, sh("echo on")))
    assert (done.code, done.out) == (0, "on\n")
    assert "[cache] Ignored: Exited with status 5" in done.err.splitlines()


def test_progress_messages(act):
    def told(script):
        return act({"emit_progress": {"action": sh(script), "start_message": "begin", "success_message": "done",
                                      "failure_message_prefix": "Building failed", "log_source": "B"}})
    done = told("echo work")
    assert (done.out, done.err) == ("[B] begin\nwork\n[B] done\n", "")
    done = told("exit 1")
    assert (done.out, done.reason) == ("[B] begin\n", "Exited with status 1 (action.emit_progress.action.run)")
    assert done.err.splitlines()[-1] == "[B] Building failed: Exited with status 1"


# -- what is refused

@pytest.mark.parametrize("text, words", [
    ("", "not JSON"), ("{", "not JSON"), ("[]", "not valid"), (b"\xff", "not JSON"),
    ('{"run":{"path":"a"},"run":{"path":"b"}}', "not JSON: duplicate"),
    ('{"serial":{"actions":[{"run":{"pth":"a"}}]}}', "(action.serial.actions[0].run.pth)"),
    ("{}" + " " * (1 << 20), "more than 1048576 bytes"),
], ids=["empty", "cut", "array", "not-utf8", "twice", "unknown", "large"])
def test_refused(act, text, words):
    done = act(text)
    assert done.code == 1 and words in done.reason and words in done.err


def test_without_descriptor_3(reeve):
    result = reeve("action", input=json.dumps(sh("exit 3")), check=False)
    assert result.code == 3


# -- transfers

CONTENT = bytes(range(256)) * 4096  # 1 MiB


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, code, body=b"", length=None, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self):
        at = self.server.boss
        if self.path == "/content":
            self.reply(200, CONTENT)
        elif self.path == "/moved":
            self.reply(302, Location="/content")
        elif self.path == "/around":
            self.reply(302, Location="/around")
        elif self.path.startswith("/to/"):
            self.reply(302, Location=self.path[4:])
        elif self.path == "/cut":
            self.reply(200, b"half", length=8)
            self.close_connection = True
        elif self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            while not at.closing.is_set():
                self.wfile.write(CONTENT)
            self.close_connection = True
        elif self.path == "/slow":
            self.reply(200, b"begin", length=1000)
            at.slow.set()
            at.closing.wait()
            self.close_connection = True
        elif self.path == "/counted":
            at.count(1)
            at.five.wait(harness.PATIENCE)
            at.count(-1)
            self.reply(200, b"x")
        else:
            self.reply(404, b"an error page")

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if len(body) < int(self.headers["Content-Length"]):
            self.close_connection = True
        elif self.path == "/moved":
            self.reply(307, Location="/store")
        elif self.path == "/refused":
            self.reply(403, b"no")
        else:
            self.server.boss.stored[self.path] = body
            self.reply(201, b"thanks")


class Server:
    def __init__(self):
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *args: None  # peers that leave early are what is tested
        self.http.boss = self
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        self.stored, self.now, self.most = {}, 0, 0
        self.lock = threading.Lock()
        self.closing, self.slow, self.five = threading.Event(), threading.Event(), threading.Event()
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def count(self, n):
        with self.lock:
            self.now += n
            self.most = max(self.most, self.now)
            if self.now == 5:
                self.five.set()

    def close(self):
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def web():
    server = Server()
    yield server
    server.close()


def download(source, to, **members):
    return {"download": {"from": source, "to": str(to), **members}}


def upload(source, to, **members):
    return {"upload": {"from": str(source), "to": to, **members}}


def names(folder):
    return sorted(n for n in os.listdir(folder) if n not in ("action.json", "result"))


@pytest.mark.parametrize("kind", ["md5", "sha1", "sha256"])
def test_download(act, web, kind):
    act.folder.joinpath("x").write_text("old")
    done = act(download(web.url + "/moved", act.folder / "x", mode="0751", artifact="it", log_source="D",
                        checksum=f"{kind}:{hashlib.new(kind, CONTENT).hexdigest().upper()}"))
    assert (done.code, done.result, done.err) == (0, {"status": 1}, "")
    assert done.out == "[D] Downloading it...\n[D] Downloaded it (1.0 MiB)\n"
    assert (act.folder / "x").read_bytes() == CONTENT
    assert os.stat(act.folder / "x").st_mode & 0o7777 == 0o751
    assert names(act.folder) == ["x"]


@pytest.mark.parametrize("path, members, words", [
    ("/content", {"checksum": "md5:" + "0" * 32}, "the md5 checksum is "),
    ("/missing", {}, "the server answered 404"),
    ("/content", {"max_bytes": 1 << 19}, "it is larger than 512.0 KiB, which is its max_bytes"),
    ("/endless", {"max_bytes": 10 << 20}, "it is larger than 10.0 MiB, which is its max_bytes"),
    ("/cut", {}, "transfer closed with 4 bytes remaining to read"),
    ("/around", {}, "Maximum (5) redirects followed"),
    ("/to/file:///etc/passwd", {}, "the server redirects to where this may not go"),
    ("/to/ftp://127.0.0.1/", {}, "the server redirects to where this may not go"),
    ("/slow", {"idle_timeout": "1s"}, "nothing moved for 1s"),
])
def test_download_that_fails_leaves_what_was_there(act, web, path, members, words):
    act.folder.joinpath("x").write_text("old")
    done = act(download(web.url + path, act.folder / "x", **members))
    assert done.code == 1 and done.reason.startswith(f"Downloading failed: {words}")
    assert done.err == done.reason + "\n"
    assert (names(act.folder), (act.folder / "x").read_text()) == (["x"], "old")


def test_download_from_nobody(act):
    done = act(download("http://127.0.0.1:1/", act.folder / "x", artifact="it"))
    assert done.reason.startswith("Downloading it failed: Failed to connect to 127.0.0.1 port 1")


@pytest.mark.parametrize("to, words", [
    (".", "Downloading failed: . is a directory; the name of a file is needed"),
    ("none/x", "Downloading failed: cannot write into none/: No such file or directory"),
])
def test_download_to_where_it_can_not_go(act, web, to, words):
    assert act(download(web.url + "/content", to)).reason == words


def test_at_most_five_downloads_at_once(act, web):
    done = act(parallel(*[download(web.url + "/counted", act.folder / f"x{i}") for i in range(12)]))
    assert done.code == 0 and len(names(act.folder)) == 12
    assert web.most == 5


def test_upload(act, web):
    act.folder.joinpath("x").write_bytes(CONTENT)
    done = act(serial(upload("x", web.url + "/a%20b", artifact="it"), upload("x", web.url + "/moved")))
    assert (done.code, done.out) == (0, "Uploading it...\nUploaded it (1.0 MiB)\n")
    assert web.stored == {"/a%20b": CONTENT, "/store": CONTENT}


@pytest.mark.parametrize("content", [CONTENT, b""], ids=["large", "empty"])
def test_upload_with_checksum(act, web, content):
    act.folder.joinpath("x").write_bytes(content)
    good = "sha256:" + hashlib.sha256(content).hexdigest()
    done = act(serial(upload("x", web.url + "/a", checksum=good), upload("x", web.url + "/moved", checksum=good),
                      upload("x", f"file://{act.folder}/y", checksum=good)))
    assert done.code == 0, done.reason
    assert web.stored == {"/a": content, "/store": content} and (act.folder / "y").read_bytes() == content


def test_upload_with_another_checksum(act, web):
    """Nobody has the wrong file then."""
    act.folder.joinpath("x").write_bytes(CONTENT)
    bad = "md5:" + "0" * 32
    for to in (web.url + "/a", web.url + "/moved", f"file://{act.folder}/y"):
        assert act(upload("x", to, checksum=bad)).reason.startswith("Uploading failed: the md5 checksum is ")
    assert web.stored == {} and names(act.folder) == ["x"]


@pytest.mark.parametrize("source, path, words", [
    ("x", "/refused", "the server answered 403"),
    ("none", "/x", "cannot read none: No such file or directory"),
    (".", "/x", ". is not a regular file"),
    ("pipe", "/x", "pipe is not a regular file"),
])
def test_upload_that_fails(act, web, source, path, words):
    act.folder.joinpath("x").write_text("x")
    os.mkfifo(act.folder / "pipe")
    assert act(upload(source, web.url + path)).reason == f"Uploading failed: {words}"
    assert web.stored == {}


def test_files(act):
    act.folder.joinpath("a b").write_bytes(CONTENT * 3)
    done = act(serial(download(f"file://{act.folder}/a%20b", "c", max_bytes=len(CONTENT) * 3),
                      upload("c", f"file://{act.folder}/d")))
    assert done.code == 0
    assert (act.folder / "d").read_bytes() == CONTENT * 3
    assert names(act.folder) == ["a b", "c", "d"]
    done = act(parallel(download(f"file://{act.folder}/c", "e", max_bytes=1), download("file:///nonexistent", "e")))
    assert done.reason == ("Downloading failed: it is larger than 1 byte, which is its max_bytes "
                           "(action.parallel.actions[0].download); Downloading failed: cannot read /nonexistent: "
                           "No such file or directory (action.parallel.actions[1].download)")
    assert names(act.folder) == ["a b", "c", "d"]


def test_timeout_ends_a_download(act, web):
    done = act({"timeout": {"timeout": "1s", "action": download(web.url + "/slow", "x")}})
    assert (done.reason, names(act.folder)) == ("exceeded 1s timeout", [])


# -- being told to end

def busy(web):
    """A bit of everything, all under way once both files and the server say so."""
    return serial(parallel(
        sh("trap 'echo one asked; exit 0' TERM; touch one; while :; do sleep 0.02; done"),
        {"try": {"action": sh("setsid sh -c 'setsid sleep 1000 & sleep 1000' & touch two; exec sleep 1000")}},
        {"timeout": {"timeout": "1h", "action": download(web.url + "/slow", "x", checksum="md5:" + "0" * 32)}}),
        sh("echo never"))


def start_busy(act, web):
    child = act.start(busy(web))
    wait_until(lambda: {"one", "two"} <= set(names(act.folder)) and web.slow.is_set(), what="all is under way")
    return child


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end(act, web, number):
    child = start_busy(act, web)
    child.send_signal(number)
    done = act.finish(child)  # no process is left, it says
    assert (done.code, done.reason, done.out) == (1, "Cancelled", "one asked\n")
    assert done.err.splitlines()[0] == "Cancelled"
    assert names(act.folder) == ["one", "two"]


def test_killed(act, web):
    """Nothing can be said then; what it started dies with it, and no half file has a name."""
    child = start_busy(act, web)
    runs = children_of(child.pid)
    assert len(runs) == 2
    child.kill()
    child.wait()
    # who left his parent before is for the worker to find
    wait_until(lambda: not set(runs) & set(act.processes()), what="the runs are over")
    assert names(act.folder) == ["one", "two"]


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(child) for child in f.read().split()]
