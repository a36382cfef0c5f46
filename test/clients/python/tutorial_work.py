"""Tutorial 2, work queue: durable queue, persistent tasks, fair dispatch, redelivery when a worker dies.

With the argument "stuck" it is a worker that prints its first task and never finishes it.
"""

import subprocess
import sys

import pika

from support import Inbox, confirming, connect, equal, fresh_queue, wait_until

QUEUE = "tut.task_queue"


def new_task(channel, body):
    channel.basic_publish(
        exchange="",
        routing_key=QUEUE,
        body=body,
        properties=pika.BasicProperties(delivery_mode=pika.DeliveryMode.Persistent),
    )


def start_worker(callback):
    """Starts a worker that gets one task at a time; returns its connection and channel."""
    connection = connect()
    channel = connection.channel()
    channel.basic_qos(prefetch_count=1)
    channel.basic_consume(QUEUE, on_message_callback=callback)
    return connection, channel


def stuck():
    def report(channel, method, properties, body):
        print(body.decode(), flush=True)

    start_worker(report)[1].start_consuming()


def main():
    connection = connect()
    channel = confirming(connection)
    fresh_queue(channel, QUEUE, durable=True)
    tasks = [f"task {n}" for n in range(6)]

    # A worker that does not finish its first task gets no second one.
    stuck_process = subprocess.Popen([sys.executable, __file__, "stuck"], stdout=subprocess.PIPE, text=True)
    for task in tasks:
        new_task(channel, task)
    equal(stuck_process.stdout.readline().strip(), tasks[0], "task of the stuck worker")
    equal(channel.queue_declare(QUEUE, passive=True).method.message_count, 5, "ready tasks beside a stuck worker")

    # Fair dispatch: a worker that acknowledges gets all other tasks, in order.
    inbox = Inbox()
    quick_connection, quick_channel = start_worker(inbox)
    for n in range(1, 6):
        inbox.wait(quick_connection, n)
        quick_channel.basic_ack(inbox.messages[-1][0].delivery_tag)
    equal([body.decode() for _, _, body in inbox.messages], tasks[1:], "tasks of the quick worker")
    equal({p.delivery_mode for _, p, _ in inbox.messages}, {2}, "delivery mode")
    equal({m.redelivered for m, _, _ in inbox.messages}, {False}, "redelivered of tasks that nobody had before")

    # The stuck worker is killed; its task goes to the other one, marked as redelivered.
    stuck_process.kill()
    stuck_process.communicate()
    method, _, body = inbox.wait(quick_connection, 6)[-1]
    equal(body.decode(), tasks[0], "task of the worker that died")
    equal(method.redelivered, True, "redelivered")
    quick_channel.basic_ack(method.delivery_tag)
    quick_connection.close()

    wait_until(connection, lambda: channel.queue_declare(QUEUE, passive=True).method.consumer_count == 0, "no consumers")
    equal(channel.basic_get(QUEUE)[0], None, "rest of the queue")
    channel.queue_delete(QUEUE)
    connection.close()


if __name__ == "__main__":
    stuck() if sys.argv[1:] == ["stuck"] else main()
