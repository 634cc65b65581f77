# SPDX-License-Identifier: Apache-2.0
"""Groups over HTTP: jobs as a request has them, a group submitted, and its end."""
from harness import wait_until

ENDED = {"complete", "failed", "canceled"}


def job(name, *command, **members):
    return {"name": name, "command": list(command) or ["true"], **members}


def submit(api, *jobs, status=201, **members):
    return api.post("/v1/groups", {"jobs": list(jobs), **members}, status)


def ended(api, group):
    def look():
        g = api.get(f"/v1/groups/{group}")
        return g if g["state"] in ENDED else None
    return wait_until(look, what=f"group {group} has ended")
