# SPDX-License-Identifier: Apache-2.0
"""Backups beside a busy server, and back: consistent, whole or not at all, whatever comes in between."""
import os
import pty
import select
import shutil
import signal
import sqlite3
import stat
import subprocess
import threading

import pytest
from client import Api
from harness import BIN, PATIENCE, clean_environment, run, wait_until
from test_full_disk import fill, small_disk  # noqa: F401  (a fixture)

PACK, UNPACK = (("zstd", "-q"), ("zstd", "-dqc")) if shutil.which("zstd") else (("gzip",), ("gzip", "-dc"))


def store_of(state_dir):
    return f"sqlite:{state_dir}/reeve.db"


def tasks_in(path):
    """The ids that a file holds, read as a stranger would."""
    db = sqlite3.connect(path)
    try:
        return {row[0] for row in db.execute("SELECT id FROM task")}
    finally:
        db.close()


def assert_whole(url):
    assert "nothing is damaged" in run("store", "check", "--store", url).out


def start(*words, **options):
    return subprocess.Popen([BIN, *map(str, words)], env=clean_environment(), **options)


@pytest.fixture
def full_store(cluster, tmp_path):
    """A stopped server's, of some 20 MB, and a backup of it when it held less."""
    cluster.start_server()
    api = Api(cluster)
    many = [{"command": ["true", "x" * 1500], "status": -10}] * 4000
    api.submit_many(many)
    cluster.cli("backup", tmp_path / "less.db")
    for _ in range(2):
        api.submit_many(many)
    assert cluster.server.stop() == 0
    return cluster


# -- beside a busy server


class Busy:
    """Somebody who submits without a pause, and knows what was acknowledged."""

    def __init__(self, cluster):
        self.api, self.ids, self.over = Api(cluster), [], threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.over.is_set():
            self.ids += self.api.submit_many([{"command": ["echo", "hello"]}] * 5)["ids"]

    def stop(self):
        self.over.set()
        self.thread.join()


def test_beside_a_busy_server(new_cluster, tmp_path):
    cluster, other = new_cluster(), new_cluster()
    cluster.start_dev()
    cluster.cli("schedule", "add", "nightly", "--crontab", "0 3 * * *", "--tz", "UTC", "--max-shift", "1h", "--", "true")
    big = cluster.wait_ended(cluster.submit("sh", "-c", "seq 200000")["id"])
    busy = Busy(cluster)
    try:
        for i in range(5):
            wait_until(lambda: len(busy.ids) > 20 * (i + 1), what="tasks came")
            before = list(busy.ids)
            said = cluster.cli("backup", tmp_path / f"{i}.db").out
            assert "nothing is damaged" in said, said
            wait_until(lambda: len(busy.ids) > len(before), what="submits go on")
    finally:
        busy.stop()
    assert stat.S_IMODE(os.stat(tmp_path / "4.db").st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"{i}.db" for i in range(5)], "and nothing else"
    run("restore", tmp_path / "4.db", env={"REEVE_SERVER_STATE_DIR": other.state_dir()})
    assert_whole(store_of(other.state_dir()))
    other.start_server()
    there = {t["id"] for t in other.all_tasks()}
    assert set(before) <= there, "what was acknowledged before it began is in it"
    assert there <= set(busy.ids) | {big["id"]}
    assert other.cli("logs", big["id"]).out == cluster.cli("logs", big["id"]).out
    assert "nightly" in other.cli("schedule", "ls").out
    assert other.cli("audit", "verify").code == 0


def test_restore_refuses_a_store_in_use(server, tmp_path):
    Api(server).submit()
    server.cli("backup", tmp_path / "b")
    for words in ((), ("--force",)):
        said = server.cli("restore", tmp_path / "b", *words, check=False)
        assert said.code == 1 and "in use" in said.err, said
    server.server.stop()
    said = server.cli("restore", tmp_path / "b", check=False)
    assert said.code == 1 and "there is a store" in said.err and "--force" in said.err, said
    server.cli("restore", "--force", tmp_path / "b")
    server.restart()
    assert len(server.all_tasks()) == 1


