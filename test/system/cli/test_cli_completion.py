# SPDX-License-Identifier: Apache-2.0
"""Completions in the shells themselves: a subcommand, an option, and a live name."""
import os
import pty
import shutil
import subprocess

import harness
import pytest
from harness import PATIENCE, wait_until

# What is typed, and what stands there once Tab was pressed.
CASES = [
    ("reeve queue pau", "reeve queue pause"),
    ("reeve submit --wait-t", "reeve submit --wait-timeout"),
    ("reeve queue show buil", "reeve queue show builds"),
    ("reeve task ls --queue buil", "reeve task ls --queue builds"),
    ("reeve task ls --queue=buil", "reeve task ls --queue=builds"),
    ("reeve queue ls -o jso", "reeve queue ls -o json"),
    ("reeve -q worker show w-on", "reeve -q worker show w-one"),
]


def needs(shell):
    return pytest.mark.skipif(not shutil.which(shell), reason=f"{shell} is not installed")


@pytest.fixture(scope="module")
def place(module_cluster, tmp_path_factory):
    """A server with a queue and a worker, and an environment in which `reeve` is this program."""
    where = tmp_path_factory.mktemp("shell")
    (where / "bin").mkdir()
    (where / "bin" / "reeve").symlink_to(os.path.abspath(harness.BIN))
    cluster = module_cluster("server")
    cluster.create_queue("builds")
    cluster.create_queue("be ta")
    cluster.start_worker(name="w-one")
    env = harness.clean_environment(HOME=where, REEVE_SERVER=f"unix:{cluster.socket}", TERM="dumb",
                                    PATH=f"{where}/bin:{os.environ['PATH']}")
    return where, env


class Terminal:
    """A shell on a terminal of its own. What it draws is thrown away; it writes files instead."""

    def __init__(self, args, env):
        self.fd, inner = pty.openpty()
        self.child = subprocess.Popen(args, stdin=inner, stdout=inner, stderr=inner, env=env, start_new_session=True)
        os.close(inner)
        os.set_blocking(self.fd, False)
        self.drawn = b""

    def drain(self):
        try:
            while True:
                self.drawn += os.read(self.fd, 65536)
        except (BlockingIOError, OSError):
            pass

    def type(self, text, until, what):
        os.write(self.fd, text.encode())
        try:
            return wait_until(lambda: self.drain() or until(), what=what)
        except AssertionError as e:
            raise AssertionError(f"{e}; the shell drew {self.drawn[-2000:]!r}") from None

    def end(self):
        self.child.kill()
        self.child.wait()
        os.close(self.fd)


def complete_lines(shell, dump, typed):
    """Types a line and Tab, then the key that writes the line into the file; returns the line."""
    dump.unlink(missing_ok=True)
    got = shell.type(typed + "\t\x18\x04", lambda: dump.exists() and dump.read_text().endswith("\n") and dump.read_text(),
                     f"{typed!r} is completed")
    shell.type("\x15", lambda: True, "the line is emptied")
    return got.rstrip()


ZSH = """
PS1='> '; unsetopt beep zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste
autoload -U compinit; compinit -u -D
source <(reeve completion zsh)
dump() { print -r -- "$BUFFER" >"$DUMP" }
zle -N dump; bindkey '^X^D' dump
"""


@needs("zsh")
def test_zsh(place, tmp_path):
    where, env = place
    dump = tmp_path / "line"
    (where / ".zshrc").write_text(ZSH)
    shell = Terminal(["zsh", "-d", "-i"], {**env, "ZDOTDIR": str(where), "DUMP": str(dump)})
    try:
        shell.type("", lambda: b"> " in shell.drawn, "zsh shows its prompt")
        for typed, wanted in CASES:
            assert complete_lines(shell, dump, typed) == wanted
    finally:
        shell.end()


@needs("zsh")
def test_zsh_from_its_own_file(place, tmp_path):
    """As it is installed: a function in fpath that is loaded at the first Tab."""
    where, env = place
    dump = tmp_path / "line"
    (tmp_path / "functions").mkdir()
    script = subprocess.run([harness.BIN, "completion", "zsh"], capture_output=True, check=True, env=env).stdout
    (tmp_path / "functions" / "_reeve").write_bytes(script)
    (tmp_path / ".zshrc").write_text(f"fpath=({tmp_path}/functions $fpath)\n" +
                                     ZSH.replace("source <(reeve completion zsh)\n", ""))
    shell = Terminal(["zsh", "-d", "-i"], {**env, "ZDOTDIR": str(tmp_path), "DUMP": str(dump)})
    try:
        shell.type("", lambda: b"> " in shell.drawn, "zsh shows its prompt")
        for typed, wanted in CASES[:3]:
            assert complete_lines(shell, dump, typed) == wanted
    finally:
        shell.end()


@needs("fish")
@pytest.mark.parametrize("typed, wanted", CASES)
def test_fish(place, typed, wanted):
    where, env = place
    script = "reeve completion fish | source; complete -C $argv[1]"
    done = subprocess.run(["fish", "--no-config", "-c", script, typed], capture_output=True, text=True, env=env,
                          timeout=PATIENCE)
    words = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert wanted.split()[-1] in words, done


@pytest.mark.parametrize("typed, wanted", CASES)
def test_bash(place, typed, wanted):
    """With the word breaks of an interactive bash, which cuts at the equals sign too."""
    where, env = place
    words = typed.replace("=", " = ").split()
    script = 'source <(reeve completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reeve; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, env=env, timeout=PATIENCE)
    assert wanted.replace("=", " ").split()[-1] in done.stdout.split(), done


@pytest.mark.parametrize("words, wanted", [
    (["queue", "show", "be"], r"be\ ta"),
    (["queue", "show", r"be\ t"], r"be\ ta"),
    (["queue", "show", '"be t'], "be ta"),
    (["queue", "show", "'be"], "be ta"),
    (["task", "ls", "--queue", "=", "be"], r"be\ ta"),
    (["task", "ls", "--queue", "=", '"be '], "be ta"),
])
def test_bash_quotes_what_has_spaces(place, words, wanted):
    """As readline hands the words over: just as they were typed, with their quotes."""
    where, env = place
    script = 'source <(reeve completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reeve; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, "bash", "reeve", *words], capture_output=True, text=True, env=env,
                          timeout=PATIENCE)
    assert done.stdout.splitlines() == [wanted], done


def test_bash_inserts_a_name_with_spaces(place, tmp_path):
    where, env = place
    dump = tmp_path / "typed"
    shell = Terminal(["bash", "--norc", "--noprofile", "-i"], env)
    try:
        shell.type("source <(reeve completion bash); touch ready\n".replace("ready", str(tmp_path / "ready")),
                   (tmp_path / "ready").exists, "the script was read")
        shell.type(f"reeve queue show be\t -o json >{dump}\n", lambda: dump.exists() and dump.stat().st_size > 0,
                   "the queue was shown")
        assert '"name": "be ta"' in dump.read_text()
    finally:
        shell.end()
