# SPDX-License-Identifier: Apache-2.0
"""`reeve schedule` against a real server: what it says, what it refuses, and crontabs taken over."""
import json
import os
import pty
import subprocess
import time

import harness
import pytest
import yaml
from harness import wait_until

BERLIN = ("--tz", "Europe/Berlin")
NIGHTLY = ("--crontab", "30 2 * * *", *BERLIN, "--max-shift", "12h")
FAR = ("--calendar", "*-01-01 00:00 UTC", "--max-shift", "1d")  # rarely enough that no test sees it fire
EVERY_SECOND = ("--item", '{"epoch": {"period": 1}}', "--max-shift", "10m")
CRONTAB = """\
# a comment
MAILTO=root
LANG=C
30 2 * * * /opt/tools/backup.sh --all
*/5 * * * * cat %one%two
@reboot forget
0 9 13 * fri /opt/tools/backup.sh --all
CRON_TZ=Asia/Tokyo
@daily true
"""


@pytest.fixture
def cli(server, tmp_path):
    """Runs a command as a person with a home of their own. No worker: tasks stay queued."""
    def run(*args, code=0, **options):
        env = {"HOME": str(tmp_path), "XDG_STATE_HOME": ""}
        result = server.cli(*args, env=env, check=False, **options)
        assert result.code == code, result
        return result

    return run


@pytest.fixture
def schedule(cli):
    def run(*args, **options):
        return cli("schedule", *args, **options)

    return run


def test_add_says_what_was_understood(schedule):
    said = schedule("add", "nightly", *NIGHTLY, "--", "./backup.sh", "/home").out
    assert said.startswith("schedule nightly added\n")
    assert "at 02:30, every day" in said and "Europe/Berlin" in said
    assert "does not exist runs one second before the gap" in said
    year = time.gmtime().tm_year + 1
    assert f"Mar {year}: 02:30 does not exist, runs 01:59:59" in said
    assert f"Oct {year}: 02:30 happens twice, runs once, the early one" in said
    runs = said[said.index("NEXT RUNS"):].split("\n\n")[0].splitlines()[1:]
    assert len(runs) == 5 and all(" 02:30:00 +0" in run for run in runs)
    shown = schedule("show", "nightly", "-o", "json").json
    assert shown["source"] == "crontab 30 2 * * *" and shown["max_shift_ms"] == 12 * 3600 * 1000
    assert shown["task"] == {"queue": "default", "command": ["./backup.sh", "/home"]}


def test_all_settings_arrive(schedule, cli):
    cli("queue", "create", "q")
    made = schedule("add", "all", *FAR, "--overlap", "queue", "--missed", "all", "--jitter", "90s", "--start", "1800000000",
                    "--end", "2099-01-01T00:00:00+01:00", "--queue", "q", "--priority", 3, "-e", "A=b", "-C", "/tmp",
                    "-l", "team=x", "--timeout", "5m", "--max-attempts", 2, "--backoff", "10s", "--nice", 5,
                    "-o", "json", "--", "true").json
    assert (made["overlap"], made["missed"], made["jitter_ms"]) == ("queue", "all", 90000)
    assert (made["start"], made["end"]) == ("2027-01-15T08:00:00.000Z", "2098-12-31T23:00:00.000Z")
    task = made["task"]
    assert task.pop("run") == {"nice": 5}
    assert task == {"queue": "q", "command": ["true"], "env": {"A": "b"}, "cwd": "/tmp", "labels": {"team": "x"},
                    "priority": 3, "timeout": "300s", "max_attempts": 2, "backoff": "10s"}
    words = schedule("show", "all").out
    for part in ("on the 1st of the month, in January", "team=x", "queue", "2027-01-15T08:00:00", "{\"nice\": 5}"):
        assert part in words, words


