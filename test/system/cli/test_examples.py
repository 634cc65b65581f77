# SPDX-License-Identifier: Apache-2.0
"""The examples of the help pages and of README's tour are commands that work as they stand."""
import json
import os
import re
import shutil
import subprocess

import harness
import pytest

PROGRAMS = ("backup.sh", "build.sh", "build", "convert", "render")
CRONTAB = "# mine\n\n30 2 * * * /opt/tools/backup.sh --all\n*/5 * * * * poll\n"
GRAPH = {"packages": [{"ident": f"core/{name}/1/1", "build": needs} for name, needs in (
    ("glibc", []), ("make", ["core/glibc"]), ("gcc", ["core/make"]), ("php", ["core/gcc"]), ("old", []))]}
JOBS = {"jobs": [{"name": "build", "command": ["echo", "built"]},
                 {"name": "deploy", "needs": ["build"], "command": ["echo", "deployed"]}]}
SERVICE = {"name": "site", "instances": 2, "task": {"command": ["sleep", "1000"]}}
# Programs that not every machine has, or that would show what is this machine's.
STAND_INS = {"build": "echo \"$@\"", "crontab": "printf %s '" + CRONTAB + "'", "dot": "exec cat", "make": "echo made",
             "zstd": 'test "$1" = -dc && exec cat "$2"; exec cat', "backup": "echo $*", "poll": "echo $*"}


def program(path, text):
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(0o755)


def plugin_of_the_page():
    """The plugin that a page shows whole."""
    with open(os.path.join(harness.ROOT, "docs", "coming-from", "celery-sidekiq.md")) as f:
        return re.search(r"```python\n(.*?)```", f.read(), re.S)[1]


def fill(home):
    """What the examples name."""
    bin_dir = home / "bin"
    bin_dir.mkdir()
    os.symlink(harness.BIN, bin_dir / "reeve")
    for name, text in STAND_INS.items():
        program(bin_dir / name, text)
    for name in PROGRAMS:
        program(home / name, 'test -e tasks.jsonl && echo "$0 $*"')
    (home / "sums.py").write_text(plugin_of_the_page())
    (home / "sums.py").chmod(0o755)
    (home / "tasks.jsonl").write_text('{"command":["true"]}\n' * 3)
    (home / "crontab").write_text("30 2 * * * root /opt/tools/backup.sh\n")
    for name, data in (("packages.json", GRAPH), ("graph.json", GRAPH), ("FILE", GRAPH), ("jobs.yaml", JOBS), ("web.yaml", SERVICE)):
        (home / name).write_text(json.dumps(data))
    for name in ("backups", ".zfunc", ".config/fish/completions"):
        (home / name).mkdir(parents=True)
    return f"{bin_dir}:{os.environ['PATH']}"


@pytest.fixture
def place(cluster, tmp_path):
    """A directory with what the examples name; returns a function that runs a line of shell in it."""
    path = fill(tmp_path)
    sum_plugin = os.path.join(harness.ROOT, "examples", "plugins", "persistent.py")
    plugins = {"sum": {"exec": [sum_plugin], "mode": "persistent"},
               "sums": {"exec": [str(tmp_path / "sums.py")], "mode": "persistent"}}
    cluster.start_dev("--name", "alder", env={"PATH": path, "REEVE_WORKER_PLUGINS": json.dumps(plugins)})
    keep_token(cluster, tmp_path)
    env = harness.clean_environment(PATH=path, HOME=tmp_path, XDG_STATE_HOME="", REEVE_SERVER="unix:" + cluster.socket,
                                    SOCKET=cluster.socket, REEVE_SERVER_STATE_DIR=tmp_path / ".local/state/reeve")

    def command(line):
        for named, real in (("/usr/local/bin", tmp_path / "bin"), ("/backup/", f"{tmp_path}/backups/"),
                            ("/etc/crontab", tmp_path / "crontab"), ("http://127.0.0.1:7400", cluster.url),
                            ("/etc/reeve/reeve.json", f"{harness.ROOT}/examples/reeve.json"),
                            ("/home/me/.local", f"{tmp_path}/.local")):
            line = line.replace(named, str(real))
        return ["bash", "-c", line]

    def run(line, seconds=harness.PATIENCE):
        return subprocess.run(command(line), env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=seconds,
                              capture_output=True, text=True)

    def watch(line):
        """Of a command that goes on: its first words, while something happens."""
        with open(tmp_path / "watched", "w+") as out:
            child = subprocess.Popen(command("exec " + line), env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT)
            try:
                harness.wait_until(lambda: cluster.cli("submit", "--", "false") and os.path.getsize(out.name), what=line)
                assert child.poll() is None, (line, open(out.name).read())
            finally:
                child.terminate()
                child.wait(harness.PATIENCE)

    run.watch = watch
    return run


