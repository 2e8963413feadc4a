"""Parts of tests that compare the module with the command, which is installed beside it."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import finecomb

COMB = Path(sys.executable).with_name("comb")
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def quietly(function, *arguments, **keywords):
    """The result of a function, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", finecomb.Warning)
        return function(*arguments, **keywords)


def words_of(flags):
    """Flags as the command has them."""
    words = []
    for name, value in flags.items():
        flag = "--" + {"n": "number"}.get(name, name.rstrip("_")).replace("_", "-")
        values = value if isinstance(value, list) else [value]
        words += [flag if value is True else f"{flag}={value}" for value in values]
    return words


def interrupted(test, script, *arguments):
    """Errors that a program prints when it is interrupted, once it has printed a line."""
    # Signals of this kind are ignored if the tests were started in the background of a script.
    command = ["env", "--default-signal=INT", sys.executable, "-c", script, *arguments]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    test.addCleanup(child.kill)
    child.stdout.readline()
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=10)
    return err


class Files(unittest.TestCase):
    """Tests with a directory of their own."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def write(self, name, data):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def slow_pipe(self, part):
        """Path of a pipe into which a part is written eight times, with pauses."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)

        def fill():
            # A job that was stopped may not read the rest.
            with contextlib.suppress(BrokenPipeError), os.fdopen(write, "wb", buffering=0) as pipe:
                for _ in range(8):
                    pipe.write(part)
                    time.sleep(0.1)

        thread = threading.Thread(target=fill)
        thread.start()
        self.addCleanup(thread.join)
        return f"/proc/self/fd/{read}"

    def check_progress(self, job, part, count):
        """Checks that a job on a slow pipe has this many results and reports its progress, and that an exception ends it."""
        seen = []
        found = job(self.slow_pipe(part), progress=lambda done, total: seen.append((done, total)))
        self.assertEqual(len(list(found)), count)
        self.assertTrue(seen and all(0 <= done <= 8 * len(part) and total is None for done, total in seen), seen)

        def stop(done, total):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            list(job(self.slow_pipe(part), progress=stop))


class Threads(Files):
    """Tests of jobs that are left."""

    def count(self):
        return len(os.listdir("/proc/self/task"))

    def assert_ended(self, before):
        """Waits until there are no more threads than before."""
        end = time.monotonic() + 20
        while self.count() > before and time.monotonic() < end:
            time.sleep(0.01)
        self.assertLessEqual(self.count(), before)
