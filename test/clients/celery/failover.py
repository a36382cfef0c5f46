"""Celery on a cluster: the URLs of all nodes, joined by semicolons. A producer and a worker run until the input ends;
each line of input is a request to show that they work. NODES are the URLs."""

import os
import sys
import threading

os.environ["AMQP_URL"] = ";".join(os.environ["NODES"].split())
os.environ["CELERY_RESULTS"] = "file://"  # results over AMQP are transient: they would not outlive the node

import support  # noqa: E402
from support import FOLDER, Worker, wait_until  # noqa: E402

os.environ["CELERY_RESULTS"] = "file://" + FOLDER

from kombu.exceptions import OperationalError  # noqa: E402
from tasks import note  # noqa: E402

DONE = os.path.join(FOLDER, "done")

PAUSE_S = 0.05  # between two tasks

asked = 1  # requests to show that they work; the driver sends one after each kill
over = threading.Event()


def listen():
    global asked
    for _ in sys.stdin:
        asked += 1
    over.set()


def done():
    with open(DONE) as f:
        return set(f.read().split())


def send(text):
    """Whether the task was confirmed. An unconfirmed task may run as well."""
    try:
        note.delay(DONE, text)
    except OperationalError as e:
        print("sends again after", repr(e))
        return False
    return True


def script():
    open(DONE, "w").close()
    worker = Worker("tasks", "failover", "-c", "1", "--without-mingle", "--without-gossip")
    threading.Thread(target=listen, daemon=True).start()
    sent, shown, proof = [], 0, None
    while not over.wait(PAUSE_S):
        text = str(len(sent))
        if proof is None and shown < asked:
            proof = text
        if send(text):
            sent.append(text)
        else:
            sent.append(None)
            proof = None
        if proof in done():
            proof = None
            shown += 1
            print("works", flush=True)
    wait_until(lambda: done() >= {text for text in sent if text}, "all tasks that were confirmed are done")
    worker.stop()


if __name__ == "__main__":
    support.main(script)