def keep_token(cluster, home):
    state = home / ".local" / "state" / "reeve"
    state.mkdir(parents=True)
    harness.keep_secret(state / "token", cluster.own_token())


def help_examples(command):
    page = harness.run("help", *command.split()).out
    return [line.strip() for line in page.split("\nExamples\n")[1].splitlines()
            if re.match(r"  (?!#).*\breeve ", line)]


@pytest.mark.parametrize("command", ["run", "submit"])
def test_help(cluster, place, command):
    cluster.create_queue("builds")
    examples = help_examples(command)
    assert len(examples) >= 2
    for line in examples:
        done = place(line)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    cluster.wait_idle()
    assert {task["state"] for task in cluster.all_tasks()} == {"succeeded"}


def documented():
    """Every command whose help page has examples, in the order of `reeve help`."""
    for name in re.findall(r"^  ([a-z]+(?: [a-z]+)?)  ", harness.run("help").out, re.M):
        if "\nExamples\n" in harness.run("help", *name.split()).out:
            yield name


LOAD = "reeve graph load core packages.json"
# Words that commands begin with whose examples share a server, and what is made for them before.
ROOMS = {
    "daily": (("wait", "logs", "why", "cancel", "retry", "events"), "reeve queue create builds; reeve queue create nightly"),
    "task": (("task", "batch"), "reeve queue create builds"),
    "queue": (("queue",), "true"),
    "schedule": (("schedule",), LOAD),
    "worker": (("worker",), "true"),
    "people": (("token", "completion", "config"), "reeve queue create builds"),
    "group": (("group", "graph"), LOAD),
    "store": (("backup", "audit", "restore", "store"), "true"),
    "offline": (("cron", "sim"), "true"),
    "service": (("service", "domain"), "reeve service add api -- sleep 1000"),
}
# What is not tried here, and where it is.
ELSEWHERE = {
    "reeve dev": "each of these tests", "reeve server": "test_smoke.py", "reeve worker --join": "test_smoke.py",
    "reeve run": "test_help", "reeve submit": "test_help",
    "reeve bench": "test_bench.py: it takes minutes", "reeve sim --seeds": "the lane sim: it takes minutes",
    "reeve sim --from 42 --seeds 1 --shrink": "the lane sim: nothing fails", "reeve sim play": "test_play.py: with a story",
    "reeve audit verify --expect": "test_audit.py: with a head", "reeve place": "test_service_offline.py: with files",
    "reeve service converge": "test_service_offline.py: with files", "reeve service crash": "test_service_offline.py: with files",
    "reeve service reconcile": "test_service_offline.py: with files", "reeve service rollout": "test_service_offline.py: with files",
    "reeve service restart": "test_api_server.py: of an instance that runs", "reeve service diff web 3 7": "test_services.py: with revisions of these numbers",
    "--service web": "test_services.py: with instances", "reeve why web/3": "test_services.py: with instances",
    "reeve service logs": "test_services.py: with instances",
    "reeve routes": "test_routes_render.py: with a proxy",
    "reeve group fail": "test_group_cli.py: with a job of that name", "reeve cron play": "test_cron.py: with readings",
}
GOES_ON = re.compile(r"events -f|(task|batch|schedule|group show) .*--watch")
TASK = "reeve submit -- sh -c 'echo out; echo err >&2'"
FAILED = ("reeve group submit --wait - <<<'{\"jobs\":[{\"name\":\"build\",\"command\":[\"false\"]},"
          "{\"name\":\"deploy\",\"needs\":[\"build\"],\"command\":[\"true\"]}]}'")
