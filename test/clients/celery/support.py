"""Workers as processes, and checks that fail loudly."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

DEADLINE_S = 30  # timeout for expected events; only a failing run reaches it

FOLDER = tempfile.mkdtemp(prefix="fiveways-celery-")

STARTED = []  # workers and brokers in order of start; all are killed when the script ends


def equal(got, want, what):
    """Raises AssertionError unless got == want."""
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")
    print("ok  ", what)


def wait_until(condition, what):
    """Polls until condition() is true, and returns its result."""
    end = time.monotonic() + DEADLINE_S
    while not (got := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {DEADLINE_S} s")
        time.sleep(0.02)
    return got


class Worker:
    """`celery worker` in separate processes. Its output is shown if the script fails."""

    def __init__(self, app, name, *args):
        self.name = f"{name}@localhost"
        self.log = os.path.join(FOLDER, name + ".log")
        command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "-n", self.name, "-l", "INFO", *args]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True,
                                            cwd=os.path.dirname(os.path.abspath(__file__)))
        STARTED.append(self)
        wait_until(lambda: self.said(" ready."), f"{name} is ready")

    def said(self, text):
        with open(self.log) as log:
            return text in log.read()

    def kill(self):
        """Kills the worker and its pool with SIGKILL. They are a process group, and the pool may outlive the worker."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.process.wait()

    def cry(self):
        """Makes a running worker log the stack of each thread."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(1)

    def stop(self):
        """Requires a warm shutdown to exit with 0."""
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(DEADLINE_S), 0, f"exit code of {self.name}")


class OwnBroker:
    """The script's own broker, with the same port and folder after each restart. FIVEWAYS names the binary."""

    def __init__(self, port):
        self.port = port
        STARTED.append(self)
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


def clean_up():
    for thing in reversed(STARTED):
        thing.kill()
    shutil.rmtree(FOLDER, ignore_errors=True)


def end_with(parent):
    """Ends the script and everything that it started once its parent is gone, because a `go test` that times out does not
    notify its children."""
    while os.getppid() == parent:
        time.sleep(0.2)
    clean_up()
    os._exit(1)


def main(script):
    """Runs script() and kills what it started. After a failure it shows the logs of the workers."""
    threading.Thread(target=end_with, args=[os.getppid()], daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    try:
        script()
    except BaseException:
        for thing in STARTED:
            if isinstance(thing, Worker):
                thing.cry()
        for name in sorted(os.listdir(FOLDER)):
            if name.endswith(".log"):
                with open(os.path.join(FOLDER, name)) as log:
                    print(f"--- {name}\n{log.read()[-8000:]}")
        raise
    finally:
        clean_up()
