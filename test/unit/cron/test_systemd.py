#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Calendar expressions mean what systemd says they mean: fixed and random ones, five times each."""
import datetime
import random
import re
import shutil
import subprocess
import sys

BASE = "2024-02-20 00:00:00"
TIMES = 5
SKIPPED = 77
FIXED = """minutely|hourly|daily|monthly|weekly|yearly|annually|quarterly|semiannually|12:30|*:*:*
Mon *-02-29 00:00|*-*~3|*-*~1..3|*-*~07/1|*-*~7/2|*-02~01|Mon *-05~07/1|*-*~1..7/3|*-*~2,5,9..11
2025..2031/3-01-01|2024/2-01-01|*-1,3..5/1-*|9:0..20/7|00:00:00/15|Mon,Wed..Fri *-*-1..7 8:00
Sat,Sun 1-1|fri..sun|10-15|*-*-31|*-12-31 23:59:59|0/5:59:0,59|Mon-Fri 9:00|69-1-1|*-4-30 1:2:3
12..12/1:18|*-*-10..10/4|*-*~3..3/2|2026..2026/2-1-1|1..1:2..2:3..3|*-*-31..31/4"""


def link(r, low, high):
    """A value, a range a..b (b may be a), a repetition a/n, or both: a..b/n."""
    start = r.randint(low, high)
    kind = r.randrange(5)
    end = start if r.random() < 0.2 else r.randint(start, high)
    if kind == 0:
        return f"{start}..{end}"
    if kind == 1 and start < high:
        return f"{start}/{r.randint(1, high - start)}"
    if kind == 2 and start < high:
        return f"{start}..{end}/{r.randint(1, high - start)}"
    return str(start)


def chain(r, low, high, star):
    if r.random() < star:
        return "*"
    return ",".join(link(r, low, high) for _ in range(r.choice([1, 1, 1, 2, 3])))


def weekdays(r):
    names = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    if r.random() < 0.3:
        a = r.randrange(6)
        return f"{names[a]}..{names[r.randint(a + 1, 6)]}"
    return ",".join(r.sample(names, r.randint(1, 3)))


def from_end(r):
    days = []
    for _ in range(r.choice([1, 1, 2])):
        start = r.randint(1, 27)
        end = start if r.random() < 0.2 else r.randint(start, 28)
        kind = r.randrange(4)
        days.append(f"{start}..{end}" if kind == 0 else
                    f"{start}/{r.randint(1, start - 1)}" if kind == 1 and start > 1 else
                    f"{start}..{end}/{r.randint(1, 9)}" if kind == 2 else str(start))
    return ",".join(days)


def expression(r):
    date = (chain(r, 2024, 2060, 0.8) + "-" + chain(r, 1, 12, 0.6) +
            ("~" + from_end(r) if r.random() < 0.25 else "-" + chain(r, 1, 31, 0.4)))
    time = chain(r, 0, 23, 0.3) + ":" + chain(r, 0, 59, 0.3)
    if r.random() < 0.4:
        time += ":" + chain(r, 0, 59, 0.2)
    parts = [weekdays(r)] if r.random() < 0.3 else []
    parts += r.choice([[date], [time], [date, time]])
    return " ".join(parts)


def ours(program, expressions, since):
    out = subprocess.run([program, str(since), str(TIMES)], input="\n".join(expressions) + "\n",
                         text=True, capture_output=True, timeout=600, check=True).stdout
    return out.splitlines()


def seconds(text):
    when = datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S")
    return int(when.replace(tzinfo=datetime.timezone.utc).timestamp())


def theirs(expressions):
    """One list of times for each expression; None when it is refused."""
    answers = []
    for e in expressions:
        run = subprocess.run(
            ["systemd-analyze", "calendar", f"--iterations={TIMES}", f"--base-time={BASE} UTC",
             "--", e + " UTC"], text=True, capture_output=True, timeout=600,
            env={"TZ": "UTC", "LC_ALL": "C", "PATH": "/usr/bin:/bin"})
        found = re.findall(r"(?:Next elapse|Iter\. #\d+|Iteration #\d+): \w{3} (\S+ \S+) UTC",
                           run.stdout)
        answers.append([seconds(f) for f in found] if run.returncode == 0 else None)
    return answers


def main(program, cases, seed):
    if not shutil.which("systemd-analyze"):
        print("SKIPPED: there is no systemd-analyze (package systemd): NOTHING WAS COMPARED")
        return SKIPPED
    r = random.Random(seed)
    expressions = FIXED.replace("\n", "|").split("|") + [expression(r) for _ in range(cases)]
    wrong = refused = 0
    # systemd looks for times after its base, we for times at or after ours.
    mine = ours(program, expressions, seconds(BASE) + 1)
    for e, mine, want in zip(expressions, mine, theirs(expressions)):
        if want == [] and mine.startswith("not-found"):
            continue  # "never" there is an error here
        if want is None:
            refused += 1  # it checks its own sorted form of a list, and finds fault with some
            continue
        got = None if mine[:1].isalpha() else [int(t) for t in mine.split()]
        # Its years end in 2199: what lies beyond is ours alone.
        got = got and [t for t in got if t < seconds("2200-01-01 00:00:00")]
        if got != want:
            wrong += 1
            print(f"{e!r}: {got} ({mine}), systemd says {want}")
    print(f"{len(expressions) - refused} expressions compared with systemd, {wrong} wrong")
    return wrong != 0 or refused > cases / 10


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *(int(n) for n in (sys.argv[2:] + ["150", "1"][len(sys.argv) - 2:]))))
