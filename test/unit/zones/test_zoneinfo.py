# SPDX-License-Identifier: Apache-2.0
"""Every zone of the system from 1900 to 2100, held against Python's zoneinfo: test_zoneinfo.py zone_spans

Offset, abbreviation and daylight saving mark at each span's first and last second, around each transition that the
file lists (read here once more, with other code), and every few weeks in between. Then the same with files that list
as little as they can, so that most of the time is left to the rule in their last line.
"""
import bisect
import datetime
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zoneinfo

SYSTEM = "/usr/share/zoneinfo"
FROM, UNTIL = -2208988800, 4102444800  # 1900-01-01, 2100-01-01
STEP = 19 * 86400 + 12345
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MISMATCHES_SHOWN = 20
ZONES_MIN = 200


def read_64_bit_block(data):
    """The transitions of a TZif file with the daylight saving mark after each, and whether a rule follows."""
    def counts(at):
        return struct.unpack(">6l", data[at + 20:at + 44])
    ut, std, leaps, times, types, chars = counts(0)
    at = 44 + times * 5 + types * 6 + chars + leaps * 8 + std + ut
    ut, std, leaps, times, types, chars = counts(at)
    at += 44
    moments = struct.unpack(f">{times}q", data[at:at + 8 * times])
    at += 8 * times
    indexes = data[at:at + times]
    at += times
    marks = [data[at + 6 * i + 4] for i in range(types)]
    return list(moments), [marks[i] for i in indexes]


class Spans:
    def __init__(self, lines):
        rows = [line.split(" ") for line in lines]
        self.begins = [int(r[0]) for r in rows]
        self.ends = [int(r[1]) for r in rows]
        self.rest = [(int(r[2]), int(r[3]), r[4]) for r in rows]

    def at(self, t):
        return self.rest[bisect.bisect_right(self.begins, t) - 1]

    def gaps(self):
        """Each span must begin where the one before it ended."""
        return [i for i in range(1, len(self.begins)) if self.begins[i] != self.ends[i - 1]]


def moments_to_ask(spans, listed):
    asked = set(range(FROM, UNTIL, STEP))
    for t in [*spans.begins, *spans.ends, *listed]:
        asked.update((t - 1, t, t + 1))
    return sorted(t for t in asked if FROM <= t < UNTIL)


def is_contradiction(t, listed):
    """Old versions of zic list a last transition that the last line does not agree with. From that second on the line
    holds (RFC 8536, 3.2), but zoneinfo still takes the table for this one second."""
    return listed and t == listed[-1]


def compare(folder, name, lines):
    with open(f"{folder}/{name}", "rb") as f:
        listed, marks = read_64_bit_block(f.read())
    spans = Spans(lines)
    for i in spans.gaps():
        yield f"{name}: {spans.ends[i - 1]} is not followed by {spans.begins[i]}"
    zone = zoneinfo.ZoneInfo.no_cache(name)
    for t in moments_to_ask(spans, listed):
        offset, dst, abbreviation = spans.at(t)
        local = (EPOCH + datetime.timedelta(seconds=t)).astimezone(zone)
        at = bisect.bisect_right(listed, t)
        mark = None if at == 0 else marks[at - 1] if at < len(listed) else int(bool(local.dst()))
        theirs = (int(local.utcoffset().total_seconds()), dst if mark is None else mark, local.tzname())
        if theirs != (offset, dst, abbreviation) and not is_contradiction(t, listed):
            yield f"{name} at {t}: {(offset, dst, abbreviation)}, but zoneinfo says {theirs}"


def unique_zones(folder):
    """Many names are links: one of each is enough, and all are read by the program under test."""
    by_content = {}
    for name in sorted(zoneinfo.available_timezones()):
        with open(f"{folder}/{name}", "rb") as f:
            by_content.setdefault(f.read(), name)
    return sorted(by_content.values())


def spans_of(program, folder, names):
    done = subprocess.run([program, folder, str(FROM), str(UNTIL)], input="\n".join(names) + "\n",
                          capture_output=True, text=True, timeout=1800)
    if done.returncode:
        raise SystemExit(f"{program} exits with {done.returncode}: {done.stderr}")
    found = {}
    for line in done.stdout.splitlines():
        if line.startswith("= "):
            lines = found[line[2:]] = []
        else:
            lines.append(line)
    return found


def compare_folder(program, folder):
    zoneinfo.reset_tzpath([folder])
    every = sorted(zoneinfo.available_timezones())
    found = spans_of(program, folder, every)
    wrong = [f"{name}: {lines[:1]}" for name, lines in found.items() if not lines or lines[0].startswith("!")]
    names = unique_zones(folder)
    if not wrong:
        wrong = [mismatch for name in names for mismatch in compare(folder, name, found[name])]
    for line in wrong[:MISMATCHES_SHOWN]:
        print(line)
    print(f"{len(every)} zones read, {len(names)} different ones compared, {len(wrong)} mismatches")
    return not wrong and len(names) >= ZONES_MIN


def main(program):
    good = compare_folder(program, SYSTEM)
    zic = shutil.which("zic", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if not zic or not os.path.exists(f"{SYSTEM}/tzdata.zi"):
        print("zic or tzdata.zi is not there: only the system's own files were compared")
        return not good
    with tempfile.TemporaryDirectory() as slim:
        subprocess.run([zic, "-b", "slim", "-d", slim, f"{SYSTEM}/tzdata.zi"], check=True, timeout=600)
        good = compare_folder(program, slim) and good
    return not good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
