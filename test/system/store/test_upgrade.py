# SPDX-License-Identifier: Apache-2.0
"""What lies in the state directory may be newer, older, foreign, in use, or out of reach."""
import os
import shutil
import sqlite3
import stat

import chaos
import pytest
from client import Api
from harness import BIN, run, wait_until

NOWHERE = ("--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0")


def refused(state_dir, *words, code=1):
    """A server that must not start; returns what it said."""
    result = run("server", "--state-dir", state_dir, *NOWHERE, *words, check=False)
    assert result.code == code, result
    return result.err


def schema(path, version=None):
    db = sqlite3.connect(path)
    try:
        if version is not None:
            db.execute(f"PRAGMA user_version = {version}")
            db.commit()
        return db.execute("PRAGMA user_version").fetchone()[0]
    finally:
        db.close()


def test_newer_schema_is_refused(server):
    api = Api(server)
    task = api.submit()["id"]
    server.server.stop()
    path = os.path.join(server.state_dir(), "reeve.db")
    version = schema(path)
    schema(path, version + 1)
    said = refused(server.state_dir())
    assert f"version {version + 1}" in said and str(version) in said
    assert schema(path) == version + 1, "it was left alone"
    schema(path, version)
    server.restart()
    assert Api(server).task(task)["state"] == "queued"


def test_two_servers_on_one_state_dir(server):
    said = refused(server.state_dir())
    assert "another" in said, said
    api = Api(server)
    api.submit()
    assert server.status()["ready"] and os.path.exists(server.socket), "the first did not notice"


def test_two_servers_on_one_database(server, tmp_path):
    said = refused(tmp_path / "other", "--store", f"sqlite:{server.state_dir()}/reeve.db")
    assert "in use" in said and "reeve.db" in said


def test_port_in_use_is_named(server, tmp_path):
    address = Api(server).url.split("//")[1]
    result = run("server", "--state-dir", tmp_path / "s", "--listen", address, "--link-listen", "127.0.0.1:0", check=False)
    assert result.code == 1 and address in result.err
    result = run("server", "--state-dir", tmp_path / "t", "--listen", "127.0.0.1:0", "--link-listen", server.link, check=False)
    assert result.code == 1 and server.link in result.err


