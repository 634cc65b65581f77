# SPDX-License-Identifier: Apache-2.0
"""Who may ask: peer credentials, tokens, names, origins, certificates; and what never shows."""
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile

import pytest
import requests
from client import Api, read_all
from harness import BIN, PATIENCE, keep_secret, wait_until

TOKEN = "a-long-token-that-nobody-guesses-0123456789"
NOBODY = 65534
ASK = "import socket,sys\ns=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n" \
      "s.sendall(b'GET /v1/status HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')\n" \
      "t=b''\nwhile p:=s.recv(65536): t+=p\nsys.stdout.buffer.write(t)\n"


@pytest.fixture
def guarded(cluster):
    """A server that wants a token over TCP."""
    cluster.start_server(env={"REEVE_SERVER_TOKEN": TOKEN})
    return cluster


# -- the unix socket

def test_socket_is_not_for_everybody(server):
    assert os.stat(server.socket).st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_another_user_is_refused(cluster):
    os.chmod(cluster.dir, 0o755)
    path = os.path.join(cluster.dir, "open.sock")
    cluster.start_server("--socket", os.path.join(cluster.state_dir(), "reeve.sock"))
    cluster.server.stop()
    cluster.server.args[cluster.server.args.index("--socket") + 1] = path
    cluster.server.env["REEVE_SERVER_SOCKET_MODE"] = "0666"
    cluster.server.start()
    wait_until(lambda: os.path.exists(path), what="the socket is there")

    def ask(**who):
        done = subprocess.run([sys.executable, "-c", ASK, path], capture_output=True, timeout=PATIENCE, **who)
        assert done.returncode == 0, done.stderr
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), json.loads(body)

    status, problem = ask(user=NOBODY, group=NOBODY, extra_groups=[])
    assert status == 403 and problem["type"] == "urn:reeve:error:denied"
    assert str(NOBODY) in problem["detail"] and "token" in problem["hint"]
    status, _ = ask()
    assert status == 200


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_socket_in_a_private_folder_is_not_called_missing(server):
    os.chmod(server.dir, 0o700)
    with tempfile.TemporaryDirectory() as public:
        os.chmod(public, 0o755)
        program = shutil.copy(BIN, public)
        asked = subprocess.run([program, "-s", f"unix:{server.socket}", "status"], capture_output=True, cwd="/",
                               timeout=PATIENCE, user=NOBODY, group=NOBODY, extra_groups=[], env={"HOME": "/"})
    assert asked.returncode == 1 and b"you may not use" in asked.stderr, asked.stderr


# -- beyond loopback

@pytest.mark.parametrize("flag, word", [("--listen", "server.token"), ("--link-listen", "server.join_token")])
@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0"])
def test_no_open_door_without_a_token(reeve, tmp_path, flag, word, address):
    others = {"--listen": "127.0.0.1:0", "--link-listen": "127.0.0.1:0", flag: address}
    result = reeve("server", "--state-dir", tmp_path / "s", *[x for pair in others.items() for x in pair], check=False)
    assert result.code == 2 and word in result.err, result
    assert not (tmp_path / "s").exists()


# -- tokens

def test_token_is_needed(guarded):
    api = Api(guarded)
    for method, path in (("GET", "/v1/status"), ("POST", "/v1/tasks"), ("GET", "/metrics"), ("GET", "/v1/events"),
                         ("GET", "/openapi.json"), ("GET", "/v1/nothing"), ("DELETE", "/v1/queues/q")):
        response = api.ask(method, path, json={})
        assert response.status_code == 401, path
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
        assert response.json()["type"] == "urn:reeve:error:unauthorized" and response.json()["hint"]
    for path in ("/healthz", "/readyz"):
        assert api.ask("GET", path).status_code == 200, "probes need no secret"
    assert Api(guarded, TOKEN).get("/v1/status")["ready"]
    assert guarded.status()["ready"], "the socket needs none"


@pytest.mark.parametrize("header", [
    "", "Bearer", "Bearer ", "Bearer x", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN.upper()}",
    f"Basic {TOKEN}", TOKEN, f"Bearer  {TOKEN}", f"Bearer {TOKEN} {TOKEN}", f"Bearer {TOKEN * 2}"])
def test_wrong_tokens(shared_guarded, header):
    Api(shared_guarded).refused("GET", "/v1/status", 401, "unauthorized", headers={"Authorization": header})


@pytest.fixture(scope="module")
def shared_guarded(module_cluster):
    return module_cluster("server", env={"REEVE_SERVER_TOKEN": TOKEN})


