"""The application whose workers these scripts run. CELERY_QUORUM=1 makes its queues quorum queues."""

import os
import time

from celery import Celery
from kombu import Exchange, Queue

QUORUM = os.environ.get("CELERY_QUORUM") == "1"
PREFIX = "celery.quorum" if QUORUM else "celery.classic"
RESULTS = os.environ.get("CELERY_RESULTS", "rpc://")

app = Celery("tasks", broker=os.environ["AMQP_URL"], backend=RESULTS)
app.conf.update(
    task_default_queue=PREFIX,
    task_default_exchange=PREFIX,
    task_default_exchange_type="topic" if QUORUM else "direct",
    task_default_queue_type="quorum" if QUORUM else "classic",
    worker_detect_quorum_queues=True,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    worker_cancel_long_running_tasks_on_connection_loss=True,
    broker_transport_options={"confirm_publish": True},
    worker_prefetch_multiplier=1,
    result_expires=60,
    broker_native_delayed_delivery_queue_type="quorum" if QUORUM else "classic",
)
if not QUORUM:
    app.conf.task_queues = [
        Queue(PREFIX, Exchange(PREFIX), routing_key=PREFIX),
        Queue("celery.ranked", Exchange("celery.ranked"), routing_key="celery.ranked", max_priority=9),
    ]
    app.conf.task_default_routing_key = PREFIX


@app.task
def add(x, y):
    return x + y


@app.task(bind=True, max_retries=3)
def third_time(self):
    """Fails twice and returns the number of attempts."""
    if self.request.retries < 2:
        raise self.retry(countdown=1)
    return self.request.retries


@app.task
def when(not_before):
    """Returns how many seconds after that time it ran."""
    return time.time() - not_before


@app.task
def note(path, text):
    """Adds a line to a file."""
    with open(path, "a") as f:
        f.write(text + "\n")


@app.task
def hold(path):
    """Runs until the file exists."""
    note(path + ".started", "x")
    while not os.path.exists(path):
        time.sleep(0.02)
    return "held"


@app.task(acks_late=True, reject_on_worker_lost=True, bind=True)
def late(self, path):
    """Never ends at the first delivery, and ends at once at the second."""
    if self.request.delivery_info["redelivered"]:
        return "second"
    note(path, "first")
    time.sleep(600)


@app.task
def broken():
    raise ValueError("as it should be")


@app.task
def total(numbers):
    return sum(numbers)
