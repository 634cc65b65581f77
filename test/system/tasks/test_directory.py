# SPDX-License-Identifier: Apache-2.0
"""Where a task runs: in the caller's directory on the caller's machine, or in the one that was named."""
import os
import subprocess

import harness
import pytest


@pytest.fixture
def here(dev, tmp_path):
    """A function that runs the command line in a directory of its own, with a program in it."""
    script = tmp_path / "x.sh"
    script.write_text("#!/bin/sh\necho $PWD $*\n")
    script.chmod(0o755)
    (tmp_path / "sub").mkdir()

    def run(*args, cwd=tmp_path, **options):
        return dev.cli(*args, env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""}, cwd=cwd, **options)

    return run


def test_it_is_the_caller_s(here, tmp_path):
    assert here("run", "pwd").out == f"{tmp_path}\n"
    program = here("run", "--", "./x.sh", "a")
    assert program.out == f"{tmp_path} a\n" and "another machine" not in program.err
    here("submit", "--array", "1-2", "--wait", "--", "./x.sh")
    action = here("run", "--action", '{"run":{"path":"./x.sh","args":["b"]}}')
    assert action.out == f"{tmp_path} b\n"


@pytest.mark.parametrize("given, below", [(".", ""), ("./", ""), ("sub", "/sub"), ("./sub", "/sub")])
def test_a_relative_one_is_the_caller_s_too(here, tmp_path, given, below):
    assert here("run", "-C", given, "pwd").out == f"{tmp_path}{below}\n"


def test_an_absolute_one_is_itself(here):
    assert here("run", "-C", "/etc", "pwd").out == "/etc\n"
    assert here("run", "-C", "/", "pwd").out == "/\n"


def test_elsewhere_the_caller_s_own_means_nothing(dev, tmp_path):
    own = dev.submit("pwd", cwd=str(tmp_path), cwd_machine="0123456789abcdef")
    assert dev.wait_ended(own["id"])["stdout"] == "/\n"
    program = dev.submit("./x.sh", cwd=str(tmp_path), cwd_machine="0123456789abcdef")
    assert dev.wait_ended(program["id"])["reason"] == "exec ./x.sh in /: No such file or directory"
    named = dev.submit("pwd", cwd=str(tmp_path))
    assert dev.wait_ended(named["id"])["stdout"] == f"{tmp_path}\n"


def test_one_that_cannot_be_entered_is_the_reason(here, dev, tmp_path):
    dev.create_queue("later")
    here("queue", "pause", "later")
    task = here("submit", "--queue", "later", "--", "true", cwd=tmp_path / "sub").out.strip()
    (tmp_path / "sub").rmdir()
    here("queue", "resume", "later")
    ended = dev.wait_ended(task)
    assert ended["state"] == "failed"
    assert ended["reason"] == f"working directory {tmp_path}/sub: No such file or directory"


def test_params_have_none(dev, here):
    dev.create_queue("p", plugin="none-such")
    task = here("submit", "--queue", "p", "--params", "{}").out.strip()
    assert "cwd" not in dev.task(task)


@pytest.mark.skipif(os.geteuid() != 0, reason="another host name needs root")
def test_a_relative_program_and_a_worker_elsewhere_is_a_warning(dev, here, tmp_path):
    env = harness.clean_environment(HOME=tmp_path, REEVE_SERVER="unix:" + dev.socket)

    def from_another_host(*words):
        script = 'hostname elsewhere; exec "$@"'
        return subprocess.run(["unshare", "--uts", "sh", "-c", script, "sh", harness.BIN, "submit", *words], env=env,
                              cwd=tmp_path, capture_output=True, text=True, check=True).stderr

    assert "is on another machine, where ./x.sh is looked for in /" in from_another_host("--", "./x.sh")
    assert from_another_host("--", "true") == ""
    assert from_another_host("-C", ".", "--", "./x.sh") == ""


def test_a_schedule_has_none(here):
    at = ("--crontab", "0 0 1 1 *", "--tz", "UTC", "--max-shift", "1h")
    assert "./x.sh is looked for in /" in here("schedule", "add", "a", *at, "--", "./x.sh").err
    assert "looked for" not in here("schedule", "add", "b", *at, "-C", ".", "--", "./x.sh").err
    assert here("schedule", "run", "b").code == 0
