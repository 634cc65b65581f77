# SPDX-License-Identifier: Apache-2.0
"""The offline commands of services: files in, answers out; exit codes, complaints, hostile files."""
import json
import os
import re

import pytest
import yaml
from harness import ROOT

DOCUMENT = os.path.join(ROOT, "docs", "SERVICES.md")


@pytest.fixture
def ask(reeve, tmp_path):
    """ask("place", {…}): the answer as a value; with code= what was printed."""
    def run(command, file, *args, code=None):
        path = tmp_path / "file"
        path.write_text(file if isinstance(file, str) else json.dumps(file))
        words = [*command.split(), str(path), *args]
        if code is None:
            words += ["-o", "json"]
        result = reeve(*words, check=False)
        assert result.code == (code or 0), result.out + result.err
        return result if code is not None else json.loads(result.out)

    return run


def documented(command):
    """The file of the section of this command."""
    text = open(DOCUMENT).read()
    section = {"place": "Placement", "service crash": "Crashes", "service converge": "Convergence",
               "service reconcile": "Reconciliation", "service rollout": "Deploys"}[command]
    return re.search(rf"^## {section}\n.*?```(?:yaml|json)\n(.*?)```", text, re.S | re.M).group(1)


def members_of(value):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from members_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from members_of(inner)


