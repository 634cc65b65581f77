# SPDX-License-Identifier: Apache-2.0
"""A worker with plugins, and a queue for each of them."""
import json


def start(cluster, *args, **plugins):
    """A cluster whose worker has these plugins, and a queue for each."""
    cluster.start_dev(*args, env={"REEVE_WORKER_PLUGINS": json.dumps(plugins)})
    for name in plugins:
        cluster.create_queue(name, plugin=name)
    return cluster


def done(cluster, queue, params, **members):
    return cluster.wait_ended(cluster.submit(queue=queue, params=params, **members)["id"])
