# SPDX-License-Identifier: Apache-2.0
"""Configuration as its users meet it: shown, checked, reloaded."""
import json
import os
import signal

import requests
from harness import PATIENCE, keep_secret, wait_until


def test_check_names_line_and_hint(reeve, tmp_path):
    file = tmp_path / "reeve.json"
    file.write_text('{\n"worker": {\n"maxthread": 3, // one letter short\n}\n}\n')
    result = reeve("config", "check", str(file), check=False)
    assert result.code == 1
    assert "reeve.json:3:" in result.out and 'did you mean "maxthreads"?' in result.out
    file.write_text('{"worker": {"maxthreads": 3}}')
    assert "nothing is wrong" in reeve("config", "check", str(file)).out


def test_show_says_where_values_came_from(reeve, tmp_path):
    file = tmp_path / "reeve.json"
    file.write_text('{"worker": {"maxthreads": 3}, "server": {"token": "very-secret-token"}}')
    shown = json.loads(reeve("config", "show", "-o", "json", "--config", str(file)).out)
    assert shown["worker.maxthreads"] == {"value": 3, "origin": f"{file}:1", "reload": False}
    assert shown["server.heartbeat"]["origin"] == "default"
    text = reeve("config", "show", "--origin", "--config", str(file)).out
    assert "very-secret-token" not in text + json.dumps(shown)


def test_a_new_join_token_holds_after_reload(cluster, tmp_path):
    token = tmp_path / "join"
    keep_secret(token, "the-old-join-token")
    server = cluster.start_server("--join-token-file", str(token))
    cluster.start_worker("--token-file", str(token), name="old").stop()
    keep_secret(token, "the-new-join-token")
    server.signal(signal.SIGHUP)
    wait_until(lambda: "configuration reloaded" in server.log(), what="the server reloaded")
    cluster.start_worker("--token-file", str(token), name="new")


def test_a_token_that_can_not_be_read_opens_nothing(cluster, tmp_path):
    token = tmp_path / "token"
    keep_secret(token, "the-api-token-of-this-test")
    server = cluster.start_server("--token-file", str(token))
    assert requests.get(cluster.url + "/v1/status", timeout=PATIENCE).status_code == 401
    url = cluster.url
    os.unlink(token)
    server.signal(signal.SIGHUP)
    wait_until(lambda: "reloaded" in server.log(), what="the server tried")
    assert requests.get(url + "/v1/status", timeout=PATIENCE).status_code == 401
    good = {"Authorization": "Bearer the-api-token-of-this-test"}
    assert requests.get(url + "/v1/status", headers=good, timeout=PATIENCE).status_code == 200
