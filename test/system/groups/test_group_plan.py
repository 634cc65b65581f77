# SPDX-License-Identifier: Apache-2.0
"""`reeve group plan`: plans from files, without a server; output, exit codes, complaints."""
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from client import Api
from harness import ROOT

REAL = os.path.join(ROOT, "test", "unit", "graph", "real_graph.json")
JOBS = """\
jobs:
  - name: fetch
    command: [git, fetch]
  - name: build
    needs: [fetch]
    matrix: {os: [linux, bsd]}
  - name: clean
    needs: [fetch, {job: build, after: end}]
"""


@pytest.fixture
def plan(reeve):
    def run(*args, code=0, **options):
        result = reeve("group", "plan", *args, check=False, **options)
        assert result.code == code, result.out + result.err
        return result

    return run


@pytest.fixture
def file_of(tmp_path):
    def write(text, name="plan.yaml"):
        path = tmp_path / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return str(path)

    return write


def packages(*rows, **more):
    """Rows "o/a b:o/c r:o/d" as a file."""
    kinds = {"b": "build", "r": "runtime", "s": "strong"}
    made = []
    for row in rows:
        name, *deps = row.split()
        made.append({"ident": f"{name}/1/1"})
        for dep in deps:
            made[-1].setdefault(kinds[dep[0]], []).append(dep[2:])
    return {"packages": made, **more}


def test_the_real_graph(plan):
    shown = json.loads(plan(REAL, "-o", "json").out)
    assert shown["n_jobs"] == len(shown["jobs"]) == 721
    assert shown["edges"]["total"] == 5590 + 542
    assert [c["size"] for c in shown["components"]] == [45, 2]
    assert shown["longest_chain"] == 58 and len(shown["externals"]) == 24
    assert {m["workers"]: m["oldest_first"] for m in shown["makespans"]} == {4: 195, 8: 115, 16: 78, 32: 59, 64: 58}
    assert len(json.loads(plan(REAL, "-o", "json", "--rounds", "1").out)["jobs"]) == 627


def test_no_job_comes_before_what_it_needs(plan):
    done = set()
    for job in json.loads(plan(REAL, "-o", "json").out)["jobs"]:
        assert {need["job"] for need in job["needs"]} <= done
        done.add(job["name"])


def test_the_same_bytes_whatever_the_order(plan, file_of):
    whole = json.load(open(REAL))
    first = plan(REAL, "-o", "json").out
    whole["packages"].reverse()
    assert plan(file_of(whole), "-o", "json").out == first
    assert plan("-", "-o", "json", input=json.dumps(whole)).out == first


def test_touched_on_the_command_line(plan, file_of):
    path = file_of(packages("o/a", "o/b b:o/a", "o/c", touched=["o/c"]))

    def names(*args):
        return [job["name"] for job in json.loads(plan(path, "-o", "json", *args).out)["jobs"]]

    assert names() == ["o/c#1"]
    assert names("--touched", "o/a") == ["o/a#1", "o/b#1"]
    assert names("--touched", "o/b,o/c/1/1", "--touched", "o/new") == ["o/b#1", "o/c#1", "o/new#1"]
    assert "origin/name" in plan(path, "--touched", "gcc", code=2).err


def test_left_out_with_reasons(plan, file_of):
    rows = packages("o/a", "o/b b:o/a", "o/c r:o/b", unbuildable=[{"package": "o/b", "reason": "access denied"}])
    path = file_of(rows)
    shown = json.loads(plan(path, "-o", "json").out)
    assert shown["left_out"] == [
        {"package": "o/b", "how": "direct", "reason": "access denied"},
        {"package": "o/c", "how": "indirect", "through": "o/b", "root": "o/b", "reason": "access denied"}]
    table = plan(path).out
    assert "left out: o/b: access denied" in table and "left out: o/c through o/b: access denied" in table


def test_formats(plan, file_of):
    path = file_of(JOBS)
    table = plan(path).out
    assert re.search(r"^build\[os=linux\] +2 +1  fetch$", table, re.M)
    assert "4 jobs, 5 dependencies between them; 1 can start at once" in table
    assert "2 workers: 3, or 3 with the longest path first" in plan(path, "--workers", "2").out
    shown = json.loads(plan(path, "-o", "json").out)
    assert yaml.safe_load(plan(path, "-o", "yaml").out) == shown
    assert json.loads(plan(path, "-o", "jsonl").out) == shown
    assert shown["jobs"][3]["needs"][2] == {"job": "build[os=bsd]", "after": "end"}
    dot = plan(path, "-o", "dot").out
    assert dot.startswith("digraph plan {") and '"fetch" -> "build[os=bsd]"' in dot
    assert "no output format" in plan(path, "-o", "png", code=2).err


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
def test_graphviz_draws_the_real_graph(plan):
    drawn = plan(REAL, "-o", "svg").out
    assert "</svg>" in drawn and drawn.count('class="node"') == 721
    checked = subprocess.run(["dot", "-Tcanon"], input=plan(REAL, "-o", "dot").out, text=True, capture_output=True)
    assert checked.returncode == 0, checked.stderr


def test_without_graphviz(plan, file_of, tmp_path):
    path = file_of(JOBS)
    empty = tmp_path / "empty"
    empty.mkdir()
    missing = plan(path, "-o", "svg", code=1, env={"PATH": str(empty)})
    assert "cannot start dot" in missing.err and "graphviz" in missing.err and missing.out == ""
    failing = empty / "dot"
    failing.write_text("#!/bin/sh\nexit 3\n")
    failing.chmod(0o755)
    assert "dot ended with code 3" in plan(path, "-o", "svg", code=1, env={"PATH": str(empty)}).err


