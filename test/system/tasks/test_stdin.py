# SPDX-License-Identifier: Apache-2.0
"""Standard input goes with the command: of `run` unasked, of `submit` when it is named."""
import subprocess

import harness
import pytest

MOST = 256 << 10


@pytest.fixture
def cli(dev, tmp_path):
    def run(*args, **options):
        return dev.cli(*args, env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""}, **options)

    return run


def test_run_forwards_it(cli):
    assert cli("run", "--", "sh", input="echo hi; exit 0\n").out == "hi\n"
    text = "häuser {} \\ \"\n\nno end"
    assert cli("run", "cat", input=text).out == text
    assert cli("run", "wc", "-c", input="x" * MOST).out.strip() == str(MOST)
    assert cli("run", "--stdin", "/etc/hostname", "cat", input="not this").out == open("/etc/hostname").read()


def test_none_costs_nothing(dev, cli):
    assert cli("run", "cat").out == ""
    assert "run" not in dev.task(cli("submit", "cat", input="not asked for").out.strip())
    env = harness.clean_environment(REEVE_SERVER="unix:" + dev.socket)
    closed = subprocess.run(["sh", "-c", 'exec "$0" run cat <&-', harness.BIN], env=env, capture_output=True,
                            timeout=harness.PATIENCE, check=True)
    assert closed.stdout == b""
    assert cli("run", "--run", '{"input":"said"}', "cat", input="read").out == "said"


def test_what_a_task_cannot_hold_is_streamed(dev, cli):
    assert cli("run", "wc", "-c", input="x" * (MOST + 1)).out.strip() == str(MOST + 1)
    for binary in (b"\xff\xfe", b"a\0b"):
        assert cli("run", "od", "-An", "-tx1", input=binary).out.split() == [f"{b:02x}" for b in binary]
    assert [t.get("stdin") for t in dev.all_tasks()] == ["stream"] * 3


def test_a_slow_one_of_submit_is_waited_for_and_that_is_said(dev):
    env = harness.clean_environment(REEVE_SERVER="unix:" + dev.socket)
    done = subprocess.run(["bash", "-c", '(sleep 3; echo late) | "$0" submit --stdin - --wait cat', harness.BIN],
                          env=env, capture_output=True, text=True, timeout=harness.PATIENCE, check=True)
    task = dev.task(done.stdout.strip())
    assert task["run"]["input"] == "late\n" and "reading standard input to its end" in done.stderr


def test_an_array_has_it_whole(cli, tmp_path):
    (tmp_path / "long").write_bytes(b"x" * (MOST + 1))
    (tmp_path / "binary").write_bytes(b"a\0b")
    long = cli("submit", "--array", "1-2", "--stdin", tmp_path / "long", "cat", check=False)
    assert long.code == 2 and "at most 262144 bytes (256 KiB)" in long.err and "put it into a file" in long.err
    assert "must be text" in cli("submit", "--array", "1-2", "--stdin", tmp_path / "binary", "cat", check=False).err


def test_submit_takes_a_file_or_its_own(dev, cli, tmp_path):
    (tmp_path / "in").write_text("from a file\n")
    for words, options in (([tmp_path / "in"], {}), (["-"], {"input": "from a file\n"})):
        task = cli("submit", "--stdin", *words, "cat", **options).out.strip()
        assert dev.wait_ended(task)["stdout"] == "from a file\n"
    batch = cli("submit", "--array", "1-2", "--stdin", tmp_path / "in", "--wait", "--", "sh", "-c", "cat; echo {}")
    assert batch.code == 0
    assert sorted(cli("logs", task["id"]).out for task in dev.all_tasks(batch=batch.out.strip())) == [
        "from a file\n1\n", "from a file\n2\n"]


@pytest.mark.parametrize("words, said", [
    (["--stdin", "-", "--array", "-", "cat"], "cannot both read standard input"),
    (["--stdin", "-", "--array", "1-2", "cat"], "{} in the standard input is refused"),
    (["--stdin", "/nonexistent", "cat"], "/nonexistent cannot be read"),
    (["--stdin", "-", "--ndjson", "x"], "--stdin cannot be used with --ndjson"),
    (["--stdin", "-", "--action", '{"run":{"path":"x"}}'], "goes with a command only"),
])
def test_what_does_not_go_together(cli, words, said):
    refused = cli("submit", *words, input="a {} b", check=False)
    assert refused.code != 0 and said in refused.err, refused
