# SPDX-License-Identifier: Apache-2.0
"""The program under test: the environment variable GIBBSITE, or build/gibbsite."""
import fcntl
import os
import pathlib
import pty
import signal
import struct
import subprocess
import termios
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
HANGS_S = 1200  # no statement about speed: a program that takes so long on any machine will not end

# Programs inherit which signals are ignored: under nohup they would not end by one.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def pytest_addoption(parser):
    parser.addoption("--share", default="1/1", metavar="I/N",
                     help="every N-th test, from the I-th on: N processes run all of them")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes seconds. With GIBBSITE_TEST_TURN=N an eighth of such tests run, N mod 8")


def pytest_collection_modifyitems(config, items):
    if "GIBBSITE_TEST_TURN" in os.environ:
        long = [item for item in items if item.get_closest_marker("long")]
        later = [item for n, item in enumerate(long) if (n - int(os.environ["GIBBSITE_TEST_TURN"])) % 8]
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if item not in later]
    first, step = map(int, config.getoption("--share").split("/"))
    config.hook.pytest_deselected(items=[item for n, item in enumerate(items) if n % step != first - 1])
    items[:] = items[first - 1::step]


def program():
    return os.path.abspath(os.environ.get("GIBBSITE", ROOT / "build" / "gibbsite"))


# At full scale, as ./dev nightly asks for. A test that takes long beside what it shows, or a case that others cover in part.
FULL = os.environ.get("GIBBSITE_TEST_SCALE") == "full"
nightly = pytest.mark.skipif(not FULL, reason="./dev nightly runs it")


def wait_for_file(process, path):
    """Waits until a program at work has written a file, or has ended."""
    while not path.exists() and process.poll() is None:
        time.sleep(0.01)


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr


@pytest.fixture
def work(tmp_path):
    """An empty folder with the examples beside it, as a user of the source folder has them."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.fixture
def run(work):
    """run("info", "x.uai") in the work folder. @return status, out, err."""

    def call(*arguments, stdin=None, env=None):
        environment = {k: v for k, v in os.environ.items() if k != "GIBBSITE_SIMD"}
        environment.update(env or {})
        result = Result(
            subprocess.run(
                [program(), *map(str, arguments)],
                cwd=work,
                env=environment,
                input=stdin,
                stdin=subprocess.DEVNULL if stdin is None else None,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=HANGS_S,
            )
        )
        if "built without expat" in result.err:
            pytest.skip("this build has no expat")
        if "built without libLBFGS" in result.err:
            pytest.skip("this build has no libLBFGS")
        return result

    return call


@pytest.fixture
def data():
    """A file of the shared test data, or a skip."""

    def find(name):
        path = DATA / name
        if not path.exists():
            pytest.skip(f"no test data {name}")
        return path

    return find


SPRINKLER = "examples/sprinkler.bif"

# x0 and x1 tend to be equal, x2 is apart: exact answers are easy to work out by hand.
SMALL = """MARKOV
3
2 2 3
2
2 0 1
1 2

4
 3 1
 1 3

3
 1 1 2
"""


@pytest.fixture
def small(work):
    path = work / "small.uai"
    path.write_text(SMALL)
    return "small.uai"


@pytest.fixture
def slow(run, work):
    """A model that no run of a minute answers, for signals and limits."""
    done = run("generate", "ising", "--grid", "60x60", "--coupling", "0.3", "-o", "slow.uai")
    assert done.status == 0, done.err
    return "slow.uai"


def only(work, *names):
    """The files of the work folder besides the examples are exactly these."""
    found = sorted(p.name for p in work.iterdir() if p.name != "examples")
    assert found == sorted(names)


def on_terminal(work, *arguments, env=None, columns=80):
    """Run with standard output and error on a terminal. @return status, all that was shown."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([program(), *map(str, arguments)], cwd=work, stdin=subprocess.DEVNULL,
                               stdout=slave, stderr=slave, close_fds=True,
                               env={**os.environ, **(env or {})})
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux says EIO when the other side has closed
            break
        if not part:
            break
        shown += part
    status = process.wait()
    os.close(master)
    return status, shown.decode()


def has_netcdf(run):
    done = run("sample", SPRINKLER, "--sweeps", "1", "-o", "probe.nc", "-q")
    return "libnetcdf, which cannot be found" not in done.err
