# SPDX-License-Identifier: Apache-2.0
"""Files that others may change are not trusted: refused at start, with what to do."""
import os

import pytest
from harness import keep_secret

NOBODY = 65534
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")


@pytest.fixture
def refused(reeve, tmp_path):
    """Starts a server or a worker that must end at once; returns what it said."""
    def start(kind, *args, env=None):
        ports = ["--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0"] if kind == "server" else \
            ["--join", "127.0.0.1:1"]
        result = reeve(kind, "--state-dir", tmp_path / "state", *ports, *args, env=env, check=False)
        assert result.code != 0, result
        return result.err
    return start


@pytest.fixture
def state(tmp_path):
    path = tmp_path / "state"
    path.mkdir(mode=0o700)
    return path


@pytest.mark.parametrize("kind", ["server", "worker"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_state_directory_that_others_may_write(refused, state, kind, mode):
    state.chmod(mode)
    said = refused(kind)
    assert f"others may write in {state}" in said and f"chmod go-w {state}" in said


@pytest.mark.parametrize("kind", ["server", "worker"])
def test_a_folder_above_that_others_may_write(refused, state, tmp_path, kind):
    tmp_path.chmod(0o777)
    said = refused(kind)
    assert f"others may write in {tmp_path}" in said and f"chmod o-w {tmp_path}" in said


@only_root
@pytest.mark.parametrize("kind", ["server", "worker"])
def test_a_state_directory_of_somebody_else(refused, state, kind):
    os.chown(state, NOBODY, NOBODY)
    said = refused(kind)
    assert str(NOBODY) in said and f"chown {os.getuid()} {state}" in said


def test_a_database_that_is_a_link(refused, state, tmp_path):
    (state / "reeve.db").symlink_to(tmp_path / "other.db")
    said = refused("server")
    assert "is a symbolic link" in said and "name the file" in said
    assert not (tmp_path / "other.db").exists(), "nothing was made behind the link"


def test_a_database_that_others_may_write(refused, state, cluster):
    (state / "reeve.db").touch()
    (state / "reeve.db").chmod(0o666)
    assert f"chmod go-w {state}/reeve.db" in refused("server")


def test_a_store_in_a_folder_of_everybody(refused, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert f"others may write in {shared}" in refused("server", "--store", f"sqlite:{shared}/reeve.db")


@pytest.mark.parametrize("kind,flag", [("server", "--token-file"), ("server", "--join-token-file"),
                                       ("worker", "--token-file")])
@pytest.mark.parametrize("mode,word,mend", [(0o644, "read", "o-rwx"), (0o666, "write", "o-rwx"),
                                            (0o660, "write", "g-w")])
def test_a_token_that_others_may_read_or_write(refused, state, tmp_path, kind, flag, mode, word, mend):
    file = tmp_path / "token"
    keep_secret(file, "a-long-token-of-this-test-0123")
    file.chmod(mode)
    said = refused(kind, flag, file)
    assert f"others may {word} {file}" in said and f"chmod {mend} {file}" in said


@pytest.mark.parametrize("kind", ["server", "worker"])
def test_a_home_that_depends_on_where_one_stands(refused, state, kind):
    said = refused(kind, env={"HOME": "somewhere"})
    assert "HOME" in said and "not an absolute path" in said


def test_what_is_our_own_is_taken(cluster, tmp_path):
    """A token that a group may read, and state directories made by ourselves."""
    file = tmp_path / "token"
    keep_secret(file, "a-long-token-of-this-test-0123")
    file.chmod(0o640)
    cluster.start_server("--join-token-file", file)
    cluster.start_worker("--token-file", file)
    assert os.stat(cluster.state_dir()).st_mode & 0o077 == 0