def test_items_files_and_what_they_say_themselves(schedule, tmp_path):
    item = {"minute": 0, "hour": 3, "dst_fixes": ["skip", "repeat_use_both"],
            "max_shift_seconds_for_unskip_and_do_not_repeat": 600}
    (tmp_path / "item").write_text(json.dumps(item))
    made = schedule("add", "a", "--item", f"@{tmp_path}/item", *BERLIN, "-o", "json", "--", "true").json
    assert made["max_shift_ms"] == 600000
    made = schedule("add", "b", "--item", "-", "--tz", "UTC", "-o", "json", "--", "true", input=json.dumps([item])).json
    assert made["items"] == schedule("show", "a", "-o", "json").json["items"]
    (tmp_path / "action").write_text('{"run": {"path": "/bin/true"}}')
    made = schedule("add", "c", *FAR, "--action", f"@{tmp_path}/action", "-o", "json").json
    assert made["task"]["action"] == {"run": {"path": "/bin/true"}} and made["time_zone"] == "UTC"


def test_either_or_is_said(schedule):
    said = schedule("add", "friday", "--crontab", "0 9 13 * fri", "--tz", "UTC", "--max-shift", "1h", "--dry-run", "--", "x")
    assert "runs when either matches" in said.out and "the 13th of the month; or at 09:00, every Friday" in said.out
    assert said.err == "nothing was added\n" and schedule("ls", "-o", "jsonl").out == ""


def test_a_dry_run_is_judged_as_the_real_thing(schedule):
    words = ("add", "s", *NIGHTLY, "--overlap", "queue", "--start", "2027-06-01T00:00:00Z", "--end", "2027-06-03T00:00:00Z")
    said = schedule(*words, "--dry-run", "--", "echo", "hi")
    assert "2027-06-01T00:30:00Z" in said.out and "2027-06-02T00:30:00Z" in said.out and said.out.count(":30:00Z") == 2
    assert "queue" in said.out and "echo hi" in said.out and "state" not in said.out
    for more, word, code in (("--queue", "nope"), "nope", 1), (("--end", "2020-01-01T00:00:00Z"), "past", 2), (("--overlap", "x"), "overlap", 2):
        assert word in schedule("add", "s", *NIGHTLY, *more, "--dry-run", "--", "true", code=code).err
    assert schedule("ls", "-o", "jsonl").out == ""
    schedule("add", "s", *NIGHTLY, "--", "true")
    assert "already" in schedule("add", "s", *NIGHTLY, "--dry-run", "--", "true", code=1).err


@pytest.mark.parametrize("args, code, words", [
    (("x", "--crontab", "30 2 * * *", *BERLIN, "--", "true"), 2, ["--max-shift", "skipped", "--max-shift 12h"]),
    (("x", "--crontab", "*/5 * * * *", *BERLIN, "--", "true"), 2, ["--max-shift 150s"]),
    (("x", "--crontab", "30 2 * * *", "--max-shift", "1h", "--", "true"), 2, ["need a zone", "--tz Europe/Berlin"]),
    (("x", *EVERY_SECOND), 2, ["nothing to run", "-- echo hello"]),
    ((*EVERY_SECOND, "--", "true"), 2, ["needs a name", "before the command"]),
    (("x", "--max-shift", "1h", "--", "true"), 2, ["no schedule given", "--crontab"]),
    (("x", *NIGHTLY, "--calendar", "daily", "--", "true"), 2, ["only one of"]),
    (("x", "--crontab", "61 2 * * *", *BERLIN, "--max-shift", "1h", "--", "true"), 2, ["column 1", "61"]),
    (("x", "--crontab", "0 0 30 2 *", *BERLIN, "--max-shift", "1h", "--", "true"), 1, ["no date will ever match"]),
    (("x", *NIGHTLY, "--tz", "Europe/Berln", "--", "true"), 2, ["Europe/Berln", "did you mean \"Europe/Berlin\""]),
    (("x", *NIGHTLY, "--overlap", "skp", "--", "true"), 2, ["did you mean \"skip\""]),
    (("x", *NIGHTLY, "--missed", "never", "--", "true"), 2, ["skip, once or all"]),
    (("x", *NIGHTLY, "--dst", "sometimes", "--", "true"), 2, ["vixie", "unskip,repeat_use_only_early"]),
    (("x", *NIGHTLY, "--jitter", "soon", "--", "true"), 2, ["jitter"]),
    (("x", *NIGHTLY, "--start", "someday", "--", "true"), 2, ["start"]),
    (("x", *NIGHTLY, "--end", "1d", "--start", "2d", "--", "true"), 2, ["ends before it starts"]),
    (("x", *NIGHTLY, "--queue", "nope", "--", "true"), 1, ["nope"]),
    (("x", *NIGHTLY, "--key", "k", "--", "true"), 2, ["--key"]),
    (("x", *NIGHTLY, "--action", "[1]"), 2, ["--action is not a JSON object"]),
    (("x", *NIGHTLY, "--system", "--", "true"), 2, ["--from-crontab"]),
    (("x", "--from-crontab", "/dev/null", "--max-shift", "1h"), 2, ["\"x\" is too much"]),
    (("--from-crontab", "/dev/null"), 2, ["--max-shift"]),
    (("--from-crontab", "/nonexistent", "--max-shift", "1h"), 2, ["/nonexistent"]),
    (("a/b", *NIGHTLY, "--", "true"), 2, ["a/b", "usable name"]),
])
def test_what_can_not_be_added(schedule, args, code, words):
    said = schedule("add", *args, code=code)
    assert said.out == ""
    for word in words:
        assert word in said.err, said
    assert schedule("ls", "-o", "jsonl").out == ""