def test_cli_shows_its_token(guarded, tmp_path):
    over_tcp = {"REEVE_SERVER": guarded.url}
    result = guarded.cli("queue", "ls", env=over_tcp, check=False)
    assert result.code == 1 and "token" in result.err
    guarded.cli("queue", "ls", env={**over_tcp, "REEVE_TOKEN": TOKEN})
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    guarded.cli("queue", "ls", "--token-file", file, env=over_tcp)
    wrong = guarded.cli("queue", "ls", env={**over_tcp, "REEVE_TOKEN": "wrong"}, check=False)
    assert wrong.code == 1 and TOKEN not in wrong.err


def test_worker_shows_its_token(cluster):
    cluster.start_server(env={"REEVE_SERVER_JOIN_TOKEN": TOKEN})
    wrong = cluster._process("wrong", ["worker", "--join", cluster.link, "--name", "wrong", "--state-dir",
                                       cluster.state_dir("wrong")], {"REEVE_WORKER_TOKEN": "not-the-token-at-all"})
    wait_until(lambda: "join token" in cluster.server.log(), what="it was turned away")
    assert not cluster.has_worker("wrong")
    wait_until(lambda: "token" in wrong.log(), what="the worker was told why")
    cluster.start_worker(name="right", env={"REEVE_WORKER_TOKEN": TOKEN})
    assert TOKEN not in cluster.server.log() + wrong.log()


# -- names and origins

def test_foreign_names_are_refused(server):
    """A page of another site can make its name point here: DNS rebinding."""
    api = Api(server)
    port = api.address[1]
    for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example", "evil",
                 "[::1].evil.example", "127.0.0.1:evil.example", f"[::1]:{port}.evil.example"):
        api.refused("GET", "/v1/status", 403, "denied", hint="allow_hosts", headers={"Host": host})
        api.refused("POST", "/v1/queues", 403, "denied", json={"name": "q"}, headers={"Host": host})
    for host in ("localhost", f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", "LOCALHOST"):
        api.get("/v1/status", headers={"Host": host})
    assert api.get("/v1/queues")["items"] == []


def test_foreign_origins_are_refused(server):
    api = Api(server)
    for origin in ("http://evil.example", "null", "http://localhost.evil.example", "https://evil.example:7400", "x",
                   api.url + ".evil.example"):
        for method, path in (("POST", "/v1/queues"), ("PATCH", "/v1/queues/q"), ("DELETE", "/v1/queues/q")):
            api.refused(method, path, 403, "denied", hint="allow_origins", json={"name": "q"}, headers={"Origin": origin})
    assert api.get("/v1/queues")["items"] == []
    api.post("/v1/queues", {"name": "q"}, 201, headers={"Origin": api.url})


def test_allowed_names_and_origins(cluster):
    cluster.start_server(env={"REEVE_SERVER_ALLOW_HOSTS": "reeve.example",
                              "REEVE_SERVER_ALLOW_ORIGINS": "https://ops.example"})
    api = Api(cluster)
    api.get("/v1/status", headers={"Host": "reeve.example"})
    response = api.ask("POST", "/v1/queues", json={"name": "q"}, headers={"Origin": "https://ops.example"})
    assert response.status_code == 201
    assert response.headers["Access-Control-Allow-Origin"] == "https://ops.example"
    api.refused("POST", "/v1/queues", 403, "denied", json={"name": "r"}, headers={"Origin": "https://ops.example.evil"})


# -- what never shows

def test_secrets_do_not_show(cluster, reeve, tmp_path):
    file, join = tmp_path / "token", tmp_path / "join"
    keep_secret(file, TOKEN)
    keep_secret(join, TOKEN[::-1])
    server = cluster.start_server("--token-file", file, "--join-token-file", join, "--log-level", "debug")
    worker = cluster.start_worker("--token-file", join, "--log-level", "debug")
    api = Api(cluster, TOKEN)
    api.ended(api.submit()["id"])
    Api(cluster, "wrong").refused("GET", "/v1/status", 401, "unauthorized")
    told = [server.log(), worker.log(), json.dumps(api.get("/v1/status")), json.dumps(api.get("/v1/events")),
            json.dumps(api.get("/v1/workers")), api.ask("GET", "/metrics").text]
    for pid in (server.pid, worker.pid):
        with open(f"/proc/{pid}/cmdline") as f:
            told.append(f.read())
    config = tmp_path / "reeve.json"
    config.write_text(json.dumps({"server": {"token": TOKEN, "store": f"postgres://me:{TOKEN}@db/x"},
                                  "worker": {"plugins": {"p": {"exec": ["true"], "env": {"KEY": TOKEN}}}}}))
    for words in (("config", "show", "--origin"), ("config", "show", "-o", "json"), ("config", "check")):
        done = reeve(*words, *([config] if words[1] == "check" else ["--config", config]), check=False)
        told.append(done.out + done.err)
    for text in told:
        assert TOKEN not in text and TOKEN[::-1] not in text


def test_no_flag_takes_a_token(reeve):
    for command in ("server", "worker", "dev", "status"):
        result = reeve(command, "--token", "x", check=False)
        assert result.code == 2, "everybody can read the process list"
        assert "--token-file" in result.err


def test_a_task_does_not_inherit_secrets(cluster):
    cluster.start_dev(env={"REEVE_SERVER_TOKEN": TOKEN, "REEVE_SERVER_JOIN_TOKEN": TOKEN[::-1],
                           "REEVE_WORKER_TOKEN": TOKEN[::-1]})
    api = Api(cluster, TOKEN)
    task = api.ended(api.submit("env")["id"])
    assert TOKEN not in task["stdout"] and TOKEN[::-1] not in task["stdout"]


# -- TLS

def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def certs(tmp_path_factory):
    """Two authorities; the first signed a server, a client and a worker, the second a client."""
    where = tmp_path_factory.mktemp("certs")
    for ca in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 2,
                "-subj", f"/CN={ca}", "-keyout", where / f"{ca}.key", "-out", where / f"{ca}.pem")
    (where / "san").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:also-w1,DNS:*.example\n")
    for name, ca in (("server", "ca"), ("client", "ca"), ("w1", "ca"), ("stranger", "other")):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", where / f"{name}.key", "-out", where / f"{name}.csr")
        openssl("x509", "-req", "-in", where / f"{name}.csr", "-CA", where / f"{ca}.pem", "-CAkey", where / f"{ca}.key",
                "-CAcreateserial", "-days", 2, "-extfile", where / "san", "-out", where / f"{name}.pem")
    return where


