# SPDX-License-Identifier: Apache-2.0
"""The examples of the help pages and of README's tour are commands that work as they stand."""
import os
import re
import subprocess

import harness
import pytest

PROGRAMS = ("backup.sh", "build.sh", "convert", "render")


@pytest.fixture
def place(cluster, tmp_path):
    """A directory with what the examples name; returns a function that runs a line of shell in it."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    os.symlink(harness.BIN, bin_dir / "reeve")
    for path in [*(tmp_path / name for name in PROGRAMS), bin_dir / "make"]:
        path.write_text('#!/bin/sh\ntest -e tasks.jsonl && echo "$0 $*"\n')
        path.chmod(0o755)
    (tmp_path / "tasks.jsonl").write_text('{"command":["true"]}\n' * 3)
    path = f"{bin_dir}:{os.environ['PATH']}"
    plugin = os.path.join(harness.ROOT, "examples", "plugins", "persistent.py")
    cluster.start_dev("--name", "alder", env={
        "PATH": path, "REEVE_WORKER_PLUGINS": '{"sum":{"exec":["%s"],"mode":"persistent"}}' % plugin})
    env = harness.clean_environment(PATH=path, HOME=tmp_path, XDG_STATE_HOME="", REEVE_SERVER="unix:" + cluster.socket)

    def run(line, seconds=harness.PATIENCE):
        return subprocess.run(["bash", "-c", line], env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=seconds,
                              capture_output=True, text=True)

    return run


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