def test_it_says_of_which_store(server, tmp_path):
    store = store_of(server.state_dir())
    assert server.cli("backup", tmp_path / "b").out.endswith(f"; from {store}\n")
    assert server.cli("backup", tmp_path / "c", env={"REEVE_SERVER": server.url}).out.endswith(f"; from {store}\n")
    server.server.stop()
    assert server.cli("restore", "--force", tmp_path / "b").out.endswith(f"; from {tmp_path / 'b'}\n")


@pytest.mark.parametrize("elsewhere", ["http://reeve.example:7400", "reeve.example:7400", "unix:/nowhere/reeve.sock",
                                       "unix:///nowhere/reeve.sock", "/nowhere/reeve.sock"])
def test_a_server_elsewhere_is_not_this_store(server, tmp_path, elsewhere):
    said = server.cli("backup", tmp_path / "b", env={"REEVE_SERVER": elsewhere}, check=False)
    assert said.code == 2 and elsewhere in said.err and f"--store {store_of(server.state_dir())}" in said.err
    assert not os.path.exists(tmp_path / "b")
    server.cli("backup", tmp_path / "b", "--store", store_of(server.state_dir()), env={"REEVE_SERVER": elsewhere})


def test_what_is_no_backup(server, tmp_path):
    (tmp_path / "letter").write_text("dear store\n" * 1000)
    server.server.stop()
    for file, words in (("letter", "not a backup"), ("nowhere", "No such file")):
        said = server.cli("restore", "--force", tmp_path / file, check=False)
        assert said.code == 1 and words in said.err, said
    said = server.cli("restore", "--force", f"{server.state_dir()}/reeve.db-wal", check=False)
    assert said.code == 1, said
    server.restart()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root")
def test_root_does_not_write_into_anothers_folder(server, tmp_path):
    server.cli("backup", tmp_path / "b")
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, 12345)
    said = run("restore", tmp_path / "b", "--store", store_of(tmp_path / "theirs"), check=False)
    assert said.code == 1 and "sudo -u '#12345'" in said.err, said
    assert not os.listdir(tmp_path / "theirs")


def test_memory_has_nothing_to_back_up(tmp_path):
    for command in ("backup", "restore"):
        (tmp_path / "restore").touch()
        said = run(command, tmp_path / command, "--store", "memory:", check=False)
        assert said.code == 2 and "a store in memory is not kept" in said.err, said


# -- through pipes


def test_a_strangers_script(server, new_cluster, tmp_path):
    ids = Api(server).submit_many([{"command": ["true"]}] * 300)["ids"]
    spool, packed, other = tmp_path / "tmp", tmp_path / "b.packed", new_cluster()
    spool.mkdir()
    env = clean_environment(TMPDIR=spool, REEVE=BIN, STORE=store_of(server.state_dir()), TO=store_of(other.state_dir()))
    os.mkdir(other.state_dir(), 0o700)
    for script in (f'"$REEVE" backup - --store "$STORE" | {" ".join(PACK)} >{packed}',
                   f'{" ".join(UNPACK)} <{packed} | "$REEVE" restore - --store "$TO"'):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", script], env=env, capture_output=True, timeout=PATIENCE)
        assert done.returncode == 0 and not done.stderr, done
    assert not list(spool.iterdir())
    other.start_server()
    assert [t["id"] for t in other.all_tasks()] == ids


def test_a_reader_that_goes_away_leaves_nothing(full_store, tmp_path):
    spool = tmp_path / "tmp"
    spool.mkdir()
    env = clean_environment(TMPDIR=spool, REEVE=BIN, STORE=store_of(full_store.state_dir()))
    subprocess.run(["bash", "-c", '"$REEVE" backup - --store "$STORE" | head -c 100 >/dev/null'], env=env, check=True,
                   timeout=PATIENCE)
    assert not list(spool.iterdir())