FIRST = {  # what a line needs
    "reeve wait": TASK, "reeve logs -f -n 5": "reeve submit --array 1-3 --name nightly --wait -- echo", "reeve logs": TASK,
    "reeve why": TASK, "reeve cancel": "reeve submit --hold -- true", "reeve retry --failed": "reeve submit --array 1-3 --wait -- false",
    "reeve task ls": "reeve submit --array 1-3 -- true", "reeve task": "reeve submit --hold -- true", "reeve batch": "reeve submit --array 1-3 --name nightly --wait -- echo",
    "reeve group retry @last": FAILED, "reeve group log -f": "reeve group submit jobs.yaml", "reeve graph check": LOAD, "reeve graph show": LOAD,
    "reeve group cancel": ("reeve group rm nightly; reeve queue create closed --threads 0; "
                           "reeve group submit jobs.yaml --name nightly --queue closed"),
    "reeve service why": "reeve service scale web 5", "reeve audit": "cp backups/reeve-* backups/reeve.db; cp backups/reeve.db backups/reeve-2026-11-18.db",
}
MIRRORS = ("reeve group retry",)  # what fails again exits so


def room_lines(words):
    for command in sorted(documented(), key=lambda c: words.index(c.split()[0]) if c.split()[0] in words else -1):
        if command.split()[0] in words:
            yield from help_examples(command)


def test_each_example_is_tried_here_or_elsewhere():
    known = {word for words, _ in ROOMS.values() for word in words}
    for command in documented():
        for line in help_examples(command):
            assert command.split()[0] in known or any(e in line for e in ELSEWHERE), f"{line}: add it to a room"


@pytest.mark.parametrize("room", ROOMS)
def test_help_of(cluster, place, room):
    words, first = ROOMS[room]
    assert place(first).returncode == 0
    if room == "worker":
        for name in ("w1", "w7"):
            cluster.start_worker(name=name)
    wrong = []
    for line in room_lines(words):
        if any(e in line for e in ELSEWHERE):
            continue
        before = next((text for begin, text in FIRST.items() if line.startswith(begin)), "true")
        made = place(before)
        if "ID" in line:
            line = line.replace("ID", made.stdout.strip())
        if line.startswith("reeve worker rm"):
            lose(cluster, "w7", back="--lost" in line)
        if "reeve backup" in line:
            line = f"REEVE_SERVER_STATE_DIR={cluster.state_dir()} {line}"
        if GOES_ON.search(line):
            place.watch(line)
            continue
        done = place(line)
        if done.returncode != 0 and not (done.returncode == 1 and line.startswith(MIRRORS)):
            wrong.append((line, done.returncode, done.stdout[-500:], done.stderr[-500:]))
    assert not wrong
    if room == "schedule":
        run_schedules(cluster)


def lose(cluster, name, back):
    """A worker that is not connected any more."""
    process = cluster.start_worker(name=name) if back else next(p for p in cluster.processes if p.name == name)
    process.stop()
    harness.wait_until(lambda: not cluster.get(f"/v1/workers/{name}")["connected"], what=f"{name} has left")


def run_schedules(cluster):
    """What the examples have added works when its time comes."""
    found = cluster.get("/v1/schedules?full=true")["items"]
    assert len(found) >= 4 and any("group" in s for s in found)
    for s in found:
        made = cluster.cli("schedule", "run", s["name"]).out.strip()
        if "group" in s:
            assert cluster.cli("wait", made, check=False).code == 0, (s["name"], cluster.get(f"/v1/groups/{made}"))
        else:
            assert cluster.wait_ended(made)["state"] == "succeeded", (s["name"], cluster.task(made))


