#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C file that puts a program's bytes between two symbols.

usage: program.py PROGRAM SYMBOL OUTPUT.c [--strip]

The file names the program's hash, so that it changes, and is compiled again, when the program does.
"""
import hashlib
import os
import shutil
import subprocess
import sys


def main():
    program, symbol, output = sys.argv[1:4]
    copy = os.path.abspath(output) + ".bin"
    shutil.copyfile(program, copy)
    if "--strip" in sys.argv[4:]:
        subprocess.run(["strip", copy], check=True)
    with open(copy, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()
    with open(output, "w", encoding="utf-8") as f:
        f.write(f"""/* made by tools/embed/program.py: {digest} */
__asm__(
    ".section .rodata\\n"
    ".balign 16\\n"
    ".global {symbol}\\n"
    ".global {symbol}_end\\n"
    "{symbol}:\\n"
    ".incbin \\"{copy}\\"\\n"
    "{symbol}_end:\\n"
    ".byte 0\\n"
    ".previous\\n");
""")


main()
