# SPDX-License-Identifier: Apache-2.0
"""Another client, in a process of its own: asks over the unix socket until its input ends, then says how long that took.

  python3 probe.py SOCKET    prints {"healthz": [p50, p99, max], "list": …, "submit": …, "rounds": N}, in milliseconds
"""
import json
import select
import socket
import sys
import time

TASK = b'{"command":["true"],"status":-10}'
ASKS = {
    "healthz": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "list": b"GET /v1/tasks?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "submit": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              b"Content-Length: %d\r\n\r\n%s" % (len(TASK), TASK),
}


def ask(sock, request):
    """Milliseconds until the whole answer is there."""
    begun = time.monotonic()
    sock.sendall(request)
    text = b""
    while b"\r\n\r\n" not in text:
        text += sock.recv(65536) or sys.exit("the server hung up")
    head, _, body = text.partition(b"\r\n\r\n")
    if head.split()[1] not in (b"200", b"201"):
        sys.exit(head.decode())
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += sock.recv(65536) or sys.exit("the server hung up")
    return (time.monotonic() - begun) * 1000


def figures(times):
    times = sorted(times)
    return [round(times[int((len(times) - 1) * part)], 2) for part in (0.5, 0.99, 1)]


def main():
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(sys.argv[1])
    times = {name: [] for name in ASKS}
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        for name, request in ASKS.items():
            times[name].append(ask(sock, request))
    print(json.dumps({**{name: figures(t) for name, t in times.items()}, "rounds": len(times["list"])}))


if __name__ == "__main__":
    main()