COMMANDS = ["place", "service crash", "service converge", "service reconcile", "service rollout"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_document_tells_the_truth(ask, command):
    """Its file can be read, and it names every member of what comes out."""
    text = open(DOCUMENT).read()
    answer = ask(command, documented(command))
    assert [name for name in sorted(set(members_of(answer))) if f"`{name}`" not in text] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_formats_say_the_same(ask, command):
    file = documented(command)
    answer = ask(command, file)
    assert yaml.safe_load(ask(command, file, "-o", "yaml", code=0).out) == answer
    assert json.loads(ask(command, file, "-o", "jsonl", code=0).out) == answer
    assert ask(command, json.dumps(yaml.safe_load(file))) == answer
    assert ask(command, file, code=0).out.count("\n") > 3


@pytest.mark.parametrize("command", COMMANDS)
def test_same_bytes(ask, command, reeve):
    file = documented(command)
    first = ask(command, file, "-o", "json", code=0).out
    assert ask(command, file, "-o", "json", code=0).out == first
    assert reeve(*command.split(), "-", "-o", "json", input=file).out == first


@pytest.mark.parametrize("command", COMMANDS)
def test_usage(reeve, ask, command):
    assert reeve(*command.split(), check=False).code == 2
    assert "cannot read" in reeve(*command.split(), "/nowhere/at/all", check=False).err
    assert "one FILE" in reeve(*command.split(), "a", "b", check=False).err
    assert "no output format" in ask(command, "{}", "-o", "png", code=2).err


HOSTILE = {
    "": "no map",
    "[1, 2]": "no map",
    "{\"work": "neither JSON nor YAML",
    "a: &x 1\nb: *x\n": "anchors",
    "\u001b[31m: 1\n": "control characters are not allowed",
    "x" * 300 + ": 1\n": "may have 255",
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_files_have_their_answers(ask, command, text):
    said = ask(command, text, code=2).err
    assert HOSTILE[text] in said or "there is no member" in said
    assert "\x1b" not in said and len(said) < 1000


def test_place_spreads_over_zones(ask):
    workers = [{"name": f"w{i}", "zone": "abc"[i % 3], "memory": "8G", "disk": "8G"} for i in range(9)]
    answer = ask("place", {"workers": workers, "work": [{"service": "web", "instances": 9, "memory": "1G"}]})
    assert [w["index"] for w in answer["work"]] == list(range(9))
    assert len({w["worker"] for w in answer["work"]}) == 9
    assert [w["zone_had"] for w in answer["work"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_place_says_why_not(ask):
    file = {"workers": [{"name": "w", "memory": "4G", "used": {"memory": "1G"}, "runs": [{"memory": "3G"}]}],
            "work": [{"service": "a", "memory": "2G"}, {"service": "b", "labels": ["gpu"]}]}
    a, b = ask("place", file)["work"]
    assert a["error"] == ("insufficient resources: memory; memory: 2 GiB wanted, no worker has more free than 1 GiB; "
                          "3 GiB of 4 GiB reserved, 1 GiB used")
    assert a["figures"]["memory"] == {"wanted": 2 << 30, "freest": 1 << 30, "largest": 4 << 30, "total": 4 << 30,
                                      "reserved": 3 << 30, "used": 1 << 30}
    assert b["error"] == "no worker with label gpu"
    table = ask("place", file, code=0).out
    assert "no worker with label gpu" in table and "0 placed, 2 without a place" in table


def test_place_much(ask):
    """A large file has its answer in a moment."""
    workers = [{"name": f"w{i}", "zone": "abc"[i % 3], "instances": 1000} for i in range(300)]
    work = [{"service": f"s{i}", "instances": 50} for i in range(1000)]
    answer = ask("place", {"workers": workers, "work": work})
    assert answer["placed"] == 50000 and answer["failed"] == 0
    held = [w["instances"]["reserved"] for w in answer["workers"]]
    assert max(held) - min(held) <= 1


@pytest.mark.parametrize("file, says", [
    ("workers:\n- name: w\n  memory: -1\n", "line 3: memory must be an amount"),
    ("work:\n- service: a\n  instances: -3\n", "line 3: instances must be a whole number from 0"),
    ("work:\n- service: a\n  instances: 100001\n", "from 0 to 100000"),
    ("work:\n- service: a\n  instances: 2\n- service: a\n", "line 4: a: index 0 is here twice; the first is in line 2"),
    ("work:\n- service: " + "x" * 200 + "\n", "has 200 bytes; it may have 128"),
    ("workers:\n- {name: w, lables: {}}\n", "did you mean labels?"),
    ("config: {starting_weight: -1}\n", "starting_weight must be a number from 0 to 10"),
])
def test_place_refuses(ask, file, says):
    assert says in " ".join(ask("place", file, code=2).err.split())


def test_crash_plays_a_life(ask):
    """A program that always crashes at once is given up after 51 hours."""
    at, events = 0, []
    for n in range(1, 201):
        events.append({"instance": "web/0", "at": at, "event": "claimed"})
        events.append({"instance": "web/0", "at": at, "event": "crashed"})
        at += 0 if n <= 2 else min(30 * 2 ** (n - 3), 960)
    answer = ask("service crash", {"events": events})
    steps = answer["steps"]
    assert not any("refused" in step for step in steps)
    waits = [step["wait_ms"] // 1000 for step in steps if "wait_ms" in step]
    assert waits[:7] == [30, 60, 120, 240, 480, 960, 960] and len(waits) == 197
    assert steps[-1]["crash_count"] == 200 and steps[-1]["never"] is True
    assert steps[-1]["at"].startswith("1970-01-03T03:")


@pytest.mark.parametrize("command, file, says", [
    ("service crash", "events:\n- {instance: web, at: 1, event: crashed}\n", "line 2: instance must be a service and an"),
    ("service crash", "policy: {wait: -1}\n", "wait must be a time of 0 or more"),
    ("service converge", "services: []\n", "does not say what time it is"),
    ("service converge", "now: yesterday\n", "now must be a time"),
    ("service converge", "now: 1\nservices:\n- {name: a, instances: -1}\n", "line 3: instances must be a whole number"),
    ("service converge", "now: 1\ninstances:\n- {instance: a/0, state: RUNNING}\n", "names its worker"),
])
def test_files_that_are_refused(ask, command, file, says):
    assert says in " ".join(ask(command, file, code=2).err.split())


def test_converge_again_does_nothing(ask):
    """The records of an answer are a file again, in which there is nothing to do."""
    first = ask("service converge", documented("service converge"))
    given = yaml.safe_load(documented("service converge"))
    assert first["actions"]
    keep = ("instance", "presence", "state", "worker", "since", "crash_count", "stopping")
    given["instances"] = [{k: v for k, v in r.items() if k in keep} for r in first["instances"]]
    for record in given["instances"]:
        if record["instance"].startswith(("old", "other")):
            record["domain"] = "apps" if record["instance"] == "old/0" else "elsewhere"
        if record.get("stopping"):
            record["asked"] = first["now"]
    again = ask("service converge", given)
    assert again["actions"] == []


def test_converge_stops_nothing_in_a_domain_that_is_not_fresh(ask):
    file = {"now": 1000, "workers": ["w"],
            "instances": [{"instance": f"s/{i}", "state": "RUNNING", "worker": "w"} for i in range(1000)]}
    assert ask("service converge", file)["actions"] == []
    fresh = ask("service converge", {**file, "domains": ["default"]})
    assert [a["action"] for a in fresh["actions"]] == ["stop"] * 1000


def test_reconcile_table(reeve, ask):
    """Every case of the table is what a file with that case gets."""
    rows = json.loads(reeve("service", "reconcile", "--table", "-o", "json").out)["rows"]
    assert len(rows) > 30 and {row["decision"] for row in rows} >= {"crash", "create-running", "evacuate", "unclaim"}
    for row in rows:
        if row["when"] not in ("not drained", "drained or not"):
            continue
        for container in row["containers"]:
            for record in row["records"]:
                file = {"worker": "w1", "containers": [], "instances": []}
                if container != "none":
                    state, _, result = container.partition(" ")
                    file["containers"] = [{"instance": "a/0", "state": state, "id": 1}]
                    if result:
                        file["containers"][0]["result"] = result.strip("()")
                if record != "none":
                    state, *of = record.split(" ")
                    file["instances"] = [{"instance": "a/0", "state": state}]
                    if of:
                        file["instances"][0].update({"worker": "w2" if of[-1] == "another" else "w1", "id": 1})
                    if state == "CRASHED":
                        file["instances"][0]["crash_count"] = 1
                cases = ask("service reconcile", file)["cases"]
                if cases:
                    assert (cases[0]["container"], cases[0]["record"]) == (container, record)
                    assert cases[0]["decision"] == row["decision"]
                else:
                    assert row["decision"] == "nothing"
    assert "evacuating record" in reeve("service", "reconcile", "--table").out
    assert "takes no FILE" in reeve("service", "reconcile", "--table", "x", check=False).err


def test_an_emptied_store_stops_nothing(ask):
    containers = [{"instance": f"s/{i}", "state": "RUNNING", "id": i + 1} for i in range(500)]
    cases = ask("service reconcile", {"worker": "w", "containers": containers})["cases"]
    assert [case["decision"] for case in cases] == ["create-running"] * 500
