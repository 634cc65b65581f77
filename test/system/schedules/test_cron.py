# SPDX-License-Identifier: Apache-2.0
"""`reeve cron`: questions about schedules that need no server; output, exit codes, complaints."""
import json

import pytest

BERLIN = ("--tz", "Europe/Berlin")
HALF_PAST_TWO = ("--crontab", "30 2 * * *")
FIVE_MINUTES = '{"epoch": {"period": 300}}'
SPRING = 1806195600  # 2027-03-28T01:00:00Z, when Berlin's clocks jump
AUTUMN = 1824944400  # 2027-10-31T01:00:00Z, when they go back
NOON = 1800014400  # 2027-01-15T12:00:00Z


@pytest.fixture
def cron(reeve):
    def run(*args, code=0, **options):
        result = reeve("cron", *args, check=False, **options)
        assert result.code == code, result.out + result.err
        return result

    return run


def test_next_as_bare_seconds(cron):
    assert cron("next", "--item", FIVE_MINUTES, "--from", "301", "-n", "3", "-o", "epoch").out == "600\n900\n1200\n"
    assert cron("next", "--item", FIVE_MINUTES, "--from", "600", "-o", "epoch").out == "600\n"
    done = cron("next", "--item", '{"epoch": [5]}', "--from", "6", "-o", "epoch")
    assert done.out == "" and done.err == ""


def test_next_for_people_and_programs(cron):
    words = ("next", *HALF_PAST_TWO, *BERLIN, "--from", "2027-03-27T12:00:00+01:00", "-n", "2")
    table = cron(*words).out
    assert "Sun 2027-03-28 01:59:59 +01:00 CET   2027-03-28T00:59:59Z  1806195599" in table
    assert "Mon 2027-03-29 02:30:00 +02:00 CEST" in table
    shown = json.loads(cron(*words, "-o", "json").out)
    assert shown["zone"] == "Europe/Berlin"
    assert shown["items"][0] == {"epoch": SPRING - 1, "utc": "2027-03-28T00:59:59.000Z",
                                 "local": "2027-03-28T01:59:59+01:00", "abbreviation": "CET"}
    assert [item["epoch"] for item in cron(*words, "-o", "jsonl").jsonl] == [SPRING - 1, 1806280200]
    assert cron("next", "--item", '{"epoch": [5]}', "--from", "6").err == "no further match\n"


def test_policies_for_texts_that_can_not_say_it(cron):
    def at(policy):
        return cron("next", *HALF_PAST_TWO, *BERLIN, "--from", str(SPRING - 60), "-o", "epoch", "--dst", policy).out

    assert at("vixie") == at("unskip,repeat_use_only_late") == f"{SPRING - 1}\n"
    assert at("skip,repeat_use_both") == "1806280200\n"
    cron("next", *HALF_PAST_TWO, *BERLIN, "--dst", "sometimes", code=2)
    assert "dst_fixes" in cron("next", "--item", FIVE_MINUTES, "--dst", "vixie", code=2).err


def test_a_text_may_name_its_zone(cron):
    for text in (("--crontab", "CRON_TZ=Asia/Tokyo 0 9 * * *"), ("--calendar", "*-*-* 09:00:00 Asia/Tokyo")):
        assert cron("next", *text, "--from", str(NOON), "-o", "epoch").out == f"{NOON + 12 * 3600}\n"
        assert cron("next", *text, *BERLIN, "--from", str(NOON), "-o", "epoch").out == f"{NOON + 12 * 3600}\n"
    assert "need a zone" in cron("next", *HALF_PAST_TWO, code=2).err
    cron("next", "--item", FIVE_MINUTES)


def test_items_from_files_and_standard_input(cron, tmp_path):
    file = tmp_path / "item.json"
    file.write_text(FIVE_MINUTES + "\n")
    assert cron("next", "--item", f"@{file}", "--from", "1", "-o", "epoch").out == "300\n"
    assert cron("next", "--item", "-", "--from", "1", "-o", "epoch", input=FIVE_MINUTES).out == "300\n"
    assert cron("next", "--crontab", "@daily", "--tz", "UTC", "--from", "1", "-o", "epoch").out == "86400\n"
    assert "cannot read" in cron("next", "--item", f"@{tmp_path}/none", code=2).err
    assert "longer than" in cron("next", "--item", "-", input=" " * 20000, code=2).err