def test_names_are_taken_once(schedule):
    schedule("add", "s", *NIGHTLY, "--", "true")
    assert "s" in schedule("add", "s", *NIGHTLY, "--", "false", code=1).err
    assert schedule("show", "s", "-o", "json").json["task"]["command"] == ["true"]


def test_ls_in_all_formats(dev):
    dev.cli("schedule", "add", "quick", *EVERY_SECOND, "--", "true")
    dev.cli("schedule", "add", "far", *FAR, "--queue", "default", "--", "true")
    wait_until(lambda: "succeeded" in dev.cli("schedule", "ls").out, what="a run has ended")
    table = dev.cli("schedule", "ls").out.splitlines()
    assert table[0].split() == ["SCHEDULE", "STATE", "NEXT", "RUN", "ZONE", "LAST", "OUTCOME", "WHEN"]
    assert table[1].startswith("far") and "UTC" in table[1] and "-01-01 00:00:00 +00:00" in table[1]
    assert "every second" in table[2] and "active" in table[2]
    assert "OVERLAP" in dev.cli("schedule", "ls", "-o", "wide").out
    assert [s["name"] for s in dev.cli("schedule", "ls", "-o", "jsonl").jsonl] == ["far", "quick"]
    assert [s["name"] for s in yaml.safe_load(dev.cli("schedule", "ls", "-o", "yaml").out)["items"]] == ["far", "quick"]
    assert [s["name"] for s in dev.cli("schedule", "ls", "--name", "qu", "-o", "jsonl").jsonl] == ["quick"]
    assert dev.cli("schedule", "ls", "--state", "paused,finished", "-o", "jsonl").out == ""
    assert dev.cli("schedule", "ls", "--queue", "nope", check=False).code == 1
    assert "finished" in dev.cli("schedule", "ls", "--state", "sleeping", check=False).err


