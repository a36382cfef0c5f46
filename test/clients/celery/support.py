"""Workers as processes, and checks that fail loudly."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 30  # patience for what must happen; only a failing run ever uses it up

FOLDER = tempfile.mkdtemp(prefix="fiveways-celery-")


def equal(got, want, what):
    """Raises AssertionError unless got == want."""
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")
    print("ok  ", what)


def wait_until(condition, what):
    """Asks again and again until condition() is true, and returns what it gave."""
    end = time.monotonic() + DEADLINE_S
    while not (got := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {DEADLINE_S} s")
        time.sleep(0.02)
    return got


class Worker:
    """`celery worker` in processes of its own; what it prints goes to the output when the script fails."""

    def __init__(self, app, name, *args):
        self.name = f"{name}@localhost"
        self.log = os.path.join(FOLDER, name + ".log")
        command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "-n", self.name, "-l", "INFO", *args]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True,
                                            cwd=os.path.dirname(os.path.abspath(__file__)))
        wait_until(lambda: self.said(" ready."), f"{name} is ready")

    def said(self, text):
        with open(self.log) as log:
            return text in log.read()

    def kill(self):
        """SIGKILL for the worker and its pool."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def cry(self):
        """Makes a worker that still runs log where each of its threads stands."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(1)

    def stop(self):
        """The warm shutdown must end with 0."""
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(DEADLINE_S), 0, f"exit code of {self.name}")


class OwnBroker:
    """A broker of the script's own on one port and folder over all its lives; FIVEWAYS names the binary."""

    def __init__(self, port):
        self.port = port
        self.start()

    def start(self):
        off = [word for name in ("sql", "redis", "etcd", "http") for word in ("--" + name, "off")]
        self.process = subprocess.Popen(
            [os.environ["FIVEWAYS"], "serve", "--data", os.path.join(FOLDER, "data"), "--amqp", f"127.0.0.1:{self.port}", *off],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while not self.process.stdout.readline().startswith("amqp"):
            if self.process.poll() is not None:
                raise AssertionError("the broker did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def main(script):
    """Runs script(keep), where keep(x) registers what is killed at the end; a failure shows the logs of the workers."""
    kept = []

    def keep(thing):
        kept.append(thing)
        return thing

    try:
        script(keep)
    except BaseException:
        for worker in kept:
            if isinstance(worker, Worker):
                worker.cry()
        for name in sorted(os.listdir(FOLDER)):
            if name.endswith(".log"):
                with open(os.path.join(FOLDER, name)) as log:
                    print(f"--- {name}\n{log.read()[-8000:]}")
        raise
    finally:
        for thing in reversed(kept):
            thing.kill()
        shutil.rmtree(FOLDER, ignore_errors=True)