@pytest.mark.parametrize("words, code, what", [
    (["--item", '{"epoch": [5],}'], 2, "column 15"),
    (["--item", '{"minut": 5}'], 2, "minut"),
    (["--item", '{"minute": 5}'], 2, "dst_fixes"),
    (["--crontab", "61 2 * * *"], 2, "column 1"),
    (["--crontab", ""], 2, "hint"),
    (["--calendar", "Mon *-*-* 25:00"], 2, "25"),
    (["--crontab", "0 0 30 2 *"], 1, "no date will ever match"),
    (["--calendar", "2023-02-30"], 1, "no date"),
    (["--crontab", "@daily", "--calendar", "daily"], 2, "only one of"),
    (["--calendar", "@1800000000"], 2, "a count of seconds is no calendar expression"),
    (["--crontab", "@every 5m"], 2, '{"epoch": {"period": 300}}'),
    ([], 2, "no schedule given"),
    (["--crontab", "@daily", "--tz", "Europe/Berln"], 2, 'did you mean "Europe/Berlin"?'),
    (["--crontab", "@daily", "--from", "yesterday"], 2, "not a time"),
    (["--crontab", "@daily", "-n", "0"], 2, "count"),
    (["--crontab", "@daily", "-o", "epok"], 2, "did you mean epoch?"),
    (["--crontab", "@daily", "more"], 2, "takes no argument"),
])
def test_what_is_wrong_is_said(cron, words, code, what):
    zone = [] if "--tz" in words else ["--tz", "UTC"]
    result = cron("next", *words, *zone, code=code)
    assert what in result.err and result.out == ""


def test_bare_seconds_are_for_times_only(reeve):
    assert reeve("cron", "check", *HALF_PAST_TWO, *BERLIN, "-o", "epoch", check=False).code == 2


def test_check_explains(cron):
    text = cron("check", "--crontab", "0 9 13 * Fri", *BERLIN, "--from", "2026-11-01T00:00:00Z").out
    assert text.startswith("Either of the two")
    assert "- at 09:00, on the 13th of the month\n" in text and "- at 09:00, every Friday\n" in text
    assert text.count("2026-11-") >= 4 and "daylight saving does not touch it" in text
    shown = json.loads(cron("check", "--crontab", "0 9 13 * Fri", *BERLIN, "-o", "json").out)
    assert shown["either_or"] is True and len(shown["next"]) == 5 and len(shown["item"]) == 2
    half = ("check", "--crontab", "0 0 30 2 mon", *BERLIN)
    assert "days of the month never come" in cron(*half).out and "Either of the two" not in cron(*half).out
    shown_half = json.loads(cron(*half, "-o", "json").out)
    assert shown_half["either_or"] is True and "only the weekdays count" in shown_half["note"]
    again = json.loads(cron("check", "--item", json.dumps(shown["item"]), *BERLIN, "-o", "json").out)
    assert again["words"] == shown["words"]
    touched = json.loads(cron("check", *HALF_PAST_TWO, *BERLIN, "-o", "json").out)
    assert touched["words"] == ["at 02:30, every day"] and len(touched["changes"]) == 4
    assert json.loads(cron("check", "--item", FIVE_MINUTES, "-o", "json").out)["zone"] is None
    assert "does not run any more" in cron("check", "--item", '{"epoch": 5}').out


def test_explain_a_year(cron):
    assert cron("explain", *HALF_PAST_TWO, *BERLIN, "--year", "2027").out == (
        "28 Mar 2027: 02:30 does not exist, runs 01:59:59\n"
        "31 Oct 2027: 02:30 happens twice, runs once, the early one\n")
    assert cron("explain", "--crontab", "0 12 * * *", "--tz", "Pacific/Apia", "--year", "2011").out == (
        "30 Dec 2011: 12:00 does not exist, runs 29 Dec 2011 23:59:59\n")
    notes = cron("explain", "--crontab", "*/5 * * * *", *BERLIN, "--year", "2027", "-o", "jsonl").jsonl
    assert [(note["trick"], note["labels"]) for note in notes] == [("gap", 12), ("overlap", 12)]
    cron("explain", *HALF_PAST_TWO, *BERLIN, "--year", "10000", code=2)


