# SPDX-License-Identifier: Apache-2.0
"""A bad network on the loopback: a TCP proxy between workers and a server's link, told by a test what to spoil.

`up` is from worker to server, `down` back. Nothing is lost inside a connection that lives: as in TCP, bytes come late, or
the connection breaks. What waits here is bounded: a chunk per direction, then the kernel's own buffers."""
import asyncio
import random
import socket
import struct
import threading

CHUNK = 16384
UP, DOWN = "up", "down"
REPLY_SECONDS = 180  # the proxy's own thread answers at once, unless something is badly wrong


class Frames:
    """Where frames begin in a stream: four bytes of length, then as many bytes."""

    def __init__(self):
        self.head, self.left = b"", 0

    def feed(self, data):
        """The offsets in `data` just after which a frame ends."""
        ends, at = [], 0
        while at < len(data):
            if self.left:
                step = min(self.left, len(data) - at)
                self.left, at = self.left - step, at + step
            else:
                self.head, at = self.head + data[at:at + 1], at + 1
                if len(self.head) < 4:
                    continue
                self.left, self.head = struct.unpack(">I", self.head)[0], b""
            if not self.left:
                ends.append(at)
        return ends


def reset(writer):
    """Ends a connection by RST: what is unsent is gone."""
    raw = writer.get_extra_info("socket")
    try:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    writer.transport.abort()


class Connection:
    """One worker's connection and its continuation to the server."""

    def __init__(self, proxy, worker, server):
        self.proxy = proxy
        self.worker, self.server = worker, server  # each (reader, writer)
        self.fuse = {UP: None, DOWN: None}  # (bytes still let through, how): then it is cut in mid-frame
        self.taken = {UP: 0, DOWN: 0}  # bytes read, whether or not they were forwarded
        self.over, self.orphan, self.ended = False, False, asyncio.Event()

    async def run(self):
        pumps = [asyncio.ensure_future(self.pump(UP, self.worker[0], self.server[1])),
                 asyncio.ensure_future(self.pump(DOWN, self.server[0], self.worker[1])),
                 asyncio.ensure_future(self.ended.wait())]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            self.cut("fin")

    async def pump(self, way, reader, writer):
        frames = Frames()
        while not self.over:
            try:
                data = await reader.read(CHUNK)
            except OSError:
                data = b""
            if not data and self.orphan and way == UP:  # the worker's side is gone; the server must not know
                await self.ended.wait()
            if not data:
                return
            self.taken[way] += len(data)
            await self.proxy.hold(way)
            if self.orphan and way == DOWN:
                continue
            part = self.burn(way, data, frames.feed(data))
            writer.write(part)
            try:
                await writer.drain()
            except OSError:
                return
            if len(part) < len(data):
                self.cut(self.fuse[way][1])
                return

    def burn(self, way, data, ends):
        """What of `data` still passes. A cut is always inside a frame, never between two."""
        if self.fuse[way] is None:
            return data
        left, how = self.fuse[way]
        while left in ends or left == 0:
            left += 1
        if left < len(data):
            return data[:left]
        self.fuse[way] = (max(1, left - len(data)), how)
        return data

    def cut(self, how):
        if self.over:
            return
        self.over = True
        self.ended.set()
        self.proxy.connections.discard(self)
        for _, writer in (self.worker, self.server):
            if how == "rst":
                reset(writer)
            else:
                writer.close()

    def leave_half_open(self):
        """The worker sees an end and dials anew; the server still believes in this one."""
        self.orphan = True
        reset(self.worker[1])


class Proxy:
    """Listens on a port of its own; everything a test calls returns once it is in force."""

    def __init__(self, target, seed=0):
        host, port = target.split("://")[-1].rsplit(":", 1)
        self.target, self.rng = (host, int(port)), random.Random(seed)
        self.connections, self.accepted, self.serving = set(), 0, None
        self.delays = {UP: (0, 0), DOWN: (0, 0)}
        self.loop = asyncio.new_event_loop()
        # It keeps the port ours while we refuse, that is, while nobody listens there.
        self.keeper = self.bind(0)
        self.port = self.keeper.getsockname()[1]
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.do(self.begin())

    @staticmethod
    def bind(port):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", port))
        return s

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def do(self, what):
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(REPLY_SECONDS)

    # -- inside the loop

    async def begin(self):
        self.open = {UP: asyncio.Event(), DOWN: asyncio.Event()}
        for gate in self.open.values():
            gate.set()
        await self.listen()

    async def listen(self):
        if self.serving is None:
            s = self.bind(self.port)
            s.listen(64)
            self.serving = await asyncio.start_server(self.accept, sock=s, limit=CHUNK)

    async def accept(self, reader, writer):
        try:
            server = await asyncio.open_connection(*self.target, limit=CHUNK)
        except OSError:
            reset(writer)
            return
        for raw in (writer.get_extra_info("socket"), server[1].get_extra_info("socket")):
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(self, (reader, writer), server)
        self.connections.add(connection)
        self.accepted += 1
        await connection.run()

    async def hold(self, way):
        shortest, longest = self.delays[way]
        if longest:
            await asyncio.sleep(self.rng.uniform(shortest, longest))
        await self.open[way].wait()

    # -- what a test can ask for

    def delay(self, up=(0, 0), down=(0, 0)):
        """Each chunk waits for a random time within these seconds; their order stays."""
        async def act():
            self.delays = {UP: up, DOWN: down}
        self.do(act())

    def black_hole(self, up=True, down=True):
        """Takes bytes, and forwards none in these directions until heal(); then they come late."""
        async def act():
            for way, shut in ((UP, up), (DOWN, down)):
                self.open[way].clear() if shut else self.open[way].set()
        self.do(act())

    def cut(self, how="rst"):
        """Ends all present connections; returns how many."""
        async def act():
            there = list(self.connections)
            for connection in there:
                connection.cut(how)
            return len(there)
        return self.do(act())

    def cut_after(self, n, way=UP, how="rst"):
        """Each present connection ends inside a frame, about n more bytes later in that direction."""
        async def act():
            for connection in self.connections:
                connection.fuse[way] = (n, how)
            return len(self.connections)
        return self.do(act())

    def half_open(self):
        """Workers lose their connections, the server keeps them: it has the old and the new one at once."""
        async def act():
            there = [c for c in self.connections if not c.orphan]
            for connection in there:
                connection.leave_half_open()
            return len(there)
        return self.do(act())

    def refuse(self):
        """Nobody listens any more; present connections stay."""
        async def act():
            if self.serving is not None:
                self.serving.close()
                self.serving = None
        self.do(act())

    def heal(self):
        """From now on a good network: half-open connections end, the rest flows."""
        async def act():
            self.delays = {UP: (0, 0), DOWN: (0, 0)}
            for gate in self.open.values():
                gate.set()
            for connection in list(self.connections):
                connection.fuse = {UP: None, DOWN: None}
                if connection.orphan:
                    connection.cut("fin")
            await self.listen()
        self.do(act())

    def live(self):
        async def act():
            return len([c for c in self.connections if not c.orphan])
        return self.do(act())

    def taken(self, way):
        async def act():
            return sum(c.taken[way] for c in self.connections)
        return self.do(act())

    def end(self):
        async def act():
            if self.serving is not None:
                self.serving.close()
            for connection in list(self.connections):
                connection.cut("rst")
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        if self.thread.is_alive():
            self.do(act())
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(REPLY_SECONDS)
            self.loop.close()
        self.keeper.close()
