#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""numbers.py STOP [PAUSE [LINES]]: writes numbered lines to both streams until the file STOP is there, or so many.

The first line of stdout is its own pid; then "out 1", "out 2" …, and "err 1" … to stderr. The last is "out end N"."""
import os
import sys
import time

stop, pause, lines = sys.argv[1], float((sys.argv + ["0.002"])[2]), int((sys.argv + ["0", "0"])[3])
os.write(1, b"%d\n" % os.getpid())
n = 0
while not os.path.exists(stop) and (not lines or n < lines):
    n += 1
    os.write(1, b"out %d\n" % n)
    os.write(2, b"err %d\n" % n)
    if pause:
        time.sleep(pause)
os.write(1, b"out end %d\n" % n)
