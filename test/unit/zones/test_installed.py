#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""libreeve-cron as others get it: installed, found by pkg-config, compiled against, run.

  test_installed.py BUILD AGENDA.c CHIMES.c TICKER.c
"""
import json
import os
import re
import subprocess
import sys
import tempfile

BUILD, AGENDA, *CHIMES = sys.argv[1:]
# Names of ours inside the library: a program that has its own must not notice.
CLASH = """
int buf_add(void); int str_of(void); int xmalloc(void); int cron_items_next(void);
int buf_add(void) { return 1; } int str_of(void) { return 2; } int xmalloc(void) { return 3; } int cron_items_next(void) { return 4; }
"""


def output(*args, **options):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def build_options():
    with open(os.path.join(BUILD, "meson-info", "intro-buildoptions.json")) as f:
        return {o["name"]: o["value"] for o in json.load(f)}


def install(root):
    output("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--tags", "devel", "--destdir", root)


def flags(root, options):
    prefix = root + options["prefix"]
    path = os.path.join(prefix, options["libdir"], "pkgconfig")
    return output("pkg-config", f"--define-variable=prefix={prefix}", "--cflags", "--libs", "reeve-cron",
                  env={**os.environ, "PKG_CONFIG_PATH": path}).split()


def compile_example(root, options, name, *sources):
    binary, clash = os.path.join(root, name), os.path.join(root, "clash.c")
    with open(clash, "w") as f:
        f.write(CLASH)
    sanitize = options["b_sanitize"]
    if isinstance(sanitize, list):
        sanitize = ",".join(sanitize)
    extra = [] if sanitize in ("", "none") else [f"-fsanitize={sanitize}"]
    # Away from the source tree, so that only the installed header can be found.
    output("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *extra, *map(os.path.abspath, sources), clash, "-o", binary,
           "-pthread", *flags(root, options), cwd=root)
    return binary


def check_visible(root, options):
    archive = os.path.join(root + options["prefix"], options["libdir"], "libreeve-cron.a")
    names = {line.split()[0] for line in output("nm", "-gP", "--defined-only", archive).splitlines() if len(line.split()) > 2}
    with open(os.path.join(root + options["prefix"], options["includedir"], "reeve-cron.h")) as f:
        declared = set(re.findall(r"\b(reeve_cron_[a-z_]+)\(", f.read()))
    strangers = {n for n in names if not n.startswith(("reeve_cron_", "__odr_asan", "_sub_"))}
    assert not strangers, f"visible, but not the library's: {strangers}"
    assert declared <= names, f"declared, but not there: {declared - names}"


def check_agenda(binary):
    # The night of 29 March 2026, on which 02:30 does not exist in Berlin; a second before the jump instead.
    out = output(binary, "30 2 * * *", "Europe/Berlin", "1774700000")
    assert out.splitlines() == [
        "at 02:30, every day",
        "next 1774745999 (local time is UTC+60 minutes)",
        "next 1774830600 (local time is UTC+120 minutes)",
        "next 1774917000 (local time is UTC+120 minutes)",
        "due 1774745999: skipped by 126801 s",
        "due 1774830600: late by 42200 s",
    ], out
    bad = subprocess.run([binary, "61 2 * * *", "Europe/Berlin", "0"], stderr=subprocess.PIPE, text=True)
    assert bad.returncode == 1 and "61" in bad.stderr, bad
    lost = subprocess.run([binary, "1 2 * * *", "Europe/Berln", "0"], stderr=subprocess.PIPE, text=True)
    assert lost.returncode == 1 and "Europe/Berlin" in lost.stderr, lost


def check_chimes(binary):
    # The same night, by a clock that is made up; a queue of 16 is filled and drained on the way.
    out = output(binary, "30 2 * * *", "Europe/Berlin", "40", "1774700000").splitlines()
    assert out[:3] == ["1774745999 on time", "1774830600 on time", "1774917000 on time"] and len(out) == 40, out
    # By the real one: each second once, in order, however late this machine is.
    times = [line.split()[0] for line in output(binary, '{"epoch": {"period": 1}}', "UTC", "3").splitlines()]
    assert [int(t) - int(times[0]) for t in times] == [0, 1, 2], times
    assert output(binary, '{"epoch": {"start": 1, "end": 5}}', "UTC", "3", "1000") == "", "nothing is ever due: it ends"
    bad = subprocess.run([binary, "61 2 * * *", "Europe/Berlin", "1"], stderr=subprocess.PIPE, text=True)
    assert bad.returncode == 1 and "61" in bad.stderr, bad


def main():
    options = build_options()
    with tempfile.TemporaryDirectory() as root:
        install(root)
        check_visible(root, options)
        check_agenda(compile_example(root, options, "agenda", AGENDA))
        check_chimes(compile_example(root, options, "chimes", *CHIMES))


main()
