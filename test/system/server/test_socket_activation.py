# SPDX-License-Identifier: Apache-2.0
"""Sockets that somebody else has opened: served in place of our own, outlive us, and are looked at first."""
import os
import socket

import pytest
import requests
from harness import keep_secret
from manager import Manager, launch, tcp, unix


def address_of(s):
    return "%s:%d" % s.getsockname()


@pytest.fixture
def place(cluster):
    os.mkdir(cluster.state_dir(), 0o700)
    return cluster


def served(cluster, *given, **options):
    cluster.server = launch(cluster, *given, **options)
    cluster.wait_ready()
    return cluster.server


def test_all_three(place):
    api, local, link = tcp(), unix(place.socket), tcp()
    served(place, [api, local, link], ["api", "api", "link"])
    status = place.status()  # through the unix socket
    assert status["listen"] == [address_of(api)] and status["link"] == address_of(link)
    assert requests.get(f"http://{address_of(api)}/v1/status", timeout=60).status_code == 401
    assert place.get("/v1/status")["ready"]
    place.start_worker()
    assert place.cli("run", "--", "echo", "hello").out == "hello\n"
    assert place.cli("run", "--", "sh", "-c", "echo [$LISTEN_FDS$LISTEN_PID$LISTEN_FDNAMES]").out == "[]\n"


def test_whoever_comes_while_nobody_serves_waits(place):
    api, local = tcp(), unix(place.socket)
    served(place, [api, local], ["api", "api"])
    assert place.server.stop() == 0
    assert os.path.exists(place.socket), "it is not ours to remove"
    with socket.create_connection(api.getsockname(), 60) as early:
        early.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        place.restart()
        assert early.recv(4096).startswith(b"HTTP/1.1 200 ")
    place.server.kill9()
    place.restart()


def test_what_is_not_passed_is_opened_as_configured(place):
    link = tcp()
    served(place, [link], ["link"])
    status = place.status()
    assert status["link"] == address_of(link)
    assert status["listen"] and os.path.exists(place.socket)
    assert place.get("/v1/status")["ready"]


def test_those_of_another_process_are_not_ours(place):
    s = tcp()
    served(place, [s], ["api"], env={"LISTEN_PID": "1"})
    assert place.status()["listen"] != [address_of(s)]


def test_others_on_the_socket_are_known_by_their_user(place):
    """The mode of a socket is its unit's; who is let in is still the server's to say."""
    if os.getuid() != 0:
        pytest.skip("needs another user")
    local = unix(place.socket)
    served(place, [local], ["api"])
    os.chmod(place.dir, 0o755)
    os.chmod(place.state_dir(), 0o755)
    os.chmod(place.socket, 0o777)
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(65534)
            s = socket.socket(socket.AF_UNIX)
            s.connect(place.socket)
            s.sendall(b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n")
            os._exit(0 if s.recv(4096).split()[1] in (b"401", b"403") else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def unheard():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    return s


def datagrams():
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    return s


def connected():
    server = tcp()
    client = socket.create_connection(server.getsockname(), 60)
    client.detach()  # stays open with this process
    return server.accept()[0]


REFUSED = {
    "no number": ([tcp], ["api"], {"LISTEN_FDS": "many"}, "is no number of sockets"),
    "a negative number": ([tcp], ["api"], {"LISTEN_FDS": "-1"}, "is no number of sockets"),
    "a huge number": ([tcp], ["api"], {"LISTEN_FDS": "4294967297"}, "is no number of sockets"),
    "more than there are": ([tcp], ["api", "api"], {"LISTEN_FDS": "2"}, "the descriptor 4 that was passed to us is"),
    "no socket": ([lambda: open(os.devnull)], ["api"], {}, "is no socket"),
    "not listening": ([unheard], ["api"], {}, "does not listen"),
    "datagrams": ([datagrams], ["api"], {}, "is no stream socket"),
    "one connection": ([connected], ["api"], {}, "does not listen"),
    "no names": ([tcp], None, {}, 'under the name ""'),
    "a name too few": ([tcp, tcp], ["api"], {}, 'under the name ""'),
    "another name": ([tcp], ["reeve.socket"], {}, 'under the name "reeve.socket"'),
    "two links": ([tcp, tcp], ["link", "link"], {}, "two sockets named link"),
    "every interface": ([lambda: tcp(("0.0.0.0", 0))], ["api"], {}, "but there is no token"),
    "workers of every interface": ([lambda: tcp(("0.0.0.0", 0))], ["link"], {}, "but there is no token"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(place, case):
    make, names, env, says = REFUSED[case]
    manager = Manager(place)
    sockets = [one() for one in make]
    server = launch(place, sockets, names, env={**env, **manager.env()})
    assert server.child.wait() == 1
    assert says in server.log().replace("\\\"", "\""), server.log()
    while manager.next(0):
        pass
    assert not any("READY" in said for _, said in manager.heard)


def test_workers_do_not_come_by_unix_sockets(place):
    server = launch(place, [unix(place.socket)], ["link"])
    assert server.child.wait() == 1
    assert "who come by TCP only" in server.log()


def test_open_to_others_with_a_token(place):
    keep_secret(place.dir + "/token", "t" * 40)
    api = tcp(("0.0.0.0", 0))
    server = served(place, [api], ["api"], args=["--token-file", place.dir + "/token"])
    url = f"http://127.0.0.1:{api.getsockname()[1]}/v1/status"
    assert requests.get(url, timeout=60).status_code == 401
    assert requests.get(url, timeout=60, headers={"Authorization": "Bearer " + "t" * 40}).json()["ready"]
    assert "is without TLS" in server.log()
