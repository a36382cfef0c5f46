"""Message groups: one consumer per key at a time, in order, and different keys concurrently."""

import collections

import pika
from pika.exceptions import ChannelClosedByBroker

from support import Inbox, bodies, confirming, connect, drain, equal, fresh_queue, main, raises, snippet, wait_until

GROUPED = {"x-group-header": "customer"}


def publish(channel, queue, body, customer=None):
    """Publishes body for a customer; None means no customer."""
    headers = {} if customer is None else {"customer": customer}
    channel.basic_publish("", queue, body, pika.BasicProperties(headers=headers, delivery_mode=2))


def consumer(connection, queue, prefetch):
    """Starts a consumer on its own channel; returns the channel and the inbox."""
    channel, inbox = connection.channel(), Inbox()
    channel.basic_qos(prefetch_count=prefetch)
    channel.basic_consume(queue, inbox)
    return channel, inbox


def settle_deliveries(connection):
    """Returns when all pending deliveries have arrived: they precede the answer to a later declare."""
    connection.channel().queue_declare("feature.groups", passive=True)
    connection.process_data_events()


@snippet
def one_consumer_per_key(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.groups", durable=True, arguments=GROUPED)
    first, mine = consumer(connection, queue, 10)
    second, other = consumer(connection, queue, 10)
    for n in range(6):
        publish(channel, queue, f"{'ab'[n % 2]}{n}", "ab"[n % 2])
    wait_until(connection, lambda: len(mine.messages) + len(other.messages) == 6, "all delivered")
    equal(bodies(mine.messages), ["a0", "a2", "a4"], "one key goes to one consumer")
    equal(bodies(other.messages), ["b1", "b3", "b5"], "and another key to the other")
    first.basic_ack(mine.messages[1][0].delivery_tag)
    first.basic_ack(mine.messages[2][0].delivery_tag)
    publish(channel, queue, "a6", "a")
    publish(channel, queue, "a7", "a")
    mine.wait(connection, 5)
    equal(bodies(other.messages), ["b1", "b3", "b5"], "the key stays while a message of it is out")
    first.close()  # a0, a6, a7 go to the other one, in order
    equal(bodies(other.wait(connection, 6))[3:], ["a0", "a6", "a7"], "after the first is gone")
    equal([m.redelivered for m, _, _ in other.messages[3:]], [True] * 3, "redelivered")


@snippet
def a_slow_key_holds_nobody_up(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.groups", durable=True, arguments=GROUPED)
    slow, held = consumer(connection, queue, 1)
    publish(channel, queue, "slow0", "slow")
    held.wait(connection, 1)
    for n in range(100):
        publish(channel, queue, f"slow{n + 1}", "slow")
        publish(channel, queue, f"quick{n}", f"quick{n % 7}")
    publish(channel, queue, "nobody's")
    fast, inbox = connection.channel(), Inbox()
    fast.basic_qos(prefetch_count=5)

    def handle(ch, method, properties, body):
        inbox(ch, method, properties, body)
        ch.basic_ack(method.delivery_tag)

    fast.basic_consume(queue, handle)
    inbox.wait(connection, 101)
    equal(bodies(inbox.messages), [f"quick{n}" for n in range(100)] + ["nobody's"], "all but the slow key, in order")
    equal(channel.queue_declare(queue, passive=True).method.message_count, 100, "the slow ones are ready, and wait")
    slow.basic_ack(held.messages[0][0].delivery_tag)
    wait_until(connection, lambda: len(held.messages) + len(inbox.messages) > 102, "the key goes on")


@snippet
def order_per_key_with_many_workers(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.groups", durable=True, arguments=GROUPED)
    done = collections.defaultdict(list)
    busy = {}

    def worker(name):
        def handle(ch, method, properties, body):
            key = properties.headers["customer"]
            equal(busy.setdefault(key, name), name, f"who works on {key}")
            done[key].append(int(body))
            ch.basic_ack(method.delivery_tag)
            del busy[key]

        ch = connection.channel()
        ch.basic_qos(prefetch_count=3)
        ch.basic_consume(queue, handle)

    for name in range(4):
        worker(name)
    unconfirmed = connection.channel()
    for n in range(2000):
        publish(unconfirmed, queue, str(n), n % 13)
    wait_until(connection, lambda: sum(map(len, done.values())) == 2000, "all done")
    for key, numbers in done.items():
        equal(numbers, sorted(numbers), f"order of {key}")


@snippet
def get_takes_a_free_key(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.groups", durable=True, arguments=GROUPED)
    for body in ("a0", "a1", "b0"):
        publish(channel, queue, body, body[0])
    tag = channel.basic_get(queue)[0].delivery_tag
    equal(channel.basic_get(queue)[2], b"b0", "a1 waits for a0")
    equal(channel.basic_get(queue)[0], None, "all keys are held")
    channel.basic_ack(tag)
    equal(bodies(drain(channel, queue)), ["a1"], "then it comes")


@snippet
def arguments(connection):
    channel = connection.channel()
    fresh_queue(channel, "feature.groups", arguments=GROUPED)
    raises(ChannelClosedByBroker, 406, channel.queue_declare, "feature.groups")
    error = raises(ChannelClosedByBroker, 406, connection.channel().queue_declare, "feature.groups2",
                   arguments={"x-group-header": 5})
    equal(error.reply_text, "PRECONDITION_FAILED - invalid arg 'x-group-header' for queue 'feature.groups2' in vhost '/': "
          "{unacceptable_type,signedint}", "text")
    connection.channel().queue_delete("feature.groups")


main()