def https(cluster, certs, ca="ca"):
    api = Api(cluster, verify=str(certs / f"{ca}.pem"))
    api.url = cluster.status()["url"]
    assert api.url.startswith("https://")
    return api


def server_flags(certs, prefix, ca=None):
    flags = [f"--{prefix}tls-cert", certs / "server.pem", f"--{prefix}tls-key", certs / "server.key"]
    return flags + ([f"--{prefix}tls-ca", certs / f"{ca}.pem"] if ca else [])


def test_https(cluster, certs):
    cluster.start_server(*server_flags(certs, ""))
    api = https(cluster, certs)
    api.submit()
    stream = api.session.get(api.url + "/v1/events", headers={"Accept": "text/event-stream"}, stream=True,
                             timeout=PATIENCE)
    assert next(stream.iter_lines(chunk_size=1)) == b": reeve"
    stream.close()
    with pytest.raises(requests.exceptions.SSLError):
        https(cluster, certs, "other").ask("GET", "/v1/status")
    plain = socket.create_connection(api.address, PATIENCE)
    plain.sendall(b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert b"200 OK" not in read_all(plain), "no plain text on the TLS port"
    good = {"REEVE_SERVER": api.url, "REEVE_CA_FILE": certs / "ca.pem"}
    cluster.cli("queue", "ls", env=good)
    bad = cluster.cli("queue", "ls", env={**good, "REEVE_CA_FILE": certs / "other.pem", "REEVE_SERVER_TIMEOUT": "1s"},
                      check=False)
    assert bad.code == 1 and "certificate" in bad.err.lower(), bad


def test_https_with_client_certificates(cluster, certs):
    cluster.start_server(*server_flags(certs, "", "ca"))
    api = https(cluster, certs)
    for cert in (None, "stranger"):
        with pytest.raises(requests.exceptions.RequestException):
            api.ask("GET", "/v1/status", cert=cert and (certs / f"{cert}.pem", certs / f"{cert}.key"))
    assert api.ask("GET", "/v1/status", cert=(certs / "client.pem", certs / "client.key")).status_code == 200


def test_worker_over_tls(cluster, certs):
    cluster.start_server(*server_flags(certs, "link-"))
    api = Api(cluster)
    refused = cluster._process("doubter", ["worker", "--join", cluster.link, "--name", "doubter", "--state-dir",
                                           cluster.state_dir("doubter"), "--tls-ca", certs / "other.pem"], None)
    wait_until(lambda: "certificate" in refused.log().lower(), what="a server of another authority is refused")
    plain = cluster._process("plain", ["worker", "--join", cluster.link, "--name", "plain", "--state-dir",
                                       cluster.state_dir("plain")], None)
    wait_until(lambda: "link lost" in plain.log() or "cannot connect" in plain.log(), what="plain text does not do")
    cluster.start_worker("--tls-ca", certs / "ca.pem")
    assert api.ended(api.submit("echo", "x")["id"])["stdout"] == "x\n"
    assert not cluster.has_worker("doubter") and not cluster.has_worker("plain")


def test_worker_with_a_certificate(cluster, certs):
    cluster.start_server(*server_flags(certs, "link-", "ca"))
    api = Api(cluster)
    without = {}
    for name, flags in (("none", []), ("stranger", ["--tls-cert", certs / "stranger.pem", "--tls-key", certs / "stranger.key"])):
        without[name] = cluster._process(name, ["worker", "--join", cluster.link, "--name", name, "--state-dir",
                                                cluster.state_dir(name), "--tls-ca", certs / "ca.pem", *flags], None)
    cluster.start_worker("--tls-ca", certs / "ca.pem", "--tls-cert", certs / "w1.pem", "--tls-key", certs / "w1.key")
    assert api.ended(api.submit()["id"])["state"] == "succeeded"
    for name, process in without.items():
        wait_until(lambda p=process: "dialling again" in p.log(), what=f"{name} was refused")
        assert not cluster.has_worker(name)


def tells(cluster, name, flags, to_worker, to_server):
    """Both logs say what is wrong with this worker, and what to do about it."""
    worker = cluster._process(name, ["worker", "--join", cluster.link, "--name", name, "--state-dir",
                                     cluster.state_dir(name), *flags], None)
    wait_until(lambda: to_worker in worker.log(), what=f"the worker's log says: {to_worker}")
    wait_until(lambda: to_server in cluster.server.log(), what=f"the server's log says: {to_server}")
    assert "turned away: " in cluster.server.log()
    worker.stop()


def test_tls_mistakes_are_told_on_both_sides(cluster, certs):
    cluster.start_server(*server_flags(certs, "link-", "ca"))
    trust = ["--tls-ca", certs / "ca.pem"]
    stranger = ["--tls-cert", certs / "stranger.pem", "--tls-key", certs / "stranger.key"]
    tells(cluster, "none", trust, "if it demands a certificate of yours, give it with --tls-cert", "with its --tls-cert")
    tells(cluster, "stranger", trust + stranger, "of its --link-tls-ca", "by an authority of --link-tls-ca")
    tells(cluster, "doubter", ["--tls-ca", certs / "other.pem"], "--tls-ca FILE names the certificate authority",
          "it does not trust this server's certificate")
    tells(cluster, "plain", [], "if it speaks TLS there, --tls-ca FILE", "it does not speak TLS: its --tls-ca FILE")


def test_tls_against_a_plain_link_is_told_on_both_sides(cluster, certs):
    cluster.start_server()
    tells(cluster, "w1", ["--tls-ca", certs / "ca.pem"], "it does not speak TLS: leave out --tls-ca", "this port does not")


def test_renewed_certificate_is_shown_after_reload(cluster, certs, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"

    def put(name):
        cert.write_bytes((certs / f"{name}.pem").read_bytes())
        key.write_bytes((certs / f"{name}.key").read_bytes())

    def hup(words):
        before = cluster.server.log().count(words)
        cluster.server.signal(signal.SIGHUP)
        wait_until(lambda: cluster.server.log().count(words) > before, what=f"it says: {words}")

    put("server")
    cluster.start_server("--tls-cert", cert, "--tls-key", key)
    api = https(cluster, certs)
    assert ssl.get_server_certificate(api.address).strip() in (certs / "server.pem").read_text()
    put("client")
    hup("configuration reloaded")
    assert ssl.get_server_certificate(api.address).strip() in (certs / "client.pem").read_text()
    key.write_bytes((certs / "server.key").read_bytes())  # does not fit
    hup("certificates were not reloaded")
    assert ssl.get_server_certificate(api.address).strip() in (certs / "client.pem").read_text()


def test_broken_certificates_are_named_at_start(reeve, certs, tmp_path):
    cases = ((certs / "server.pem", certs / "client.key"), (certs / "nowhere.pem", certs / "server.key"),
             (certs / "san", certs / "server.key"))
    for cert, key in cases:
        result = reeve("server", "--state-dir", tmp_path / "s", "--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0",
                       "--tls-cert", cert, "--tls-key", key, check=False)
        assert result.code in (1, 2) and any(str(x) in result.err for x in (cert, key)), result