def test_show_and_history_tell_each_tick(schedule, cli, server):
    schedule("add", "s", *EVERY_SECOND, "--", "true")
    wait_until(lambda: len(server.get("/v1/schedules/s/history")["items"]) >= 3, what="three ticks")
    told = schedule("history", "s").out.splitlines()
    assert told[0].split() == ["TICK", "OUTCOME", "LATE", "TASK", "STATE", "REASON"]
    fired = [line for line in told if " fired " in line]
    assert len(fired) == 1 and "queued" in fired[0], "no worker: the first one is still there"
    assert any(" skipped " in line and "has not ended" in line for line in told)
    assert len(schedule("history", "s", "-n", 2, "-o", "jsonl").jsonl) == 2
    shown = schedule("show", "s").out
    for part in ("every second", "NEXT RUNS", "LIVE TASK", "TICK", "has not ended", "1 live now"):
        assert part in shown, shown
    task = [t for t in schedule("history", "s", "-o", "jsonl").jsonl if t["task"]][-1]
    assert cli("task", "ls", "--schedule", "s", "-o", "jsonl").jsonl[0]["id"] == task["task"]
    assert f"of the schedule s, its tick of {task['tick']}" in cli("why", task["task"]).out
    assert f"s, its tick of {task['tick']}" in cli("task", "show", task["task"]).out
    schedule("pause", "s", "--reason", "enough")
    assert cli("cancel", "--schedule", "s", "--yes").out == "1 of 1 cancelled\n"
    assert cli("task", "ls", "--schedule", "s", "--state", "queued", "-o", "jsonl").out == ""


def test_set_changes_only_what_is_given(schedule):
    schedule("add", "s", *NIGHTLY, "-e", "A=1", "-e", "B=2", "--timeout", "5m", "--", "old")
    before = schedule("show", "s", "-o", "json").json
    said = schedule("set", "s", "--crontab", "0 4 * * *").out
    assert said.startswith("schedule s changed\n") and "at 04:00" in said and " 04:00:00 +0" in said
    assert schedule("set", "s", "--env", "A=", "--timeout", "none", "--overlap", "allow", "--", "new", "-x").out == \
        "schedule s changed\n"
    after = schedule("show", "s", "-o", "json").json
    assert after["task"] == {"queue": "default", "command": ["new", "-x"], "env": {"B": "2"}}
    assert (after["time_zone"], after["overlap"], after["missed"]) == ("Europe/Berlin", "allow", before["missed"])
    assert "UTC" in schedule("set", "s", "--tz", "UTC").out
    assert "skip" in schedule("set", "s", "--dst", "skip,repeat_use_both").out
    schedule("set", "s", "--end", "2099-01-01T00:00:00Z")
    assert schedule("set", "s", "--end", "none", "-o", "json").json["end"] is None
    schedule("set", "s", "--name", "t", "--max-shift", "2h")
    assert schedule("show", "t", "-o", "json").json["max_shift_ms"] == 7200000
    schedule("show", "s", code=1)


def test_what_can_not_be_set(schedule):
    schedule("add", "s", *NIGHTLY, "--", "true")
    assert "nothing to change" in schedule("set", "s", code=2).err
    assert "there is no schedule" in schedule("set", "nope", "--jitter", "1s", code=1).err
    assert "there is no schedule" in schedule("set", "nope", "--timeout", "1s", code=1).err
    schedule("set", "s", "--crontab", "x", code=2)
    schedule("set", "s", "--max-shift", "none", code=2)
    schedule("set", "s", "--queue", "nope", code=1)
    assert schedule("show", "s", "-o", "json").json["version"] == 1


def test_pause_and_resume(schedule):
    schedule("add", "s", *NIGHTLY, "--", "true")
    assert schedule("pause", "s").out == "schedule s paused\n", "as with a queue, it may do without a reason"
    schedule("resume", "s")
    assert schedule("pause", "s", "--reason", "the disk", "--until", "2d").out == "schedule s paused\n"
    shown = schedule("show", "s").out
    assert "paused" in shown and "the disk; resumes in" in shown and "It is paused" in shown
    assert "the disk" in schedule("ls", "--state", "paused", "-o", "wide").out
    assert schedule("resume", "s").out == "schedule s resumed\n"
    assert schedule("ls", "--state", "paused").err == "there are no such schedules; `reeve schedule add` makes one\n"


def test_run_now_is_the_last_task(schedule, cli):
    schedule("add", "s", *FAR, "--", "true")
    task = schedule("run", "s").out.strip()
    assert cli("task", "show", "@last", "-o", "json").json["id"] == task
    assert "of the schedule s, run by hand" in cli("why", "@last").out
    assert "manual" in schedule("history", "s").out
    schedule("run", "nope", code=1)


