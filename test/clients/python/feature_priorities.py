"""Priorities of messages, up to 255 of them."""

import random

import pika

from support import bodies, confirming, drain, equal, fresh_queue, main, raises, snippet


@snippet
def all_256_priorities_keep_their_order(connection):
    channel = confirming(connection)
    fresh_queue(channel, "feature.priorities", durable=True, arguments={"x-max-priority": 255})
    sent = [(priority, n) for priority in range(256) for n in range(2)]
    random.Random(1).shuffle(sent)
    for priority, n in sent:
        channel.basic_publish("", "feature.priorities", f"{priority}", pika.BasicProperties(priority=priority, delivery_mode=2))
    got = [int(body) for body in bodies(drain(channel, "feature.priorities"))]
    equal(got, sorted((priority for priority, _ in sent), reverse=True), "order of priorities")
    channel.queue_delete("feature.priorities")


@snippet
def what_comes_back_keeps_its_priority(connection):
    channel = confirming(connection)
    fresh_queue(channel, "feature.priorities", arguments={"x-max-priority": 10})
    for priority, body in ((1, "low"), (5, "middle"), (200, "above the maximum"), (None, "none")):
        channel.basic_publish("", "feature.priorities", body, pika.BasicProperties(priority=priority))
    method, _, body = channel.basic_get("feature.priorities")
    equal(body, b"above the maximum", "the first")
    channel.basic_nack(method.delivery_tag, requeue=True)
    equal(bodies(drain(channel, "feature.priorities")), ["above the maximum", "middle", "low", "none"], "all")
    channel.queue_delete("feature.priorities")


@snippet
def more_than_255_is_refused(connection):
    raises(pika.exceptions.ChannelClosedByBroker, 406, connection.channel().queue_declare,
           "feature.priorities", arguments={"x-max-priority": 256})


main()
