# SPDX-License-Identifier: Apache-2.0
"""The proxy itself: a test of faults is worth nothing if the faults do not happen."""
import socket
import struct
import threading
import time

import pytest
from harness import PATIENCE, wait_until
from proxy import DOWN, UP, Frames, Proxy


def frame(body):
    return struct.pack(">I", len(body)) + body


class Echo:
    """A server that says everything back, and remembers what it heard on each connection."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.heard, self.ended, self.sockets = [], [], []
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def address(self):
        return "127.0.0.1:%d" % self.listener.getsockname()[1]

    def accept(self):
        while True:
            try:
                s = self.listener.accept()[0]
            except OSError:
                return
            self.heard.append(b"")
            self.sockets.append(s)
            threading.Thread(target=self.serve, args=(s, len(self.heard) - 1), daemon=True).start()

    def serve(self, s, i):
        try:
            while data := s.recv(65536):
                self.heard[i] += data
                s.sendall(data)
        except OSError:
            pass
        self.ended.append(i)

    def end(self):
        for s in self.sockets:
            s.close()
        self.listener.close()


@pytest.fixture
def echo():
    it = Echo()
    yield it
    it.end()


@pytest.fixture
def proxy(echo):
    it = Proxy(echo.address, seed=1)
    yield it
    it.end()


def dial(proxy):
    host, port = proxy.address.split(":")
    return socket.create_connection((host, int(port)), 10)


def read(s, n):
    data = b""
    while len(data) < n:
        part = s.recv(n - len(data))
        assert part, data
        data += part
    return data


def is_over(s):
    try:
        return s.recv(1) == b""
    except ConnectionResetError:
        return True


def test_frames_are_found_however_they_arrive():
    stream = frame(b"abc") + frame(b"") + frame(b"x" * 300)
    assert Frames().feed(stream) == [7, 11, len(stream)]
    slow, ends = Frames(), []
    for i in range(len(stream)):
        ends += [i + e for e in slow.feed(stream[i:i + 1])]
    assert ends == [7, 11, len(stream)]


def test_bytes_pass_unchanged(proxy):
    with dial(proxy) as s:
        data = bytes(range(256)) * 2000
        threading.Thread(target=s.sendall, args=(data,), daemon=True).start()
        assert read(s, len(data)) == data


def test_delay_holds_back_and_keeps_the_order(proxy):
    proxy.delay(up=(0.1, 0.1), down=(0.1, 0.1))
    with dial(proxy) as s:
        begun = time.monotonic()
        s.sendall(b"one")
        assert read(s, 3) == b"one"
        assert time.monotonic() - begun >= 0.2


@pytest.mark.parametrize("up,down", [(True, False), (False, True), (True, True)])
def test_black_hole_delivers_late(proxy, echo, up, down):
    with dial(proxy) as s:
        s.sendall(b"a")
        assert read(s, 1) == b"a"
        proxy.black_hole(up=up, down=down)
        s.sendall(b"b")
        s.settimeout(0.2)
        with pytest.raises(TimeoutError):
            s.recv(1)
        assert echo.heard[0] == (b"a" if up else b"ab")
        s.settimeout(PATIENCE)
        proxy.heal()
        assert read(s, 1) == b"b"


@pytest.mark.parametrize("how", ["rst", "fin"])
def test_cut_reaches_both_sides(proxy, echo, how):
    with dial(proxy) as s:
        s.sendall(b"a")
        read(s, 1)
        assert proxy.cut(how) == 1
        assert is_over(s)
        wait_until(lambda: echo.ended == [0], what="the server saw the end")


@pytest.mark.parametrize("n", [0, 1, 4, 9, 10, 11, 20])
def test_a_cut_is_in_the_middle_of_a_frame(proxy, echo, n):
    with dial(proxy) as s:
        whole = frame(b"hello!") * 3
        s.sendall(frame(b"hello!"))
        read(s, 10)
        proxy.cut_after(n, UP, "fin")
        s.sendall(whole)
        wait_until(lambda: echo.ended == [0], what="the server saw the end")
        cut_at = len(echo.heard[0]) - 10
        assert cut_at % 10 != 0 and n <= cut_at <= n + 1


def test_a_half_open_connection_lives_on_at_the_server(proxy, echo):
    with dial(proxy) as old:
        old.sendall(b"a")
        read(old, 1)
        assert proxy.half_open() == 1
        assert is_over(old)
        with dial(proxy) as new:
            new.sendall(b"b")
            assert read(new, 1) == b"b"
            assert echo.ended == [] and len(echo.heard) == 2
            assert proxy.live() == 1
            proxy.heal()
            wait_until(lambda: echo.ended == [0], what="the old one ended")
            new.sendall(b"c")
            assert read(new, 1) == b"c"


def test_what_was_under_way_comes_after_the_new_connection(proxy, echo):
    with dial(proxy) as old:
        old.sendall(b"a")
        read(old, 1)
        proxy.black_hole(up=True, down=False)
        old.sendall(b"late")
        wait_until(lambda: proxy.taken(UP) == 5, what="the proxy holds them")
        proxy.half_open()
        assert is_over(old)
        with dial(proxy) as new:
            proxy.black_hole(up=False, down=False)
            new.sendall(b"b")
            assert read(new, 1) == b"b"
            wait_until(lambda: echo.heard[0] == b"alate", what="the old one's bytes came late")


def test_refuse_and_heal(proxy):
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        dial(proxy)
    proxy.heal()
    with dial(proxy) as s:
        s.sendall(b"a")
        assert read(s, 1) == b"a"


def test_a_cut_on_the_way_down(proxy):
    with dial(proxy) as s:
        s.sendall(frame(b"hello!"))
        read(s, 10)
        proxy.cut_after(3, DOWN, "fin")
        s.sendall(frame(b"hello!"))
        assert read(s, 3) == frame(b"hello!")[:3]
        assert is_over(s)


def test_without_a_server_the_dialler_is_reset(echo):
    lone = Proxy("127.0.0.1:1")
    try:
        try:
            with dial(lone) as s:
                assert is_over(s)
        except ConnectionResetError:
            pass  # so soon that the dialling itself saw it
    finally:
        lone.end()