def test_backfill_lists_then_submits_then_has_nothing_to_do(schedule):
    schedule("add", "s", "--crontab", "0 * * * *", "--tz", "UTC", "--max-shift", "30m", "--", "true")
    stretch = ("s", "--from", "2026-01-01T00:00:00Z", "--to", "1767229200")  # one o'clock of that day
    assert schedule("backfill", *stretch, "--dry-run").out.splitlines()[1:] == [
        "Thu 2026-01-01 00:00:00 +00:00 UTC  2026-01-01T00:00:00Z  run"]
    assert schedule("history", "s", "-o", "jsonl").out == ""
    assert schedule("backfill", *stretch).out == "1 task submitted\n"
    wider = ("s", "--from", "2026-01-01T00:00:00Z", "--to", "2026-01-06T00:00:00Z")
    listed = schedule("backfill", *wider, "--dry-run")
    assert listed.err == "119 of 120 ticks would get a task; none was submitted\n"
    assert listed.out.splitlines()[1].endswith("not run: it has a task")
    assert len(schedule("backfill", *wider, "-o", "json").json["tasks"]) == 119
    assert "nothing to fill in" in schedule("backfill", *wider).out
    assert [t["has_task"] for t in schedule("backfill", *wider, "--dry-run", "-o", "jsonl").jsonl] == [True] * 120


def test_what_can_not_be_backfilled(schedule):
    schedule("add", "s", *EVERY_SECOND, "--overlap", "allow", "--start", "1d", "--", "true")
    assert "--from" in schedule("backfill", "s", code=2).err
    assert "does not lie before" in schedule("backfill", "s", "--from", "1h", "--to", "2h", code=2).err
    assert "from" in schedule("backfill", "s", "--from", "once", code=2).err
    assert "one schedule at a time" in schedule("backfill", "s", "t", "--from", "1h", code=2).err
    schedule("backfill", "nope", "--from", "1h", code=1)
    schedule("set", "s", "--start", "none")
    assert "more than 10000" in schedule("backfill", "s", "--from", "1d", "--dry-run", code=2).err
    assert "more than 10000" in schedule("backfill", "s", "--from", "1d", code=2).err


def test_rm(schedule):
    schedule("add", "s", *NIGHTLY, "--", "true")
    schedule("add", "t", *NIGHTLY, "--", "true")
    assert schedule("rm", "s", "t").out == "schedule s deleted\nschedule t deleted\n"
    assert "there is no schedule \"s\"" in schedule("rm", "s", code=1).err


def on_a_terminal(server, answer, *args):
    """Runs a command on a terminal, answers its question, returns what the terminal showed and the exit code."""
    master, slave = pty.openpty()
    env = harness.clean_environment(REEVE_SERVER=f"unix:{server.socket}")
    child = subprocess.Popen([harness.BIN, *args], stdin=slave, stdout=slave, stderr=slave, env=env)
    os.close(slave)
    shown = b""
    try:
        while b"[y/N]" not in shown:
            shown += os.read(master, 4096)
        os.write(master, answer)
        return shown.decode(), child.wait(harness.PATIENCE)
    finally:
        child.kill()
        child.wait()
        os.close(master)


def test_rm_asks_on_a_terminal(schedule, server):
    schedule("add", "s", *NIGHTLY, "--", "true")
    shown, code = on_a_terminal(server, b"n\n", "schedule", "rm", "s")
    assert "delete the schedule s and its history" in shown and code == 1
    schedule("show", "s")
    assert on_a_terminal(server, b"y\n", "schedule", "rm", "s")[1] == 0
    schedule("show", "s", code=1)