def test_play_tells_each_event(cron, tmp_path):
    file = tmp_path / "readings"
    file.write_text(f"""# a laptop: a minute, an hour asleep, from Shanghai to Hawaii
{NOON + 1} 100 +08:00
{NOON + 61} 160.5   # the zone stays
{{"system": {NOON + 3661}, "monotonic": 3761, "zone": "+08:00"}}
{NOON + 3670} 3770 -10:00
""")
    words = ("play", str(file), "--crontab", "* * * * *", "--max-shift", "150")
    shown = json.loads(cron(*words, "-o", "json").out)
    assert [(e["line"], e["label"], e["epoch"] - NOON, e["shift"]) for e in shown["items"]] == [
        (3, "on-time", 60, 1), (4, "skipped", 120, 3541), (4, "late", 3540, 121), (4, "late", 3600, 61),
        (4, "on-time", 3660, 1)]
    assert shown["items"][1]["until"] == NOON + 3661 - 151
    assert [r["zone_shift"] for r in shown["readings"]] == [0, 0, 0, -18 * 3600]
    assert [r["repeats"] for r in shown["readings"]] == [False, False, False, True]
    assert shown["readings"][2]["elapsed"] == 3601 and shown["readings"][2]["step"] == 0
    plain = cron(*words)
    assert "skipped" in plain.out and "what follows fires again" in plain.err
    labels = [e["label"] for e in cron(*words, "--on-time", "200", "-o", "jsonl").jsonl]
    assert labels == ["on-time", "skipped", "on-time", "on-time", "on-time"]


def test_play_takes_the_limit_from_the_item(cron):
    item = json.dumps({"minute": {"period": 1}, "dst_fixes": ["skip", "repeat_use_both"],
                       "max_shift_seconds_for_unskip_and_do_not_repeat": 60})
    events = cron("play", "-", "--item", item, "--tz", "UTC", "-o", "jsonl", input=f"{NOON} -\n{NOON + 120} -\n").jsonl
    assert [(e["label"], e["epoch"] - NOON) for e in events] == [("on-time", 0), ("on-time", 60), ("on-time", 120)]
    assert "how far time may shift" in cron("play", "-", "--crontab", "* * * * *", "--tz", "UTC", input="", code=2).err


def test_play_takes_items_with_limits_of_their_own(cron):
    """Every minute, patient for one; every ten, patient for twenty: a sleep of 1000 s, and back by 200 s."""
    often, seldom = ({"epoch": {"start": NOON + start, "period": period},
                      "max_shift_seconds_for_unskip_and_do_not_repeat": limit}
                     for start, period, limit in ((0, 60, 60), (30, 600, 1200)))
    readings = "".join(f"{NOON + at} -\n" for at in (0, 1000, 800, 900, 990))
    words = ("play", "-", "--item", json.dumps([often, seldom]))
    shown = json.loads(cron(*words, "-o", "json", input=readings).out)
    assert [(e["line"], e["label"], e["epoch"] - NOON, e["max_shift"]) for e in shown["items"]] == [
        (1, "on-time", 0, 60),
        (2, "late", 30, 1200), (2, "skipped", 60, 60), (2, "late", 630, 1200), (2, "on-time", 960, 60),
        (4, "on-time", 840, 60), (4, "on-time", 900, 60), (5, "on-time", 960, 60)]
    assert [(r["line"], r["max_shift"]) for r in shown["readings"] if r["repeats"]] == [(3, 60)]
    plain = cron(*words, input=readings)
    assert "MAX SHIFT" in plain.out and "further than the limit of 60" in plain.err
    alone = [e["label"] for e in cron(*words[:3], json.dumps(seldom), "-o", "jsonl", input=readings).jsonl]
    assert alone == ["late", "late"] and "MAX SHIFT" not in cron(*words[:3], json.dumps(seldom), input=readings).out
    same = cron(*words, "--max-shift", "1200", "-o", "jsonl", input=readings).jsonl
    assert {e["max_shift"] for e in same} == {1200} and "already-fired" in {e["label"] for e in same}
    without = json.dumps([often, {"epoch": 5}])
    assert "in every item" in cron(*words[:3], without, input=readings, code=2).err


