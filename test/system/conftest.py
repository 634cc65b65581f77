# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the system tests. Whatever a test starts is ended with it; if it fails, the logs show."""
import os
import signal

import harness
import pytest
from client import Api

TEST_SECONDS = int(os.environ.get("REEVE_TEST_SECONDS", "1200"))


def pytest_sessionstart(session):
    if not os.access(harness.BIN, os.X_OK):
        raise pytest.UsageError(f"there is no program at {harness.BIN}: build it, or set REEVE_BIN")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """A test that hangs fails by itself, and still ends what it started."""
    def too_long(number, frame):
        raise AssertionError(f"the test took longer than {TEST_SECONDS} s")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TEST_SECONDS)
    yield
    signal.alarm(0)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Remembers whether the test failed, and puts the processes' logs into its report."""
    report = (yield).get_result()
    if report.when == "call":
        item.failed_in_call = report.failed
    if report.failed:
        for cluster in getattr(item, "clusters", []):
            report.sections.append(("logs of the processes", cluster.logs()))


@pytest.fixture
def new_cluster(request):
    """A function that makes empty clusters: nothing runs in them yet."""
    clusters = request.node.clusters = []

    def make():
        clusters.append(harness.Cluster())
        return clusters[-1]

    yield make
    wrong = [w for cluster in clusters for w in cluster.end()]
    logs = "\n".join(cluster.logs() for cluster in clusters)
    for cluster in clusters:
        cluster.remove()
    if wrong and not getattr(request.node, "failed_in_call", False):
        pytest.fail("\n".join(wrong) + "\n" + logs, pytrace=False)


@pytest.fixture(scope="module")
def module_cluster(request):
    """Starts servers that the tests of one file share: for tests that only ask, or only are refused."""
    clusters = []

    def start(kind, *args, env=None):
        clusters.append(harness.Cluster())
        getattr(clusters[-1], f"start_{kind}")(*args, env=env)
        return clusters[-1]

    yield start
    wrong = [w for cluster in clusters for w in cluster.end()]
    logs = "\n".join(cluster.logs() for cluster in clusters)
    for cluster in clusters:
        cluster.remove()
    if wrong:
        pytest.fail("\n".join(wrong) + "\n" + logs, pytrace=False)


@pytest.fixture
def cluster(new_cluster):
    """An empty cluster, for tests that choose what to start."""
    return new_cluster()


@pytest.fixture
def dev(new_cluster):
    """`reeve dev`, ready: a server and one worker."""
    c = new_cluster()
    c.start_dev()
    return c


@pytest.fixture
def server(new_cluster):
    """`reeve server`, ready, without a worker."""
    c = new_cluster()
    c.start_server()
    return c


@pytest.fixture
def api(server):
    """The interface of a server without a worker: nothing moves unless the test moves it."""
    return Api(server)


@pytest.fixture
def live(dev):
    """The interface of `reeve dev`."""
    return Api(dev)


@pytest.fixture
def reeve():
    """Runs the command line without a server."""
    return harness.run
