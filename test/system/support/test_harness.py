# SPDX-License-Identifier: Apache-2.0
"""The harness itself: a test must be able to trust what ends its processes and reads its answers."""
import os
import signal

import harness
import pytest
import records


def script(tmp_path, monkeypatch, text):
    """Puts a shell script in the place of the program."""
    path = tmp_path / "program"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    monkeypatch.setattr(harness, "BIN", str(path))
    return harness.Process("it", ["word"], str(tmp_path / "log"))


def alive(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_wait_until_returns_the_value():
    values = iter([0, None, "", "there"])
    assert harness.wait_until(lambda: next(values), every=0) == "there"


def test_wait_until_names_what_did_not_come():
    with pytest.raises(AssertionError, match="still not: rain"):
        harness.wait_until(lambda: False, timeout=0.05, what="rain")


def test_run_fails_with_all_that_was_said(tmp_path, monkeypatch):
    script(tmp_path, monkeypatch, "echo out; echo err >&2; exit 3")
    with pytest.raises(AssertionError, match="(?s)-> 3.*out.*err"):
        harness.run("x")
    assert harness.run("x", check=False).code == 3


def test_run_never_overlooks_a_sanitizer(tmp_path, monkeypatch):
    script(tmp_path, monkeypatch, "echo '==1==ERROR: AddressSanitizer: x' >&2; exit 1")
    with pytest.raises(AssertionError, match="AddressSanitizer"):
        harness.run("x", check=False)


def test_run_hides_the_callers_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("REEVE_SERVER", "unix:/nowhere")
    script(tmp_path, monkeypatch, 'echo "${REEVE_SERVER-none}"; cat')
    assert harness.run("x", input="fed").out == "none\nfed"


def test_end_leaves_no_grandchild(tmp_path, monkeypatch):
    it = script(tmp_path, monkeypatch, "sleep 600 & echo $!; wait").start()
    grandchild = int(harness.wait_until(it.log))
    assert alive(grandchild)
    assert it.end() is None
    assert not it.running
    harness.wait_until(lambda: not alive(grandchild), what="the grandchild is gone")


def test_end_reports_what_does_not_stop(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "PATIENCE", 0.2)
    monkeypatch.setattr(harness.Process.stop, "__defaults__", (0.2,))
    it = script(tmp_path, monkeypatch, "trap '' TERM; echo up; while :; do sleep 0.05; done").start()
    harness.wait_until(it.log)
    assert "did not end" in it.end()
    assert not alive(it.pid)


def test_end_reports_a_sanitizer_in_the_log(tmp_path, monkeypatch):
    it = script(tmp_path, monkeypatch, "echo 'a.c:1: runtime error: overflow'; sleep 600").start()
    harness.wait_until(it.log)
    assert "runtime error" in it.end()


def test_kill9_takes_the_process_alone(tmp_path, monkeypatch):
    it = script(tmp_path, monkeypatch, "sleep 600 & echo $!; wait").start()
    grandchild = int(harness.wait_until(it.log))
    it.kill9()
    assert it.child.returncode == -signal.SIGKILL
    assert alive(grandchild)
    it.end()
    harness.wait_until(lambda: not alive(grandchild), what="the grandchild is gone")


def test_records_survive_a_torn_line():
    one, two = "0123456789abcdef01234567 1 1 begin 9 5.25 \n", "0123456789abcdef01234567 1 1 end 9 5.30 3\n"
    begin, end = records.parse(one + two)
    assert (begin.what, begin.code, end.what, end.code, end.seconds) == ("begin", None, "end", 3, 5.3)
    assert records.parse(one + two[:-7]) == [begin], "not all there yet"
    assert records.parse(one[:30] + two + one) == [end, begin], "its writer was killed"
