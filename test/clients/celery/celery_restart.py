"""A broker is killed with SIGKILL and restarted: the worker reconnects, and published messages are still there."""

import os
import socket
import sys

if "FIVEWAYS" not in os.environ:
    print("skipped: FIVEWAYS names no binary")
    sys.exit(0)

# A socket that is bound but does not listen reserves the port: only programs that name the port get it.
reservation = socket.socket()
reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
reservation.bind(("127.0.0.1", 0))
PORT = reservation.getsockname()[1]
os.environ["AMQP_URL"] = f"amqp://guest:guest@127.0.0.1:{PORT}//"
os.environ["CELERY_RESULTS"] = "file://"  # rpc results are transient: they would not outlive the broker

import support  # noqa: E402
from support import DEADLINE_S, FOLDER, OwnBroker, Worker, equal, wait_until  # noqa: E402

os.environ["CELERY_RESULTS"] = "file://" + FOLDER

from celery import chord  # noqa: E402
from tasks import add, hold, total  # noqa: E402


def script():
    broker = OwnBroker(PORT)
    worker = Worker("tasks", "restarted", "-c", "1")
    equal(chord((add.s(n, n) for n in range(5)), total.s()).delay().get(DEADLINE_S), 20, "chord")

    # A task waits behind one that is running when the broker is killed.
    gate = os.path.join(FOLDER, "gate")
    held = hold.delay(gate)
    wait_until(lambda: os.path.exists(gate + ".started"), "the task runs")
    waiting = add.delay(20, 3)
    broker.kill()
    wait_until(lambda: worker.said("Connection to broker lost") or worker.said("Trying again in"), "the worker notices")
    broker.start()
    open(gate, "w").close()
    equal(waiting.get(DEADLINE_S), 23, "task published before the broker was killed")
    equal(held.get(DEADLINE_S), "held", "task that ran over the restart")
    equal(add.delay(4, 5).get(DEADLINE_S), 9, "task published after the restart")
    worker.stop()


if __name__ == "__main__":
    support.main(script)
