# SPDX-License-Identifier: Apache-2.0
"""The command line over TCP: tokens, TLS, and what it says when either is wrong."""
import signal
import socket
import subprocess

import harness
import pytest
from harness import keep_secret, wait_until

SHORT = ["--server-timeout", "500ms"]


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


def make_authority(where, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2,
            "-subj", f"/CN={name}", "-keyout", where / f"{name}.key", "-out", where / f"{name}.pem")


def make_certificate(where, name, authority, names):
    (where / "names").write_text(f"subjectAltName={names}\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", where / f"{name}.key", "-out", where / f"{name}.csr")
    openssl("x509", "-req", "-in", where / f"{name}.csr", "-CA", where / f"{authority}.pem", "-CAkey",
            where / f"{authority}.key", "-CAcreateserial", "-days", 2, "-extfile", where / "names",
            "-out", where / f"{name}.pem")


@pytest.fixture(scope="module")
def certs(tmp_path_factory):
    """An authority with a server, one with a wrong name and a client; and a foreign authority."""
    where = tmp_path_factory.mktemp("certs")
    make_authority(where, "ca")
    make_authority(where, "foreign")
    make_certificate(where, "server", "ca", "IP:127.0.0.1")
    make_certificate(where, "elsewhere", "ca", "DNS:elsewhere.example")
    make_certificate(where, "client", "ca", "DNS:client")
    return where


@pytest.fixture
def away(reeve, tmp_path):
    """Runs a command as somebody on another machine: there is no socket, and nothing is set."""
    def run(*args, env=None, **options):
        (tmp_path / "empty.json").write_text("{}")
        plain = {"HOME": tmp_path, "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": "", "REEVE_CONFIG": tmp_path / "empty.json"}
        return reeve(*args, env={**plain, **(env or {})}, **options)

    return run


def test_plain_http(dev, away, tmp_path):
    (tmp_path / "token").write_text(dev.own_token())
    has = {"REEVE_TOKEN_FILE": tmp_path / "token"}
    for server in (dev.url, dev.url + "/", dev.url.replace("http://", "")):
        assert away("--server", server, "run", "echo", "hi", env=has).out == "hi\n"
    assert away("status", "--server", dev.url, "-o", "json", env=has).json["ready"] is True
    assert away("doctor", "-s", dev.url, env=has).code == 0


def test_nobody_there(away):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d" % taken.getsockname()[1]
        for command, code in ((["status"], 1), (["run", "true"], 125), (["wait", "0" * 24], 125), (["queue", "ls"], 1)):
            result = away("--server", url, *SHORT, *command, check=False)
            assert result.code == code, result
            assert url in result.err and "reeve dev" in result.err, result


