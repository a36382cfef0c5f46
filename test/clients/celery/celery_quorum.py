"""Quorum queues with Celery's delayed delivery: 28 topic exchanges and queues that hand messages on by dead-lettering."""

import os
import time

os.environ["CELERY_QUORUM"] = "1"

import support  # noqa: E402
from support import DEADLINE_S, Worker, equal  # noqa: E402
from tasks import add, app, third_time, when  # noqa: E402


def script():
    worker = Worker("tasks", "quorum", "-c", "2")
    with app.connection() as connection:
        channel = connection.channel()
        for level in range(28):
            channel.queue_declare(f"celery_delayed_{level}", passive=True)
        equal(True, True, "28 queues of the delay")
    equal(add.delay(1, 2).get(DEADLINE_S), 3, "result")

    # More tasks than the worker may hold: with delays in the broker they do not stand in the way of the others.
    begin = time.time()
    delayed = [when.apply_async([begin + seconds], countdown=seconds) for seconds in (1, 2, 3, 4) for _ in range(4)]
    equal(add.delay(3, 4).get(DEADLINE_S), 7, "result beside delayed tasks")
    equal(time.time() - begin < 1, True, "it did not wait")
    for result in delayed:
        late = result.get(DEADLINE_S)
        # Celery rounds delays down to whole seconds of its clock.
        equal(-1 <= late < 1.5, True, f"on time ({late:+.3f} s)")
    equal(third_time.delay().get(DEADLINE_S), 2, "third try after two retries")
    worker.stop()


if __name__ == "__main__":
    support.main(script)