@pytest.mark.parametrize("content", [b"this is a letter, not a database\n" * 100, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_not_a_database(tmp_path, content):
    state = tmp_path / "s"
    state.mkdir()
    (state / "reeve.db").write_bytes(content)
    said = refused(state)
    assert "reeve.db" in said, said
    assert (state / "reeve.db").read_bytes() == content, "it was left alone"


def test_somebody_elses_database(tmp_path):
    state = tmp_path / "s"
    state.mkdir()
    db = sqlite3.connect(state / "reeve.db")
    db.execute("CREATE TABLE letters (x)")
    db.commit()
    db.close()
    assert "not a Reeve database" in refused(state)


def test_state_dir_that_is_a_file(tmp_path):
    (tmp_path / "s").write_text("x")
    assert str(tmp_path / "s") in refused(tmp_path / "s")


def test_store_in_a_directory_that_is_not_there(tmp_path):
    said = refused(tmp_path / "s", "--store", f"sqlite:{tmp_path}/no/where/reeve.db")
    assert "no/where" in said


def test_read_only_directory(tmp_path):
    """Root writes everywhere, so the directory is one where nobody can: /proc."""
    if os.getuid() == 0:
        said = refused("/proc/1/reeve")
        assert "/proc/1/reeve" in said
        return
    state = tmp_path / "s"
    state.mkdir()
    state.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert str(state) in refused(state)


def test_state_is_private(server):
    """Commands and environments of tasks lie there."""
    assert os.stat(server.state_dir()).st_mode & 0o077 == 0


def test_stale_socket_is_replaced(server):
    server.server.kill9()
    assert os.path.exists(server.socket), "a crash leaves it behind"
    server.restart()
    assert server.status()["ready"]


def test_copy_of_a_state_dir_is_whole(server):
    """The database as a stopped server left it is all there is to back up."""
    api = Api(server)
    api.queue("q", threads=2)
    ids = api.submit_many([{"command": ["true"], "queue": "q"}] * 500)["ids"]
    server.server.stop()
    os.makedirs(server.dir + "/copy")
    shutil.copy(os.path.join(server.state_dir(), "reeve.db"), server.dir + "/copy/reeve.db")
    shutil.rmtree(server.state_dir())
    os.rename(server.dir + "/copy", server.state_dir())
    server.restart()
    api = Api(server)
    assert api.get("/v1/queues/q")["counts"]["queued"] == 500
    assert [t["id"] for page in api.pages("/v1/tasks?order=asc", 200) for t in page] == ids


def test_restart_keeps_what_was_said(server):
    api = Api(server)
    installation = api.get("/v1/status")["installation"]
    api.queue("q", threads=4, env={"A": "b"})
    api.post("/v1/queues/q/pause", {"reason": "night"})
    held = api.submit(queue="q", status=-10, labels={"x": "y"}, key="k")
    queue = api.get("/v1/queues/q")
    for end in (server.server.stop, server.server.kill9):
        end()
        server.restart()
        api = Api(server)
        assert api.get("/v1/status")["installation"] == installation
        same = api.get("/v1/queues/q")
        for changing in ("oldest_ms",):
            same.pop(changing), queue.pop(changing, None)
        assert same == queue
        assert api.task(held["id"]) == held
        assert api.submit(queue="q", key="k", expect=200)["id"] == held["id"]
    wait_until(lambda: api.get("/v1/status")["ready"], what="it is ready")


BEFORE = os.environ.get("REEVE_BEFORE_BIN")
MISSING = os.environ.get("REEVE_BEFORE_MISSING", "REEVE_BEFORE_BIN names none (tools/before builds one)")
HOW_TASKS_END = [(["true"], {}, ("succeeded", 0)), (["sh", "-c", "exit 3"], {}, ("failed", 3)),
                 (["sleep", "600"], {"timeout": "300ms"}, ("terminated", None)), (["/no/such"], {}, ("failed", 127))]


@pytest.mark.skipif(not BEFORE, reason=f"no program of the version before: {MISSING}")
@pytest.mark.parametrize("changing, first, then", [("server", BEFORE, BIN), ("worker", BEFORE, BIN), ("worker", BIN, BEFORE)])
def test_the_version_before_at_one_end(cluster, changing, first, then):
    """They work together, and one takes over from the other while a task runs."""
    cluster.binary = first if changing == "server" else then
    cluster.start_server(env=dict(chaos.SHORT, REEVE_SERVER_LOSE_UNHEALTHY_AFTER="30s"))
    cluster.binary = first if changing == "worker" else then
    worker = cluster.start_worker("--maxthreads", 8, "--kill-wait", "300ms", "--on-worker-exit", "keep")
    stop = os.path.join(cluster.dir, "stop")
    script = f"echo begun; until [ -e {stop} ]; do sleep 0.05; done; echo over; echo at last >&2"
    runs, cancelled = cluster.submit("sh", "-c", script)["id"], cluster.submit("sleep", 600)["id"]
    log = f"/v1/tasks/{runs}/logs"
    wait_until(lambda: "begun" in cluster.call("GET", log, params={"stream": "stdout"}).text, what="its output came")
    for round in (1, 2):
        ids = [cluster.submit(*command, **members)["id"] for command, members, _ in HOW_TASKS_END]
        ended = [cluster.wait_ended(i) for i in ids]
        assert [(t["state"], t["exit_code"]) for t in ended] == [end for _, _, end in HOW_TASKS_END]
        if round == 2:
            break
        process = cluster.server if changing == "server" else worker
        assert process.stop() == 0
        process.binary = then
        cluster.restart(process)
    cluster.wait_task(cancelled, "running")
    cluster.cli("cancel", cancelled)
    assert cluster.wait_ended(cancelled)["state"] == "cancelled"
    open(stop, "w").close()
    task = cluster.wait_ended(runs)
    assert (task["state"], task["attempt"], len(task["attempts"])) == ("succeeded", 1, 1), task
    for stream, text in (("stdout", "begun\nover\n"), ("stderr", "at last\n")):
        assert cluster.call("GET", log, params={"stream": stream}).text == text
