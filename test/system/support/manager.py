# SPDX-License-Identifier: Apache-2.0
"""A service manager as systemd is one: hears what services say of themselves, and hands them sockets."""
import os
import re
import socket
import struct
import sys
import time

from harness import BIN, PATIENCE

# What the manager does between fork and exec: the sockets come to stand at 3 and beyond, the words are told.
LAUNCH = """
import fcntl, os, sys
high = [fcntl.fcntl(int(n), fcntl.F_DUPFD_CLOEXEC, 200) for n in sys.argv[1].split(",") if n]
for at, fd in enumerate(high):
    os.dup2(fd, 3 + at)
os.environ.setdefault("LISTEN_PID", str(os.getpid()))
os.execv(sys.argv[2], sys.argv[2:])
"""


class Manager:
    """$NOTIFY_SOCKET, and whoever reads it. Messages are [(pid of the sender, {name: value})]."""

    def __init__(self, cluster, name="notify"):
        self.path = os.path.join(cluster.dir, name)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.sock.bind(self.path)
        self.heard = []

    def env(self, watchdog_ms=None):
        words = {"NOTIFY_SOCKET": self.path}
        return {**words, "WATCHDOG_USEC": watchdog_ms * 1000} if watchdog_ms else words

    def next(self, timeout=PATIENCE):
        """The next message, or None."""
        self.sock.settimeout(timeout)
        try:
            text, ancillary, _, _ = self.sock.recvmsg(8192, socket.CMSG_SPACE(12))
        except (TimeoutError, BlockingIOError):
            return None
        pid = struct.unpack("3i", ancillary[0][2])[0]
        self.heard.append((pid, dict(line.split("=", 1) for line in text.decode().splitlines())))
        return self.heard[-1]

    def wait_for(self, name, value=""):
        """Reads on until somebody says NAME=value…; returns that message."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self.next(end - time.monotonic())
            if message and name in message[1] and message[1][name].startswith(value):
                return message[1]
        raise AssertionError(f"nobody said {name}={value}, only {self.heard}")

    def fill(self):
        """Until nothing more fits: from here on it is a manager who does not read."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.setblocking(False)
            try:
                for _ in range(100_000):
                    s.sendto(b"X=1\n", self.path)
            except BlockingIOError:
                return
        raise AssertionError("the queue has no end")


def tcp(address=("127.0.0.1", 0)):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(address)
    s.listen(64)
    return s


def unix(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(64)
    return s


def launch(cluster, sockets, names=None, env=None, args=()):
    """`reeve server` with these sockets, not waited for; `env` may tell it something else of them."""
    words = {"LISTEN_FDS": len(sockets)}
    if names is not None:
        words["LISTEN_FDNAMES"] = ":".join(names)
    numbers = [s.fileno() for s in sockets]
    return cluster._process(
        "server", ["-c", LAUNCH, ",".join(map(str, numbers)), BIN, "server", "--state-dir", cluster.state_dir(),
                   "--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0", *args],
        {**words, **(env or {})}, binary=sys.executable, as_user={"pass_fds": numbers})


def url_of(message):
    return re.search(r"http://[^ ,]+", message["STATUS"])[0]
