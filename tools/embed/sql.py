#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns numbered migrations (0001_up.sql, 0001_down.sql, ...) into one C array.

usage: sql.py OUTPUT.c INPUT.sql...
The pairs must be complete and numbered from 1 without a gap.
"""
import os
import re
import sys


def quoted(text):
    lines = []
    for line in text.splitlines(keepends=True):
        line = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        lines.append('\t    "' + line.replace("\n", "\\n") + '"')
    return "\n".join(lines) or '\t    ""'


def main(output, inputs):
    found = {}
    for path in inputs:
        match = re.fullmatch(r"(\d{4})_(up|down)\.sql", os.path.basename(path))
        if not match:
            sys.exit(f"{path}: a migration is named NNNN_up.sql or NNNN_down.sql")
        with open(path, encoding="utf-8") as file:
            found[int(match[1]), match[2]] = file.read()
    count = len(found) // 2
    steps = []
    for number in range(1, count + 1):
        for way in ("up", "down"):
            if (number, way) not in found:
                sys.exit(f"there is no migration {number:04d}_{way}.sql")
        steps.append(
            "\t{\n\t    /* %d */\n%s,\n%s,\n\t},\n"
            % (number, quoted(found[number, "up"]), quoted(found[number, "down"]))
        )
    with open(output, "w", encoding="utf-8") as file:
        file.write('#include "store/migrations.h"\n\n')
        file.write("const struct migration migrations[] = {\n%s};\n" % "".join(steps))
        file.write("const int n_migrations = %d;\n" % count)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
