# SPDX-License-Identifier: Apache-2.0
"""The shortest way through everything: if these fail, look here first."""
import os
import signal

import harness
import requests


def test_version(reeve):
    assert reeve("version").out.strip()


def test_unknown_command_is_a_usage_error(reeve):
    result = reeve("sumbit", check=False)
    assert result.code == 2
    assert "submit" in result.err, "it should say what was probably meant"


def test_run_mirrors_output_and_exit_code(dev):
    result = dev.cli("run", "--", "sh", "-c", "echo out; exit 7", check=False)
    assert result.code == 7
    assert "out" in result.out


def test_array_of_tasks(dev):
    result = dev.cli("submit", "--array", "-", "--wait", "--", "sh", "-c", "echo task {}",
                     input="".join(f"{n}\n" for n in range(20)))
    assert result.code == 0


def test_http_answers(dev):
    assert requests.get(dev.url + "/healthz", timeout=harness.PATIENCE).status_code == 200
    assert requests.get(dev.url + "/v1/tasks/nothing", headers=dev.auth, timeout=harness.PATIENCE).status_code in (400, 404)


def test_stops_cleanly(dev):
    assert dev.server.stop() == 0
    assert not os.path.exists(dev.socket), "the socket is taken away"


def test_survives_kill9(dev):
    dev.cli("run", "--", "true")
    dev.server.kill9()
    assert dev.server.child.returncode == -signal.SIGKILL
    dev.restart()
    dev.cli("run", "--", "true")