@pytest.mark.parametrize("line, what", [
    ("1800000000", "not a reading"), ("tomorrow 5 UTC", "not a time"), ("1800000000 -5 UTC", "monotonic"),
    ("1800000000 nan UTC", "monotonic"), ("1800000000 5 Nowhere/Else", "no time zone"),
    ("1800000000 5 UTC more", "more after"), ('{"monotonic": 5}', "system"), ('{"system": 5', "line 2"),
    ("1800000000 5", "need a zone"), ('{"systm": 1}', 'did you mean "system"'), ('{"system": true}', "seconds since 1970"),
    ('{"system": 5, "zone": 7}', "a string"),
])
def test_play_names_the_line(cron, line, what):
    result = cron("play", "-", "--crontab", "* * * * *", "--max-shift", "60", input=f"# first\n{line}\n", code=2)
    assert "line 2: " in result.err and what in result.err


def test_play_is_bounded(cron):
    result = cron("play", "-", "--item", '{"epoch": {"period": 1}}', "--max-shift", "10000000", input="5 -\n9000000 -\n",
                  code=2)
    assert "more than 100000 events" in result.err


@pytest.mark.parametrize("star, range_", [("0 * * * *", "0 0-23 * * *"), ("* 2 * * *", "0-59 2 * * *")])
def test_a_full_range_is_as_good_as_a_star(cron, star, range_):
    """On both odd days, and said of a crontab, since cron itself does not think so."""
    for start in (SPRING, AUTUMN):
        times = {line: cron("next", "--crontab", line, *BERLIN, "--from", str(start - 7200), "-n", "150", "-o", "epoch").out
                 for line in (star, range_)}
        assert times[star] == times[range_] and times[star].count("\n") == 150
    notes = [job["notes"] for job in cron("import", "-", "--tz", "UTC", "-o", "jsonl", input=f"{star} a\n{range_} b\n").jsonl]
    assert notes[0] == [] and len(notes[1]) == 1 and "full range" in notes[1][0]
    assert cron("import", "-", "--tz", "UTC", "--dst", "skip,repeat_use_both", "-o", "jsonl", input=f"{range_} b\n").jsonl[0]["notes"] == []


CRONTAB = """# minute hour day month weekday
SHELL=/bin/bash
MAILTO=me@example.org
PATH=/usr/bin:/bin
0 9 13 * Fri report --all
*/10 * * * * mail me%Hello%World
CRON_TZ=Asia/Tokyo
@daily backup
"""


def test_import(cron, tmp_path):
    jobs = cron("import", "-", "-o", "jsonl", input=CRONTAB).jsonl
    assert [job["line"] for job in jobs] == [5, 6, 8]
    assert [job["zone"] for job in jobs] == ["local", "local", "Asia/Tokyo"]
    assert jobs[0]["command"] == ["/bin/bash", "-c", "report --all"] and jobs[0]["env"] == {"PATH": "/usr/bin:/bin"}
    assert any("either" in note for note in jobs[0]["notes"]) and any("MAILTO" in note for note in jobs[0]["notes"])
    assert jobs[1]["command"][2] == "mail me" and jobs[1]["stdin"].startswith("Hello\nWorld")
    item = json.dumps(jobs[1]["item"])
    assert cron("next", "--item", item, "--tz", "UTC", "--from", str(NOON), "-o", "epoch").out == f"{NOON}\n"
    file = tmp_path / "crontab"
    file.write_text(CRONTAB)
    assert "every 10 minutes" in cron("import", str(file), "--tz", "UTC").out


def test_import_of_the_systems_kind(cron):
    job, = cron("import", "-", "--system", "-o", "jsonl", input="17 * * * * root run-parts\n").jsonl
    assert job["user"] == "root" and job["command"] == ["/bin/sh", "-c", "run-parts"]


def test_import_goes_on_after_bad_lines(cron):
    result = cron("import", "-", "-o", "jsonl", input="61 * * * * bad\n0 0 30 2 * never\n@daily good\n", code=2)
    assert [job["line"] for job in result.jsonl] == [3]
    assert "line 1: " in result.err and "line 2: " in result.err
    cron("import", "-", input="0 0 30 2 * never\n", code=1)
    assert "line 1: " in cron("import", "-", input="CRON_TZ=Nowhere/Else\n", code=2).err