@pytest.mark.parametrize("text, code, says", [
    ("jobs:\n- name: a\n  needs: [b]\n", 2, "line 3: a: it needs b, and there is no job of that name"),
    ("jobs:\n- name: a\n- name: a\n", 2, "line 3: a: there are two jobs of this name; the first is in line 2"),
    ("jobs:\n- {name: a, needs: [b]}\n- {name: b, needs: [a]}\n", 1, "line 2: a: its needs close a loop: a -> b -> a"),
    ("jobs:\n- name: a\n  comand: [x]\n", 2, "did you mean command?"),
    ("packages:\n- ident: o/a\n", 2, "line 2: o/a has no version"),
    ("packages:\n- {ident: o/a/1/1, runtime: [o/b]}\n- {ident: o/b/1/1, runtime: [o/a]}\n", 1,
     "line 2: runtime dependencies close a loop: o/a -> o/b -> o/a"),
    ("packages:\n- {ident: o/a/1/1, strong: [o/b]}\n- {ident: o/b/1/1, strong: [o/a]}\n", 1,
     "contradict each other: o/a -> o/b -> o/a"),
    ("{\"jobs\": [", 2, "neither JSON nor YAML"),
    ("{\"jobs\":[{\"name\":\"a\",}]", 2, "line 1: this is neither JSON nor YAML"),
    ("{\"jobs\":[{\"name\":\"a\u202e\"}]}", 2, "marks that turn text around"),
    ("{\"form\":\"jobs\"}", 2, "this is a plan"),
    ("", 2, "no map of packages or jobs"),
])
def test_errors_name_line_and_name(plan, file_of, text, code, says):
    assert says in plan(file_of(text), code=code).err


def test_usage(plan, file_of):
    path = file_of(JOBS)
    assert "cannot read" in plan("/nowhere/at/all", code=2).err
    assert "this file has jobs" in plan(path, "--touched", "o/a", code=2).err
    assert "one FILE" in plan(path, path, code=2).err
    for bad in (("--rounds", "0"), ("--rounds", "101"), ("--workers", "0"), ("--workers", "x")):
        plan(path, *bad, code=2)
    plan(code=2)


def test_hostile_files_have_their_answers(plan, file_of):
    answers = {
        '{"jobs":[{"name":"' + "x" * 1_000_000 + '"}]}': "has 1000000 bytes; it may have 255",
        '{"packages":[{"ident":"o/a/1/1","build":' + "[" * 100_000: "nested deeper than 32",
        "jobs:\n- &a {name: a}\n- *a\n": "anchors",
        '{"jobs":[{"name":"a\\u001b[31m"}]}': "at its byte 2",
    }
    for text, says in answers.items():
        assert says in plan(file_of(text), code=2).err
    assert "\x1b" not in plan(file_of('{"jobs":[{"name":"a","\\u001b[31m":1}]}'), code=2).err


def test_ten_million_edges(plan, tmp_path):
    """A limit is reached long before, and said by name: 89 MB are not read to their end for nothing."""
    path = tmp_path / "huge.json"
    needs = ",".join(f'"o/p{i}"' for i in range(1000))
    with open(path, "w", encoding="ascii") as file:
        file.write('{"packages":[\n')
        file.writelines(f'{{"ident":"o/p{i}/1/1"}},\n' for i in range(1000))
        file.writelines(f'{{"ident":"o/q{i}/1/1","build":[{needs}]}},\n' for i in range(10000))
        file.write('{"ident":"o/end/1/1"}]}\n')
    said = plan(str(path), code=2).err
    assert said == ("reeve: line 6002: with o/q5000 the graph has more than 5000000 dependencies, the most that it may\n")


def test_a_jobs_task_is_a_task(cluster, plan, file_of):
    """A job may say of its task what a task may say of itself, but for what the group decides."""
    cluster.start_server()
    shape = Api(cluster).get("/openapi.json")["components"]["schemas"]["TaskSubmit"]
    decided = {"key", "status", "run_after", "stdin"}
    assert decided < set(shape["properties"])
    for name in set(shape["properties"]) - {"name"}:  # that is the job's own
        job = {"name": "a", name: ["x"] if name == "command" else None}
        plan(file_of({"jobs": [job]}), code=2 if name in decided else 0)


def documented():
    """The files that it shows; parts of files come later."""
    text = open(os.path.join(ROOT, "docs", "GROUPS.md")).read()
    text = text[text.index("## Files"):text.index("## From packages to jobs")]
    return [body for body in re.findall(r"```(?:json|yaml)\n(.*?)```", text, re.S)]


def test_the_document_tells_the_truth(plan, file_of):
    """Its files can be planned, and it names every member of what comes out."""
    text = open(os.path.join(ROOT, "docs", "GROUPS.md")).read()
    assert len(documented()) == 2
    for body in documented():
        shown = json.loads(plan(file_of(body), "-o", "json").out)
        assert shown["n_jobs"] > 3
        members = set(shown) | {name for job in shown["jobs"] for name in job}
        members |= {name for part in ("left_out", "components", "makespans") for row in shown.get(part, ()) for name in row}
        assert [name for name in sorted(members) if f"`{name}`" not in text] == []
