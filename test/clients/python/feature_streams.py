"""Streams: readers with their own positions, offsets, retention, filters."""

import datetime

import pika
from pika.exceptions import ChannelClosedByBroker, ConnectionClosedByBroker

from support import Inbox, bodies, confirming, connect, equal, fresh_queue, main, raises, snippet

STREAM = {"x-queue-type": "stream"}


def fresh_stream(channel, **arguments):
    return fresh_queue(channel, "feature.streams", durable=True, arguments={**STREAM, **arguments})


def read(connection, queue, want, prefetch=100, **arguments):
    """Reads this many messages, acknowledges each, and returns [(offset, body)]."""
    channel, inbox = connection.channel(), Inbox()
    channel.basic_qos(prefetch_count=prefetch)
    channel.basic_consume(queue, inbox, arguments=arguments)
    for n in range(want):
        inbox.wait(connection, n + 1)
        channel.basic_ack(inbox.messages[n][0].delivery_tag)
    channel.close()
    return [(p.headers["x-stream-offset"], body.decode()) for _, p, body in inbox.messages]


@snippet
def many_readers(connection):
    channel = confirming(connection)
    queue = fresh_stream(channel)
    for n in range(10):
        channel.basic_publish("", queue, str(n).encode())
    every = [(n, str(n)) for n in range(10)]
    arguments = "x-stream-offset"
    equal(read(connection, queue, 10, 3, **{arguments: "first"}), every, "from the first")
    equal(read(connection, queue, 10, **{arguments: "first"}), every, "and again")
    equal(read(connection, queue, 3, **{arguments: 7}), every[7:], "from an offset")
    equal(read(connection, queue, 1, **{arguments: "last"}), every[9:], "the last")
    equal(read(connection, queue, 10, **{arguments: "1h"}), every, "of the last hour")
    equal(read(connection, queue, 10, **{arguments: datetime.datetime(2020, 1, 1)}), every, "since a time")
    equal(channel.queue_declare(queue, passive=True).method.message_count, 10, "nothing was taken")
    channel.queue_delete(queue)


@snippet
def new_ones_come(connection):
    channel = confirming(connection)
    queue = fresh_stream(channel)
    channel.basic_publish("", queue, b"old")
    reader, inbox = connection.channel(), Inbox()
    reader.basic_qos(prefetch_count=1)
    reader.basic_consume(queue, inbox)
    for n in range(5):
        channel.basic_publish("", queue, str(n).encode())
    for n in range(5):
        inbox.wait(connection, n + 1)
        equal(len(inbox.messages), n + 1, "no more than the prefetch")
        reader.basic_ack(inbox.messages[n][0].delivery_tag)
    equal(bodies(inbox.messages), list("01234"), "what came since")
    channel.queue_delete(queue)


@snippet
def keeps_so_much(connection):
    channel = confirming(connection)
    queue = fresh_stream(channel, **{"x-max-length-bytes": 30})
    for n in range(10):
        channel.basic_publish("", queue, str(n).encode() * 10)
    equal([offset for offset, _ in read(connection, queue, 3, **{"x-stream-offset": "first"})], [7, 8, 9], "offsets")
    channel.queue_delete(queue)


@snippet
def filters(connection):
    channel = confirming(connection)
    queue = fresh_stream(channel)
    for n, value in enumerate(["tea", "milk", "tea", None, "sugar"]):
        headers = {"x-stream-filter-value": value} if value else {}
        channel.basic_publish("", queue, str(n).encode(), pika.BasicProperties(headers=headers))
    first = {"x-stream-offset": "first"}
    equal(read(connection, queue, 2, **first, **{"x-stream-filter": "tea"}), [(0, "0"), (2, "2")], "tea")
    both = {"x-stream-filter": ["milk", "sugar"], "x-stream-match-unfiltered": True}
    equal(read(connection, queue, 3, **first, **both), [(1, "1"), (3, "3"), (4, "4")], "milk, sugar, or nothing")
    channel.queue_delete(queue)


@snippet
def refuses(connection):
    channel = connection.channel()
    queue = fresh_stream(channel)
    raises(ChannelClosedByBroker, 406, channel.basic_consume, queue, Inbox())
    for wrong in [
        lambda c: c.basic_get(queue),
        lambda c: c.queue_purge(queue),
        lambda c: (c.basic_qos(prefetch_count=1), c.basic_consume(queue, Inbox(), auto_ack=True)),
    ]:
        own = connect()
        raises(ConnectionClosedByBroker, 540, wrong, own.channel())
    raises(ChannelClosedByBroker, 406, connection.channel().queue_declare, queue + ".2", arguments=STREAM)
    connection.channel().queue_delete(queue)


main()
