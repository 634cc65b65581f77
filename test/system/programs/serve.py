#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small HTTP server on $PORT, as an instance of a service: says its pid and $WORD, and takes its time for that.

Told to end, it serves $LINGER seconds longer, since a proxy learns only then that it goes; what has come by then is
answered, and the program ends."""
import http.server
import os
import signal
import threading
import time

LINGER, TAKES = float(os.environ.get("LINGER", "2")), float(os.environ.get("TAKES", "0.02"))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(TAKES)
        body = f"{os.getpid()} {os.environ.get('WORD', 'one')}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = False  # server_close() waits for those that answer
    request_queue_size = 128


server = Server(("127.0.0.1", int(os.environ["PORT"])), Handler)
signal.signal(signal.SIGTERM, lambda *_: threading.Timer(LINGER, server.shutdown).start())
server.serve_forever(poll_interval=0.05)
server.server_close()
