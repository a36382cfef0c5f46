"""Classic queues: results over rpc, retries, eta, groups, chains, revocation, priorities, events, remote control."""

import os
import time

from celery import chain, group
from celery.exceptions import TaskRevokedError

import support
from support import DEADLINE_S, FOLDER, Worker, equal, wait_until
from tasks import add, app, broken, hold, note, third_time, when


def results():
    equal(add.delay(2, 3).get(DEADLINE_S), 5, "result")
    result = broken.delay()
    equal(repr(result.get(DEADLINE_S, propagate=False)), "ValueError('as it should be')", "exception as result")
    equal(third_time.delay().get(DEADLINE_S), 2, "third try after two retries with countdown")
    equal(group(add.s(n, n) for n in range(20))().get(DEADLINE_S), [2 * n for n in range(20)], "group")
    equal(chain(add.s(1, 2), add.s(4), add.s(8))().get(DEADLINE_S), 15, "chain")
    equal(when.apply_async([time.time() + 1], countdown=1).get(DEADLINE_S) >= 0, True, "countdown")
    expired = add.apply_async((1, 1), countdown=1, expires=0.5)
    try:
        expired.get(DEADLINE_S)
    except TaskRevokedError as e:
        equal(str(e), "expired", "expired task")


def consumed_by(worker):
    queues = app.control.inspect([worker.name], timeout=DEADLINE_S).active_queues()[worker.name]
    return sorted(queue["name"] for queue in queues)


def remote_control(worker):
    equal(app.control.inspect(timeout=DEADLINE_S, limit=1).ping(), {worker.name: {"ok": "pong"}}, "inspect ping")
    equal(app.control.ping(timeout=DEADLINE_S, destination=[worker.name]), [{worker.name: {"ok": "pong"}}], "ping of one")
    equal(consumed_by(worker), ["celery.classic", "celery.ranked"], "active queues")
    gate = os.path.join(FOLDER, "gate")
    busy = hold.delay(gate)
    wait_until(lambda: os.path.exists(gate + ".started"), "the task runs")
    active = app.control.inspect([worker.name], timeout=DEADLINE_S).active()[worker.name]
    equal([task["id"] for task in active], [busy.id], "inspect active")
    busy.revoke(terminate=True, signal="SIGKILL")
    try:
        busy.get(DEADLINE_S)
    except TaskRevokedError as e:
        equal(str(e), "terminated", "revoked while it ran")


def priorities(worker):
    """Waiting tasks run in the order of their priorities."""
    order = os.path.join(FOLDER, "order")
    app.control.cancel_consumer("celery.ranked", destination=[worker.name])
    wait_until(lambda: consumed_by(worker) == ["celery.classic"], "the worker lets go of the queue")
    for priority in (0, 5, 9, 1, 9):
        note.apply_async((order, str(priority)), queue="celery.ranked", priority=priority)
    app.control.add_consumer("celery.ranked", destination=[worker.name])

    def lines():
        if os.path.exists(order):
            with open(order) as f:
                return f.read().split()
        return []

    wait_until(lambda: len(lines()) == 5, "five notes")
    equal(lines(), ["9", "9", "5", "1", "0"], "order of priorities")


def events():
    seen = []
    with app.connection() as connection:
        receiver = app.events.Receiver(connection, handlers={"*": lambda event: seen.append(event)})
        capture = receiver.itercapture(limit=None, timeout=DEADLINE_S, wakeup=True)
        next(capture)  # it is listening
        done = add.delay(1, 1)
        for _ in capture:
            if any(e["type"] == "task-succeeded" and e["uuid"] == done.id for e in seen):
                break
    kinds = [e["type"] for e in seen if e.get("uuid") == done.id]
    equal(kinds, ["task-received", "task-started", "task-succeeded"], "events of a task")


def script():
    worker = Worker("tasks", "classic", "-c", "1", "-E")
    results()
    remote_control(worker)
    priorities(worker)
    events()
    worker.stop()


if __name__ == "__main__":
    support.main(script)