def test_half_a_backup_is_refused(full_store):
    made = subprocess.run([BIN, "backup", "-", "--store", store_of(full_store.state_dir())], env=clean_environment(),
                          capture_output=True, timeout=PATIENCE, check=True).stdout
    for half in (made[:len(made) // 2], made[:4096 * 100], made[:-4096], b""):
        said = full_store.cli("restore", "--force", "-", input=half, check=False)
        assert said.code == 1, said
    assert_whole(store_of(full_store.state_dir()))
    assert len(tasks_in(f"{full_store.state_dir()}/reeve.db")) == 12000


def test_terminals(server, tmp_path):
    """Nothing binary is written to one; whoever waits for longer than a second sees how far it is."""
    server.cli("backup", tmp_path / "b")
    server.server.stop()
    ours, theirs = pty.openpty()
    said = start("backup", "-", "--store", store_of(server.state_dir()), stdout=theirs, stderr=subprocess.PIPE)
    assert b"terminal" in said.communicate(timeout=PATIENCE)[1] and said.returncode == 2
    slow = start("restore", "--force", "-", "--store", store_of(server.state_dir()), stdin=subprocess.PIPE, stderr=theirs,
                 stdout=subprocess.DEVNULL)
    made = (tmp_path / "b").read_bytes()
    shown, at = b"", 0
    while b"copying: 0." not in shown and at < 4000:  # as slowly as it takes to be longer than a second
        slow.stdin.write(made[at:at + 1])
        slow.stdin.flush()
        at += 1
        if select.select([ours], [], [], 0.05)[0]:
            shown += os.read(ours, 65536)
    slow.stdin.write(made[at:])
    slow.stdin.close()
    assert slow.wait(PATIENCE) == 0
    os.close(theirs)
    assert b"copying: 0." in shown
    os.close(ours)


def test_a_damaged_one_is_an_alarm_or_what_was_asked_for(cluster, tmp_path):
    cluster.start_server()
    task = cluster.submit("true", queue=cluster.create_queue("q", threads=0)["name"])["id"]
    assert cluster.server.stop() == 0
    store = store_of(cluster.state_dir())
    db = sqlite3.connect(store.removeprefix("sqlite:"))
    db.execute("UPDATE task SET priority = 77")
    db.commit()
    db.close()
    kept = run("backup", tmp_path / "kept.db", "--damaged", "--store", store, check=False)
    assert kept.code == 1 and "1 thing is damaged" in kept.out and f"damaged: task {task}" in kept.err, kept
    refused = run("restore", tmp_path / "kept.db", "--store", f"sqlite:{tmp_path}/to.db", check=False)
    assert refused.code == 1 and "--damaged takes it all the same" in refused.err and not (tmp_path / "to.db").exists(), refused
    put = run("restore", tmp_path / "kept.db", "--damaged", "--store", f"sqlite:{tmp_path}/to.db", check=False)
    assert put.code == 0 and "1 thing is damaged" in put.out, put
    assert "the backup is in the place of the store, with what is damaged in it" in put.err
    assert len(tasks_in(tmp_path / "to.db")) == 1


def test_a_folder_is_no_file(server, tmp_path):
    for name in (f"{tmp_path}/new/", f"{tmp_path}/"):
        for more in ((), ("--force",)):
            said = run("backup", name, *more, "--store", store_of(server.state_dir()), check=False)
            assert said.code == 2 and "ends as the name of a folder, and a backup is a file" in said.err, said


# -- interrupted


def test_asked_to_stop_it_leaves_nothing(server):
    Api(server).submit()
    server.server.stop()
    before = sorted(os.listdir(server.state_dir()))
    for number in (signal.SIGINT, signal.SIGTERM):
        child = start("restore", "--force", "-", "--store", store_of(server.state_dir()), stdin=subprocess.PIPE,
                      stderr=subprocess.PIPE)
        fresh = f"{server.state_dir()}/reeve.db.restoring"
        wait_until(lambda: os.path.exists(fresh), what="it has begun")
        child.send_signal(number)
        assert b"the store is as it was" in child.stderr.read()
        assert child.wait(PATIENCE) == 128 + number
        child.stdin.close()
        assert sorted(os.listdir(server.state_dir())) == before
    server.restart()
    assert len(server.all_tasks()) == 1


def killed_after(seconds, *words):
    """Whether it was, before it had ended."""
    child = start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        child.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return True


def moments(*words):
    """Kills the command ever later, until it comes to its end; says so after each."""
    for i in range(200):
        was_killed = killed_after(0.01 * 1.25 ** i, *words)
        yield was_killed
        if not was_killed:
            return


def test_killed_in_the_middle_of_a_backup(full_store, tmp_path):
    file = tmp_path / "b"
    full_store.restart()
    api = Api(full_store)
    for n, was_killed in enumerate(moments("backup", file, "--store", store_of(full_store.state_dir()))):
        if file.exists():
            assert len(tasks_in(file)) in (12000 + n, 12000 + n - 1)
        assert file.exists() or was_killed
        api.submit()  # the server goes on
    assert_whole(f"sqlite:{file}")
    assert not os.path.exists(f"{file}.part"), "what the killed ones left was written over"


def test_killed_in_the_middle_of_a_restore(full_store, tmp_path):
    path = f"{full_store.state_dir()}/reeve.db"
    old, new = tasks_in(path), tasks_in(tmp_path / "less.db")
    assert len(old) == 12000 and len(new) == 4000
    for _ in moments("restore", "--force", tmp_path / "less.db", "--store", store_of(full_store.state_dir())):
        there = tasks_in(path)
        assert there in (old, new)
        if there == old:
            assert_whole(store_of(full_store.state_dir()))
    assert there == new
    assert not os.path.exists(f"{path}.restoring")
    full_store.restart()
    assert len(full_store.all_tasks()) == 4000


# -- a full disk


def test_backup_to_a_full_disk(full_store, small_disk):  # noqa: F811
    fill(f"{small_disk}/ballast")
    os.truncate(f"{small_disk}/ballast", 8 << 20)
    said = full_store.cli("backup", f"{small_disk}/b", check=False)
    assert said.code == 1 and "full" in said.err and "make room" in said.err, said
    assert os.listdir(small_disk) == ["ballast"]
    said = full_store.cli("backup", "-", env={"TMPDIR": small_disk}, check=False)
    assert said.code == 1 and not said.out and "make room" in said.err, said
    assert os.listdir(small_disk) == ["ballast"]


def test_restore_to_a_full_disk(cluster, full_store, small_disk, tmp_path):  # noqa: F811
    where = f"sqlite:{small_disk}/reeve.db"
    run("restore", tmp_path / "less.db", "--store", where)
    fill(f"{small_disk}/ballast")
    said = run("restore", "--force", tmp_path / "less.db", "--store", where, check=False)
    assert said.code == 1 and "make room" in said.err, said
    assert not os.path.exists(f"{small_disk}/reeve.db.restoring")
    assert_whole(where)
    assert len(tasks_in(f"{small_disk}/reeve.db")) == 4000


# -- schemas


def test_down_and_up_keep_schedules(server):
    server.cli("schedule", "add", "nightly", "--crontab", "0 3 * * *", "--tz", "UTC", "--max-shift", "1h", "--", "true")
    server.cli("token", "create", "ci", "--role", "read")
    server.cli("schedule", "run", "nightly")
    shown = server.json("schedule", "show", "nightly")
    server.server.stop()
    version = server.cli("store", "version").out
    said = server.cli("store", "migrate", "--to", 3, check=False)
    assert said.code == 1 and "rows' checksums" in said.err and "--lose" in said.err, said
    assert "1 token" in said.err and "1 schedule" in said.err, said
    assert server.cli("store", "version").out == version, "nothing was done"
    said = server.cli("store", "migrate", "--to", 3, "--lose").out
    assert "set aside until the way up:" in said and "1 schedule" in said and "lost:" in said, said
    server.restart()
    assert server.json("schedule", "show", "nightly")["items"] == shown["items"]
    assert "ci" in server.cli("token", "ls").out
    assert server.all_tasks()[0]["schedule"] == "nightly"
