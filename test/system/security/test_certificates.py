# SPDX-License-Identifier: Apache-2.0
"""Certificates that prove nothing, and handshakes that never end: on the interface and on the worker link."""
import subprocess

import pytest
import requests
from harness import PATIENCE, wait_until

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Authority:
    """Signs whatever is asked for, also what nobody should accept."""

    def __init__(self, where):
        self.where = where
        for name in ("ca", "other"):
            self.self_signed(name)

    def openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, cwd=self.where)

    def self_signed(self, name):
        self.openssl("req", "-x509", *KEY, "-days", 2, "-subj", f"/CN={name}", "-addext", f"subjectAltName={self.names(name)}",
                     "-keyout", f"{name}.key", "-out", f"{name}.pem")

    @staticmethod
    def names(name):
        return f"DNS:{name},IP:127.0.0.1,DNS:localhost"

    def sign(self, name, by="ca", days=2, extra="", names=None, subject=None):
        (self.where / f"{name}.ext").write_text(f"subjectAltName={names or self.names(subject or name)}\n{extra}\n")
        self.openssl("req", *KEY, "-subj", f"/CN={subject or name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial",
                     "-days", days, "-extfile", f"{name}.ext", "-out", f"{name}.pem")

    def pair(self, name):
        return self.where / f"{name}.pem", self.where / f"{name}.key"


@pytest.fixture(scope="module")
def certs(tmp_path_factory):
    a = Authority(tmp_path_factory.mktemp("certs"))
    a.sign("server")
    a.sign("w1")
    a.sign("expired", days=-1, subject="w1")
    a.sign("foreign", by="other", subject="w1")
    a.self_signed("self")
    a.sign("elsewhere", names="DNS:elsewhere.example,IP:192.0.2.1")
    a.sign("for-clients", extra="extendedKeyUsage=clientAuth", subject="w1")
    a.sign("for-servers", extra="extendedKeyUsage=serverAuth", subject="w1")
    a.sign("by-a-leaf", by="server", subject="w1")
    return a


def flags(certs, name, prefix="", ca=None):
    cert, key = certs.pair(name)
    return [f"--{prefix}tls-cert", cert, f"--{prefix}tls-key", key] + ([f"--{prefix}tls-ca", certs.where / f"{ca}.pem"] if ca else [])


def dialler(cluster, certs, name, *more):
    """A worker that will not get in."""
    return cluster._process(name, ["worker", "--join", cluster.link, "--name", "w1", "--state-dir", cluster.state_dir(name),
                                   "--tls-ca", certs.where / "ca.pem", *more], None)


@pytest.mark.parametrize("bad", ["expired", "foreign", "self", "elsewhere", "for-clients", "by-a-leaf"])
def test_a_server_that_proves_nothing_is_not_believed(cluster, certs, bad):
    """Neither by the command line nor by a worker: nothing is asked of it, no token is shown to it."""
    cluster.start_server(*flags(certs, bad), *flags(certs, bad, "link-"))
    url = cluster.status()["url"]
    assert url.startswith("https://")
    asked = cluster.cli("status", env={"REEVE_SERVER": url, "REEVE_CA_FILE": certs.where / "ca.pem", "REEVE_SERVER_TIMEOUT": "1s"},
                        check=False)
    assert asked.code == 1 and "certificate" in asked.err.lower(), asked
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(url + "/v1/status", verify=certs.where / "ca.pem", timeout=PATIENCE)
    worker = dialler(cluster, certs, "doubter")
    wait_until(lambda: "certificate" in worker.log().lower(), what="the worker says what is wrong")
    assert not cluster.has_worker("w1")


def test_a_name_that_is_not_in_the_certificate_is_told_on_both_sides(cluster, certs):
    cluster.start_server(*flags(certs, "elsewhere", "link-"))
    worker = dialler(cluster, certs, "misled")
    wait_until(lambda: "its certificate is for another name: use that one with --join" in worker.log(), what="the worker says it")
    wait_until(lambda: "and its --join a name that is in it" in cluster.server.log(), what="the server says it, too")


def test_a_client_that_proves_nothing_gets_nowhere(cluster, certs):
    cluster.start_server(*flags(certs, "server", ca="ca"), *flags(certs, "server", "link-", ca="ca"))
    url = cluster.status()["url"]
    for bad in ("expired", "foreign", "self", "for-servers", "by-a-leaf", None):
        with pytest.raises(requests.exceptions.RequestException):
            requests.get(url + "/v1/status", verify=certs.where / "ca.pem", cert=bad and certs.pair(bad), timeout=PATIENCE)
        worker = dialler(cluster, certs, f"as-{bad}", *(flags(certs, bad) if bad else []))
        wait_until(lambda: "dialling again" in worker.log(), what=f"{bad} is refused")
        assert not cluster.has_worker("w1"), bad
        worker.stop()
    good = requests.get(url + "/healthz", verify=certs.where / "ca.pem", cert=certs.pair("w1"), timeout=PATIENCE)
    assert good.status_code == 200
    cluster.start_worker("--tls-ca", certs.where / "ca.pem", *flags(certs, "w1"))


def negotiate_again(address, certs, log):
    """What `openssl s_client` says when it is told to begin anew on a connection."""
    with open(log, "wb") as out:
        child = subprocess.Popen(["openssl", "s_client", "-connect", address, "-CAfile", certs.where / "ca.pem", "-tls1_2"],
                                 stdin=subprocess.PIPE, stdout=out, stderr=out)
    try:
        wait_until(lambda: b"Verify return code" in log.read_bytes(), what="the handshake is over")
        child.stdin.write(b"R\n")
        child.stdin.flush()
        wait_until(lambda: child.poll() is not None or b"no renegotiation" in log.read_bytes(), what="it is refused")
    finally:
        child.kill()
        child.communicate()
    return log.read_text(errors="replace")


@pytest.mark.parametrize("port", ["http", "link"])
def test_nobody_negotiates_again(cluster, certs, tmp_path, port):
    """A client could make a server compute without end that way."""
    cluster.start_server(*flags(certs, "server"), *flags(certs, "server", "link-"))
    address = cluster.link if port == "link" else cluster.status()["url"].partition("://")[2]
    said = negotiate_again(address, certs, tmp_path / "said")
    assert "RENEGOTIATING" in said and "no renegotiation" in said, said
    assert said.count("Verify return code") <= 1, said
    cluster.start_worker("--tls-ca", certs.where / "ca.pem")
    assert requests.get(cluster.status()["url"] + "/healthz", verify=certs.where / "ca.pem", timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize("version", ["-tls1", "-tls1_1"])
@pytest.mark.parametrize("port", ["http", "link"])
def test_old_versions_are_refused(cluster, certs, port, version):
    cluster.start_server(*flags(certs, "server"), *flags(certs, "server", "link-"))
    address = cluster.link if port == "link" else cluster.status()["url"].partition("://")[2]
    done = subprocess.run(["openssl", "s_client", "-connect", address, version, "-cipher", "ALL:@SECLEVEL=0"],
                          input=b"", capture_output=True, timeout=PATIENCE)
    assert b"Cipher is (NONE)" in done.stdout and b"BEGIN CERTIFICATE" not in done.stdout, done