def test_not_a_reeve_server(away):
    """A port where somebody speaks another protocol, and says so at once."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        url = "http://127.0.0.1:%d" % other.getsockname()[1]
        child = subprocess.Popen([harness.BIN, "--server", url, *SHORT, "status"], stderr=subprocess.PIPE,
                                 env=harness.clean_environment())
        while child.poll() is None:
            other.settimeout(0.2)
            try:
                talk = other.accept()[0]
                talk.sendall(b"220 mail.example ESMTP\r\n")
                talk.close()
            except TimeoutError:
                pass
        assert child.returncode == 1
        assert url.encode() in child.stderr.read()
        child.stderr.close()


def test_token(cluster, away, tmp_path):
    harness.keep_secret(tmp_path / "token", "a-long-enough-token-1234\n")
    cluster.start_dev("--token-file", tmp_path / "token")
    url = cluster.url
    missing = away("--server", url, "queue", "ls", check=False)
    assert missing.code == 1 and "token" in missing.err
    assert "--token-file" in missing.err and "REEVE_TOKEN" in missing.err, missing
    wrong = away("--server", url, "queue", "ls", env={"REEVE_TOKEN": "another-token-altogether"}, check=False)
    assert wrong.code == 1 and "token" in wrong.err and "another-token" not in wrong.err
    assert away("--server", url, "run", "true", check=False).code == 125
    assert away("--server", url, "--token-file", tmp_path / "token", "run", "echo", "hi").out == "hi\n"
    assert away("--server", url, "run", "echo", "hi", env={"REEVE_TOKEN": "a-long-enough-token-1234"}).out == "hi\n"
    assert away("queue", "ls", env={"REEVE_SERVER": url, "REEVE_TOKEN_FILE": tmp_path / "token"}).code == 0
    gone = away("--server", url, "--token-file", tmp_path / "nowhere", "queue", "ls", check=False)
    assert gone.code != 0 and str(tmp_path / "nowhere") in gone.err
    assert "token" in away("doctor", "--server", url, check=False).out


def https_url(cluster):
    return cluster.status()["url"]


def test_tls(cluster, certs, away):
    cluster.start_dev("--tls-cert", certs / "server.pem", "--tls-key", certs / "server.key")
    url = https_url(cluster)
    assert url.startswith("https://")
    has = {"REEVE_TOKEN": cluster.own_token()}
    assert away("--server", url, "--ca-file", certs / "ca.pem", "run", "echo", "hi", env=has).out == "hi\n"
    for trust in (["--ca-file", certs / "foreign.pem"], []):
        result = away("--server", url, *trust, "queue", "ls", check=False)
        assert result.code == 1 and "certificate" in result.err and "--ca-file" in result.err, result
    for file in ("/nonexistent.pem", "/dev/null"):
        result = away("--server", url, "--ca-file", file, *SHORT, "queue", "ls", check=False)
        assert result.code in (1, 2) and file in result.err, result
    plain = away("--server", url.replace("https", "http"), *SHORT, "queue", "ls", check=False)
    assert plain.code == 1 and "https" in plain.err, plain


def test_tls_on_a_plain_port(server, away):
    url = server.url.replace("http:", "https:")
    result = away("--server", url, *SHORT, "queue", "ls", check=False)
    assert result.code == 1 and "http://" in result.err, result


def test_tls_name(cluster, certs, away):
    cluster.start_server("--tls-cert", certs / "elsewhere.pem", "--tls-key", certs / "elsewhere.key")
    result = away("--server", https_url(cluster), "--ca-file", certs / "ca.pem", "queue", "ls", check=False)
    assert result.code == 1 and "127.0.0.1" in result.err and "name" in result.err, result


def test_client_certificate(cluster, certs, away):
    cluster.start_server("--tls-cert", certs / "server.pem", "--tls-key", certs / "server.key", "--tls-ca", certs / "ca.pem")
    url = ["--server", https_url(cluster), "--ca-file", certs / "ca.pem"]
    own = ["--cert-file", certs / "client.pem", "--key-file", certs / "client.key"]
    assert away(*url, *own, "queue", "ls", env={"REEVE_TOKEN": cluster.own_token()}).code == 0
    without = away(*url, *SHORT, "queue", "ls", check=False)
    assert without.code == 1 and "--cert-file" in without.err, without
    half = away(*url, *own[:2], "queue", "ls", check=False)
    assert half.code == 2 and "--key-file" in half.err, half


def test_second_interrupt_leaves_at_once(dev, tmp_path):
    """The task ignores SIGTERM, so its end takes until it is killed: nobody has to wait for that."""
    env = harness.clean_environment(HOME=tmp_path, REEVE_SERVER=dev.url, REEVE_TOKEN=dev.own_token())
    script = f"trap 'echo stubborn' TERM; echo here; while ! test -e {tmp_path}/go; do sleep 0.05; done"
    with subprocess.Popen([harness.BIN, "run", "sh", "-c", script], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"here\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == b"stubborn\n", "it was asked to end"
        child.send_signal(signal.SIGINT)
        assert child.wait(harness.PATIENCE) == 130
        said = child.stderr.read()
        assert b"cancelling" in said and b"reeve logs -f" in said, said
    (tmp_path / "go").touch()
    task = dev.cli("task", "ls", "-o", "jsonl").jsonl[0]["id"]
    wait_until(lambda: dev.task(task)["ended"], what="the task has ended")


def test_detach_on_interrupt(dev, tmp_path):
    env = harness.clean_environment(HOME=tmp_path, REEVE_SERVER=dev.url, REEVE_TOKEN=dev.own_token())
    script = f"echo here; while ! test -e {tmp_path}/go; do sleep 0.05; done; exit 4"
    with subprocess.Popen([harness.BIN, "run", "--detach-on-interrupt", "sh", "-c", script], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"here\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(harness.PATIENCE) == 130
    (tmp_path / "go").touch()
    assert dev.cli("wait", "@last", env={"HOME": tmp_path, "XDG_STATE_HOME": ""}, check=False).code == 4
