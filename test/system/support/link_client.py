# SPDX-License-Identifier: Apache-2.0
"""Speaks the worker link by hand, as a worker does or as somebody who only claims to be one."""
import socket
import struct
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from harness import PATIENCE

PROTOCOL = 3
TO_WORKER = {1: "welcome", 2: "refused", 3: "run", 4: "kill", 5: "ended_ack", 6: "output_ack", 7: "beat_ack",
             8: "settings", 9: "notify", 10: "check", 11: "challenge"}


def varint(n):
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out


def number(field, n):
    return varint(field << 3) + varint(n & (1 << 64) - 1)


def fixed(field, n):
    return varint(field << 3 | 1) + struct.pack("<Q", n)


def text(field, s):
    s = s.encode() if isinstance(s, str) else s
    return varint(field << 3 | 2) + varint(len(s)) + s


def take_varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        shift += 7
        at += 1
        if b[at - 1] < 128:
            return n, at


def fields(b):
    """A message as {number: [values]}; what is inside of others stays bytes."""
    found, at = {}, 0
    while at < len(b):
        tag, at = take_varint(b, at)
        if tag & 7 == 0:
            value, at = take_varint(b, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<Q", b, at)[0], at + 8
        else:
            n, at = take_varint(b, at)
            value, at = b[at:at + n], at + n
        found.setdefault(tag >> 3, []).append(value)
    return found


def new_key():
    return Ed25519PrivateKey.generate()


def public(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


class Closed(Exception):
    """The server has closed the link."""


class Link:
    """One connection. What the server said is in `heard`: name of the part -> messages, oldest first."""

    def __init__(self, cluster, context=None, timeout=PATIENCE):
        self.token = cluster.own_token("join-token")
        if not hasattr(cluster, "link_address"):
            cluster.link_address = cluster.link  # asking takes a process, and the port stays
        host, port = cluster.link_address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout)
        if context:
            self.socket = context.wrap_socket(self.socket, server_hostname=host)
        self.buffer, self.heard, self.nonce = b"", {}, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *parts):
        frame = b"".join(parts)
        self.socket.sendall(struct.pack(">I", len(frame)) + frame)

    def read(self):
        """One frame of the server's."""
        while len(self.buffer) < 4 or len(self.buffer) < 4 + struct.unpack(">I", self.buffer[:4])[0]:
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError as e:
                raise Closed from e
            if not more:
                raise Closed
            self.buffer += more
        n = struct.unpack(">I", self.buffer[:4])[0]
        frame, self.buffer = self.buffer[4:4 + n], self.buffer[4 + n:]
        for field, values in fields(frame).items():
            if field in TO_WORKER:
                self.heard.setdefault(TO_WORKER[field], []).extend(fields(v) for v in values)

    def wait(self, *parts):
        """Until one of these was said; returns which, and the last of it. Closed, if that comes first."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for part in parts:
                if part in self.heard:
                    return part, self.heard[part][-1]
            self.read()
        raise AssertionError(f"the server said {list(self.heard)}, and none of {parts}")

    def refused(self):
        """The reason that the server gives before it closes the link."""
        part, message = self.wait("refused", "welcome")
        assert part == "refused", "it was welcomed"
        return message[1][0].decode()

    # -- what a worker says

    def knock(self, shard, instance, key, token="", nonce=None, signer=None, signature=None, protocol=PROTOCOL):
        """By default an honest one. signer: another key than the one that is shown; nonce: another connection's."""
        token = self.token if token == "" else token
        self.nonce = self.wait("challenge")[1][1][0]
        name = shard.encode() if isinstance(shard, str) else shard
        what = f"reeve link {PROTOCOL}\n{instance:016x}\n".encode() + (nonce or self.nonce) + name
        proof = signature or (signer or key).sign(what)
        self.signature = proof
        self.send(text(8, number(1, protocol) + (text(2, token) if token else b"") + text(3, name) + fixed(4, instance) +
                       text(5, public(key)) + text(6, proof)))

    def hello(self, shard, instance, lock="machine:/dir", start=1, dial=1, started_ms=1, maxthreads=4, tasks=(),
              queues=(), receipts=False):
        """tasks: each task and token, and by choice its receipt."""
        held = b"".join(text(16, fixed(1, task) + number(2, token) + b"".join(text(5, r) for r in receipt if r))
                        for task, token, *receipt in tasks)
        lists = b"".join(text(13, q) for q in queues)
        self.send(text(1, number(1, PROTOCOL) + text(3, shard) + fixed(4, instance) + number(5, started_ms) +
                       text(6, lock) + text(12, "command") + lists + number(15, maxthreads) + held + number(18, dial) +
                       number(19, start) + (number(20, 1) if receipts else b"")))

    def join(self, shard, key, instance=1, token="", **facts):
        """An honest worker that is new here; returns when it is welcome and healthy."""
        self.knock(shard, instance, key, token=token)
        self.hello(shard, instance, **facts)
        self.wait("welcome")
        self.answer_check()
        return self

    def answer_check(self):
        self.send(text(6, number(1, self.wait("check")[1][1][0]) + number(2, 1)), text(5, number(1, 1) + number(3, 2)))

    def beat(self, count, own, news):
        """Repeats the set of these news, if there is one."""
        self.send(text(5, number(1, count) + number(3, own) + b"".join(text(4, s) for s in fields(news).get(2, []))))

    @staticmethod
    def state_of(news):
        return fields(news)[1][0]

    def checked(self, count):
        self.send(text(6, number(1, count) + number(2, 1)))

    def started(self, task, token, ms=None):
        self.send(text(2, fixed(1, task) + number(2, token) + number(3, ms or int(time.time() * 1000))))

    def ended(self, task, token, status=1, ms=None, extra=b""):
        ms = ms or int(time.time() * 1000)
        self.send(text(3, fixed(1, task) + number(2, token) + number(3, status) + number(4, 0) + number(7, ms) +
                       number(8, ms) + extra))

    def output(self, task, token, data, offset=0, codec=0, raw=None):
        self.send(text(4, fixed(1, task) + number(2, token) + number(3, 0) + number(4, offset) +
                       number(5, raw or len(data)) + number(6, codec) + text(7, data)))

    def notified(self, seq, absent):
        self.send(text(7, number(1, seq) + b"".join(text(3, fixed(1, t) + number(2, k)) for t, k in absent)))
