# SPDX-License-Identifier: Apache-2.0
"""Where the command line takes its settings from: flags, then the environment, then the file."""
import json
import subprocess

import harness
import pytest


@pytest.fixture
def home(tmp_path):
    """A person's home, and a function that writes their configuration file."""
    def write(settings):
        path = tmp_path / ".config" / "reeve" / "reeve.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(settings if isinstance(settings, str) else json.dumps(settings, indent=1))
        return path

    write.env = {"HOME": tmp_path, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": ""}
    return write


@pytest.fixture
def own(home, reeve, tmp_path):
    """Runs a command as that person. REEVE_CONFIG names the file, so that nothing of this machine takes part."""
    def run(*args, env=None, **options):
        named = {"REEVE_CONFIG": tmp_path / ".config" / "reeve" / "reeve.json"}
        return reeve(*args, env={**home.env, **named, **(env or {})}, **options)

    return run


def test_the_file_names_server_output_and_queue(server, home, own):
    home({"cli": {"server": f"unix:{server.socket}", "output": "json", "queue": "mine"}})
    for name in ("mine", "theirs", "flag"):
        server.create_queue(name)
    assert own("submit", "true").json["queue"] == "mine"
    assert {q["name"] for q in own("queue", "ls").json["items"]} == {"mine", "theirs", "flag"}
    assert len(own("queue", "ls", env={"REEVE_OUTPUT": "jsonl"}).jsonl) == 3
    assert "QUEUE" in own("queue", "ls", "-o", "table", env={"REEVE_OUTPUT": "jsonl"}).out
    assert own("submit", "true", env={"REEVE_QUEUE": "theirs"}).json["queue"] == "theirs"
    assert own("submit", "--queue", "flag", "true", env={"REEVE_QUEUE": "theirs"}).json["queue"] == "flag"
    # The usual queue is not meant when a limit is asked for: that one has its own.
    assert own("submit", "--limit", "3", "true").json["queue"] == "limit-3"


def test_flags_and_environment_come_before_the_file(server, home, own):
    home({"cli": {"server": "unix:/nonexistent/file.sock"}})
    assert "/nonexistent/file.sock" in own("status", check=False).err
    assert own("status", env={"REEVE_SERVER": f"unix:{server.socket}"}).code == 0
    assert own("status", "--server", f"unix:{server.socket}", env={"REEVE_SERVER": "unix:/nonexistent/env.sock"}).code == 0


def test_servers_own_socket_is_found(server, home, own):
    home({"server": {"socket": server.socket}})
    assert f"unix:{server.socket}" in own("status").out
    home({"server": {"state_dir": server.state_dir()}})
    assert f"unix:{server.socket}" in own("status").out


def test_the_usual_place_of_the_file(server, home, tmp_path, reeve):
    home({"cli": {"server": f"unix:{server.socket}"}})
    env = {k: v for k, v in home.env.items() if k != "XDG_CONFIG_HOME"}
    # As root, /etc comes first; the person's own place can be set for both.
    assert reeve("status", env={**env, "XDG_CONFIG_HOME": tmp_path / ".config"}).code == 0


@pytest.mark.parametrize("text, line, words", [
    ('{\n "cli": {\n  "server": 7\n }\n}', 3, "cli.server"),
    ('{\n "cli": {\n  "ouput": "json"\n }\n}', 3, "output"),
    ('{\n "cli": {\n  "output": "jsn"\n }\n}', 3, "json"),
    ('{\n "cli": {\n', 0, "reeve.json"),
])
def test_a_broken_file_is_said_with_its_line(home, own, text, line, words):
    path = home(text)
    for command in (["queue", "ls"], ["submit", "true"], ["logs", "0" * 24], ["run", "true"]):
        result = own(*command, check=False)
        assert result.code == 2, result
        assert words in result.err and (not line or f"{path}:{line}:" in result.err), result
    # Whoever asks what is wrong is told.
    assert own("version").out.startswith("reeve ")
    doctor = own("doctor", check=False)
    assert doctor.code == 1 and words in doctor.out and "config" in doctor.out


def test_what_others_got_wrong_is_no_concern_of_ours(server, home, own):
    home({"cli": {"server": f"unix:{server.socket}"}, "worker": {"maxthreads": "many"}})
    result = own("queue", "ls", "-o", "json")
    assert result.json["items"] == [] and result.err == ""
    assert "maxthreads" in own("doctor", check=False).out


def test_nothing_is_read_when_flags_decide(server, home, own):
    home("{ broken")
    assert own("logs", "--server", f"unix:{server.socket}", "--ca-file", "/dev/null",
               "--server-timeout", "1s", "0" * 24, env={"REEVE_TOKEN": "x"}, check=False).code == 1


def test_the_files_token_is_for_the_files_server(cluster, home, own, tmp_path):
    harness.keep_secret(tmp_path / "token", "secret-token-of-the-file\n")
    cluster.start_server("--token-file", tmp_path / "token")
    url = cluster.url
    home({"cli": {"server": url, "token_file": str(tmp_path / "token")}})
    assert own("queue", "ls").code == 0
    assert own("queue", "ls", "--server", url + "/").code == 0
    # Another one is not shown it, even where it would fit.
    other = url.replace("127.0.0.1", "localhost")
    assert own("queue", "ls", "--server", other, check=False).code == 1
    assert own("queue", "ls", "--server", other, "--token-file", tmp_path / "token",
               env={"REEVE_TOKEN": "wrong-but-only-a-variable"}).code == 0
    home({"cli": {"token_file": str(tmp_path / "token")}})
    assert own("queue", "ls", "--server", url).code == 0
    home({"cli": {"server": url, "token": "not-the-right-token-at-all"}})
    refused = own("queue", "ls", check=False)
    assert refused.code == 1 and "token" in refused.err
    assert "not-the-right" not in refused.err


def test_setting_variables_at_once_loses_none(server):
    """Each writer adds its own variables to what it read; the version that it read guards them."""
    server.create_queue("q")
    commands = [[harness.BIN, "queue", "set", "q", "--env", f"V{n}={n}"] for n in range(8)]
    env = harness.clean_environment(REEVE_SERVER=f"unix:{server.socket}")
    children = [subprocess.Popen(c, env=env, stdout=subprocess.DEVNULL) for c in commands]
    assert [child.wait(harness.PATIENCE) for child in children] == [0] * 8
    assert server.json("queue", "show", "q")["env"] == {f"V{n}": str(n) for n in range(8)}
    server.cli("queue", "set", "q", "--env", "V3=", "--threads", "2")
    assert "V3" not in server.json("queue", "show", "q")["env"]


def test_lines_of_ndjson_take_no_options(server):
    for option in (["--queue", "q"], ["--priority", "1"], ["--limit", "2"]):
        result = server.cli("submit", "--ndjson", "-", *option, input='{"command":["true"]}\n', check=False)
        assert result.code == 2 and option[0] in result.err, result
