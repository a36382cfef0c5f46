"""Browsing: copies of the messages in a queue, which stay there."""

import pika
from pika.exceptions import ChannelClosedByBroker

from support import Inbox, bodies, confirming, equal, fresh_queue, main, raises, snippet, wait_until

BROWSE = {"x-browse": True}


def browse(connection, queue, **arguments):
    """Returns [(state, body)] of all messages in the queue."""
    channel, inbox, ended = connection.channel(), Inbox(), []
    channel.add_on_cancel_callback(ended.append)
    channel.basic_consume(queue, inbox, auto_ack=True, arguments={**BROWSE, **arguments})
    wait_until(connection, lambda: ended, "the broker's cancel")
    channel.close()
    return [(properties.headers["x-state"], body.decode()) for _, properties, body in inbox.messages]


@snippet
def shows_every_state(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.browse", durable=True, arguments={"x-consume-after": True})
    equal(browse(connection, queue), [], "an empty queue")
    keep = dict(delivery_mode=2)
    channel.basic_publish("", queue, b"out", pika.BasicProperties(**keep, message_id="1"))
    channel.basic_publish("", queue, b"next", pika.BasicProperties(**keep, headers={"a": 1}))
    channel.basic_publish("", queue, b"later", pika.BasicProperties(**keep, headers={"consume_after": ["1"]}))
    method, _, _ = channel.basic_get(queue)
    want = [("unacked", "out"), ("ready", "next"), ("blocked", "later")]
    for _ in range(2):
        equal(browse(connection, queue), want, "as it stands")
    declared = channel.queue_declare(queue, passive=True, durable=True).method
    equal((declared.message_count, declared.consumer_count), (1, 0), "nothing has changed")
    channel.basic_ack(method.delivery_tag)
    equal(browse(connection, queue), [("ready", "next"), ("ready", "later")], "after the ack")
    method, properties, _ = channel.basic_get(queue, auto_ack=True)
    equal((method.redelivered, properties.headers), (False, {"a": 1}), "the message itself is untouched")


@snippet
def shows_what_came_back(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.browse", durable=True, arguments={"x-queue-type": "quorum"})
    channel.basic_publish("", queue, b"again")
    channel.basic_nack(channel.basic_get(queue)[0].delivery_tag, requeue=True)
    equal(browse(connection, queue), [("ready", "again")], "a returned message")
    channel.queue_delete(queue)


@snippet
def disturbs_no_consumer(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.browse", durable=True)
    for n in range(50):
        channel.basic_publish("", queue, str(n).encode())
    inbox, worker = Inbox(), connection.channel()
    worker.basic_qos(prefetch_count=1)
    worker.basic_consume(queue, inbox)
    for n in range(50):
        inbox.wait(connection, n + 1)
        if n % 10 == 0:
            seen = browse(connection, queue)
            equal(seen, [("unacked", str(n))] + [("ready", str(i)) for i in range(n + 1, 50)], f"after {n}")
        worker.basic_ack(inbox.messages[n][0].delivery_tag)
    equal(bodies(inbox.messages), [str(n) for n in range(50)], "order of the consumer")
    equal([m.redelivered for m, _, _ in inbox.messages], [False] * 50, "nothing came twice")


@snippet
def large_and_slow(connection):
    """More messages than the broker sends to a client that does not read; then cancel and delete in the middle."""
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.browse", durable=True)
    plain = connection.channel()
    for n in range(300):
        plain.basic_publish("", queue, str(n).encode().ljust(20_000))
    wait_until(connection, lambda: channel.queue_declare(queue, passive=True).method.message_count == 300, "published")
    equal([int(body) for _, body in browse(connection, queue)], list(range(300)), "all of it, in order")

    looking, inbox = connection.channel(), Inbox()
    tag = looking.basic_consume(queue, inbox, auto_ack=True, arguments=BROWSE)
    looking.basic_cancel(tag)
    before = len(inbox.messages)
    looking.queue_declare(queue, passive=True)
    connection.process_data_events()
    equal(len(inbox.messages), before, "nothing after the cancel")

    ended = []
    looking.add_on_cancel_callback(ended.append)
    looking.basic_consume(queue, inbox, auto_ack=True, arguments=BROWSE)
    channel.queue_delete(queue)
    wait_until(connection, lambda: ended, "the broker's cancel")

    fresh_queue(channel, queue)
    for n in range(300):
        plain.basic_publish("", queue, str(n).encode().ljust(20_000))
    looking.basic_consume(queue, inbox, auto_ack=True, arguments=BROWSE)
    looking.close()
    equal(channel.queue_delete(queue).method.message_count, 300, "the queue is whole")


@snippet
def needs_no_ack(connection):
    channel = connection.channel()
    queue = fresh_queue(channel, "feature.browse")
    error = raises(ChannelClosedByBroker, 406, channel.basic_consume, queue, Inbox(), arguments=BROWSE)
    equal(error.reply_text, "PRECONDITION_FAILED - invalid arg 'x-browse' for queue 'feature.browse' in vhost '/': "
          "browsing needs no_ack, for there is nothing to acknowledge", "text")
    raises(ChannelClosedByBroker, 404, connection.channel().basic_consume, "feature.nowhere", Inbox(), auto_ack=True,
           arguments=BROWSE)
    connection.channel().queue_delete(queue)


main()
