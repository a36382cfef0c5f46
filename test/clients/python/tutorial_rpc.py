"""Tutorial 6, RPC: requests with reply_to and correlation_id, answered into an exclusive queue of the caller."""

import threading

import pika

from support import Inbox, connect, equal, fresh_queue

QUEUE = "tut.rpc_queue"


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def serve(ready, calls):
    """Answers exactly this many calls."""
    connection = connect()
    channel = connection.channel()
    channel.basic_qos(prefetch_count=1)
    ready.set()
    for method, properties, body in channel.consume(QUEUE):
        channel.basic_publish(
            exchange="",
            routing_key=properties.reply_to,
            properties=pika.BasicProperties(correlation_id=properties.correlation_id),
            body=str(fib(int(body))),
        )
        channel.basic_ack(method.delivery_tag)
        calls -= 1
        if calls == 0:
            break
    connection.close()


def main():
    connection = connect()
    channel = connection.channel()
    fresh_queue(channel, QUEUE)
    ready = threading.Event()
    numbers = [30, 5, 0, 1, 12]
    server = threading.Thread(target=serve, args=(ready, len(numbers)))
    server.start()
    ready.wait()

    reply_queue = channel.queue_declare("", exclusive=True).method.queue
    inbox = Inbox()
    channel.basic_consume(reply_queue, on_message_callback=inbox, auto_ack=True)
    for n in numbers:
        channel.basic_publish(
            exchange="",
            routing_key=QUEUE,
            properties=pika.BasicProperties(reply_to=reply_queue, correlation_id=f"call-{n}"),
            body=str(n),
        )
    replies = inbox.wait(connection, len(numbers))
    equal(
        [(p.correlation_id, int(body)) for _, p, body in replies],
        [(f"call-{n}", fib(n)) for n in numbers],
        "replies",
    )
    server.join()
    channel.queue_delete(QUEUE)
    connection.close()


if __name__ == "__main__":
    main()