def test_a_crontab_is_taken_over_once(schedule, tmp_path):
    (tmp_path / "crontab").write_text(CRONTAB)
    words = ("add", "--from-crontab", tmp_path / "crontab", *BERLIN, "--max-shift", "30m", "-o", "jsonl")
    tried = schedule(*words, "--dry-run", code=2)
    assert "line 6: column 1: @reboot" in tried.err and schedule("ls", "-o", "jsonl").out == ""
    assert {job["result"] for job in tried.jsonl} == {"would be added"}
    added = schedule(*words, code=2).jsonl
    assert [(job["line"], job["result"]) for job in added] == [(4, "added"), (5, "added"), (7, "added"), (9, "added")]
    backup, cat, again, daily = (schedule("show", job["name"], "-o", "json").json for job in added)
    assert backup["name"].startswith("cron-backup.sh-") and again["name"] == backup["name"] + "-2"
    assert backup["task"]["command"] == ["/bin/sh", "-c", "/opt/tools/backup.sh --all"]
    assert backup["task"]["env"] == {"LANG": "C"} and backup["source"] == "crontab 30 2 * * *"
    assert cat["task"]["run"] == {"input": "one\ntwo\n"} and cat["task"]["command"][2] == "cat "
    assert (backup["time_zone"], daily["time_zone"]) == ("Europe/Berlin", "Asia/Tokyo")
    repeated = schedule(*words, code=2).jsonl
    assert {job["result"] for job in repeated} == {"there already"}
    assert [s["version"] for s in schedule("ls", "-o", "jsonl").jsonl] == [1] * 4
    assert [j["name"] for j in repeated] == [j["name"] for j in added]


def test_a_crontab_leaves_alone_what_somebody_changed(schedule):
    words = ("add", "--from-crontab", "-", "--tz", "UTC", "--max-shift", "30m", "--prefix", "mine-", "-o", "jsonl")
    first, = schedule(*words, input="0 1 * * * true\n").jsonl
    assert first["name"].startswith("mine-true-")
    schedule("set", first["name"], "--overlap", "allow")
    assert schedule(*words, input="0 1 * * * true\n").jsonl[0]["result"] == "there already"
    assert schedule(*words, input="0 2 * * * true\n").jsonl[0]["result"] == "kept: it is there with other times"
    assert schedule(*words[:3], "--tz", "Asia/Tokyo", *words[5:], input="0 1 * * * true\n").jsonl[0]["result"] == \
        "kept: it is there with another zone"
    assert schedule(*words, input="A=b\n0 1 * * * true\n").jsonl[0]["result"].startswith("kept: it is there with another command")
    shown = schedule("show", first["name"], "-o", "json").json
    assert shown["source"] == "crontab 0 1 * * *" and shown["version"] == 2


def test_a_system_crontab_names_users(schedule):
    made, = schedule("add", "--from-crontab", "-", "--system", "--tz", "UTC", "--max-shift", "30m", "-o", "jsonl",
                     input="0 1 * * * daemon true\n").jsonl
    assert schedule("show", made["name"], "-o", "json").json["task"]["run"] == {"user": "daemon"}
    said = schedule("add", "--from-crontab", "-", "--max-shift", "30m", input="0 1 * * * true\n", code=2)
    assert "line 1: a wall clock's times need a zone" in said.err


def test_words_from_others_never_drive_the_terminal(schedule, server):
    evil = "\x1b]0;owned\x07\u202e"
    schedule("add", "s", *FAR, "-e", f"E={evil}", "--", "echo", evil)
    schedule("pause", "s", "--reason", evil)
    for args in (("ls", "-o", "wide"), ("show", "s"), ("history", "s")):
        said = schedule(*args)
        assert not set("\x1b\x07\u202e") & set(said.out + said.err), said


def test_completions_know_schedules(schedule, cli):
    schedule("add", "nightly", *NIGHTLY, "--", "true")
    assert cli("__complete", "line", "schedule", "show", "ni").out == "nightly\n"
    assert cli("__complete", "line", "task", "ls", "--schedule", "").out == "nightly\n"
    assert "backfill" in cli("__complete", "line", "schedule", "b").out
    assert cli("__complete", "line", "schedule", "add", "--overlap", "re").out == "replace\n"
