"""Quorum queues with Celery's delayed delivery: 28 topic exchanges and queues that forward messages by dead-lettering."""

import os
import time

os.environ["CELERY_QUORUM"] = "1"

import support  # noqa: E402
from support import DEADLINE_S, Worker, equal  # noqa: E402
from tasks import add, app, third_time, when  # noqa: E402


def script():
    worker = Worker("tasks", "quorum", "-c", "1")
    with app.connection() as connection:
        channel = connection.channel()
        for level in range(28):
            channel.queue_declare(f"celery_delayed_{level}", passive=True)
        equal(True, True, "28 queues of the delay")
    equal(add.delay(1, 2).get(DEADLINE_S), 3, "result")

    # More tasks than the worker may hold: with delays in the broker they do not block the others. These
    # would do so until the script times out.
    for _ in range(16):
        add.apply_async((0, 0), countdown=10 * DEADLINE_S)
    equal(add.delay(3, 4).get(DEADLINE_S), 7, "result beside delayed tasks")

    # How long a task takes to start depends on the machine. A task that arrives on time is queued before one that
    # is sent a moment later, and the worker begins them in that order.
    begin = time.time()
    delayed = {seconds: [when.apply_async([begin + seconds], countdown=seconds) for _ in range(4)] for seconds in (1, 2, 3, 4)}
    for seconds, results in delayed.items():
        time.sleep(max(0, begin + seconds + 1 - time.time()))
        behind = when.delay(begin + seconds).get(DEADLINE_S)
        for result in results:
            late = result.get(DEADLINE_S)
            # Celery rounds delays down to whole seconds of its clock.
            equal(-1 <= late <= behind, True, f"on time ({late:+.3f} s, one that was sent a second later {behind:+.3f} s)")
    equal(third_time.delay().get(DEADLINE_S), 2, "third try after two retries")
    worker.stop()


if __name__ == "__main__":
    support.main(script)
