# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal of its own: what stands on the screen, keys, size, and how it was left."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

import harness

TOKEN = re.compile(rb"\x1b\[([?0-9;]*)([A-Za-z])|\x1b(.)|([\r\n\t])|([^\x1b\r\n\t]+)", re.S)


class Screen:
    """As much of a terminal as the program uses: moving, erasing, the other screen."""

    def __init__(self, columns, rows):
        self.columns, self.rows, self.other, self.cursor_shown = columns, rows, False, True
        self.clear()

    def clear(self):
        self.lines, self.row, self.column = [" " * self.columns for _ in range(self.rows)], 0, 0

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines = [line[:columns].ljust(columns) for line in (self.lines + [""] * rows)[:rows]]
        self.row, self.column = min(self.row, rows - 1), min(self.column, columns)

    def erase_from(self, row, column):
        self.lines[row] = self.lines[row][:column].ljust(self.columns)

    def feed(self, data):
        for args, code, _, move, text in TOKEN.findall(data):
            if text:
                self.put(text.decode(errors="replace"))
            elif move:
                self.column = 0 if move in b"\r\n" else self.column
                self.row = min(self.row + (move == b"\n"), self.rows - 1)
            elif code == b"H":
                self.row, self.column = 0, 0
            elif code == b"K":
                self.erase_from(self.row, self.column)
            elif code == b"J":
                for row in range(self.row, self.rows):
                    self.erase_from(row, self.column if row == self.row else 0)
            elif args in (b"?1049", b"?25") and code in b"hl":
                if args == b"?25":
                    self.cursor_shown = code == b"h"
                else:
                    self.other = code == b"h"
                    self.clear()

    def put(self, text):
        line = self.lines[self.row]
        text = text[:max(0, self.columns - self.column)]  # the terminal does not wrap
        self.lines[self.row] = line[:self.column] + text + line[self.column + len(text):]
        self.column += len(text)

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines)


class OnTerminal:
    def __init__(self, cluster, *args, columns=80, rows=24, env=None):
        self.main, self.end = pty.openpty()
        self.before = termios.tcgetattr(self.end)
        self.screen, self.lock = Screen(columns, rows), threading.Lock()
        self.resize(columns, rows)
        self.child = subprocess.Popen([harness.BIN, *args], stdin=self.end, stdout=self.end, stderr=self.end, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                      env=harness.clean_environment(**{"REEVE_SERVER": f"unix:{cluster.socket}", "TERM": "xterm",
                                                                       "LANG": "C.UTF-8", "NO_COLOR": "1", **(env or {})}))
        self.raw = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while data := os.read(self.main, 65536):
                with self.lock:
                    self.raw = (self.raw + data)[-1000000:]
                    whole, tail = (self.rest if hasattr(self, "rest") else b"") + data, b""
                    cut = whole.rfind(b"\x1b")  # a sequence may come in two pieces
                    if cut >= 0 and not re.match(rb"\x1b(\[[?0-9;]*[A-Za-z]|[^\[])", whole[cut:]):
                        whole, tail = whole[:cut], whole[cut:]
                    self.rest = tail
                    self.screen.feed(whole)
        except OSError:
            pass

    def resize(self, columns, rows):
        with self.lock:
            self.screen.resize(columns, rows)
            fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.main, keys.encode())

    def text(self):
        with self.lock:
            return self.screen.text()

    def shows(self, *words, without=()):
        def there():
            text = self.text()
            return all(w in text for w in words) and not any(w in text for w in without)

        try:
            harness.wait_until(there, what=f"{words} on the screen, without {without}")
        except AssertionError as e:
            raise AssertionError(f"{e}; there is:\n{self.text()}") from e
        return self.text()

    def ended(self):
        """Its exit code; the terminal is as it was."""
        code = self.child.wait(harness.PATIENCE)
        harness.wait_until(lambda: not self.screen.other and self.screen.cursor_shown, what="its own screen is left")
        assert termios.tcgetattr(self.end) == self.before, "the terminal is as it was"
        return code

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.end)
        os.close(self.main)