def tour():
    """Each command of "Five minutes", with the first line that it is said to print."""
    with open(os.path.join(harness.ROOT, "README.md")) as f:
        text = f.read().split("## Five minutes")[1].split("\n## ")[0]
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, printed = command.partition("\n")
            if line.startswith("reeve ") and line != "reeve dev":
                yield line, printed


def same_but_for_numbers(text):
    return re.sub(r"[0-9a-f]{24}|[0-9]+", "N", text)


def test_tour(place):
    lines = list(tour())
    assert len(lines) > 15
    for line, printed in lines:
        if "events -f" in line:
            line = f"timeout 2 {line}; true"
        done = place(line)
        wanted = 3 if "exit 3" in line else 0
        assert done.returncode == wanted, (line, done.stdout, done.stderr)
        first = printed.split("\n")[0]
        if "NAME" not in first and "QUEUE" not in first and "task." not in first:
            said = done.stdout + done.stderr
            assert same_but_for_numbers(first) in same_but_for_numbers(said), (line, said)


def page_commands(path):
    """Commands of a page's consoles, each with the first line that it is said to print."""
    with open(os.path.join(harness.ROOT, path)) as f:
        text = f.read()
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, printed = command.partition("\n")
            yield line, printed.split("\n")[0]


PAGES = sorted(name for name in os.listdir(os.path.join(harness.ROOT, "docs", "coming-from")) if name.endswith(".md"))


@pytest.mark.parametrize("page", PAGES)
def test_coming_from(place, page):
    """Each console of the page, as it stands there, and what it prints first."""
    lines = list(page_commands(f"docs/coming-from/{page}"))
    assert len(lines) >= 3
    for line, first in lines:
        done = place(line)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        said = same_but_for_numbers(" ".join((done.stdout + done.stderr).split()))
        is_moment = re.match(r"[A-Z][a-z]{2} [A-Z][a-z]{2} ", first)
        assert is_moment or same_but_for_numbers(" ".join(first.split())) in said, (line, first, said)


def curls():
    """Every request by curl that a page shows; README's first line names the token."""
    token = 'token="Authorization: Bearer $(cat ~/.local/state/reeve/token)"; '
    for page in ("README.md", "docs/OPERATIONS.md", "docs/GROUPS.md", "docs/SCHEDULES.md", "docs/coming-from/celery-sidekiq.md"):
        with open(os.path.join(harness.ROOT, page)) as f:
            for block in re.findall(r"```(?:sh|console)\n(.*?)```", f.read(), re.S):
                for request in re.findall(r"^ *(?:\$ )?(curl (?:\\\n|[^\n'\\]|'[^']*')*)", block, re.M):
                    yield page, token + request


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_requests_by_curl(cluster, place):
    requests = list(curls())
    assert len(requests) >= 7
    cluster.create_queue("sums", plugin="sums")
    for page, request in requests:
        if not shutil.which("jq"):
            request = request.split(" | jq")[0]
        done = place(request)
        assert done.returncode == 0 and done.stdout.startswith("{"), (page, request, done.stdout, done.stderr)
        if "comand" in request:
            assert 'did you mean \\"command\\"?' in done.stdout
        else:
            assert "urn:reeve:error" not in done.stdout, (page, request, done.stdout)


def test_a_groups_program_with_a_relative_path_is_told(cluster, place, tmp_path):
    (tmp_path / "lost.yaml").write_text("jobs: [{name: a, command: [./build]}]")
    lost = place("reeve group submit lost.yaml")
    assert lost.returncode == 0 and "./build of the job a is looked for in /" in lost.stderr and "-C ." in lost.stderr
    here = place("reeve group submit lost.yaml -C . --wait")
    assert here.returncode == 0 and "looked for" not in here.stderr, here.stderr
