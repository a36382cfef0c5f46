"""x-recent-history: a fanout exchange that sends its last messages to newly bound queues."""

import pika
from pika.exceptions import ChannelClosedByBroker, UnroutableError

from support import bodies, confirming, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet, wait_until


def eventually(connection, channel, queue, want):
    """Waits for messages that may arrive a moment after bind-ok."""
    got = []
    wait_until(connection, lambda: got.extend(bodies(drain(channel, queue))) or len(got) >= len(want), queue)
    equal(got, want, queue)


@snippet
def new_queues_see_the_last_messages(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "feature.chat", exchange_type="x-recent-history", durable=True, arguments={"x-recent-history-length": 2})
    for body in ("one", "two", "three"):
        channel.basic_publish("feature.chat", "", body, pika.BasicProperties(delivery_mode=2))
    channel.basic_publish("feature.chat", "", "hidden", pika.BasicProperties(headers={"x-recent-history-no-store": True}))
    fresh_queue(channel, "feature.reader", durable=True)
    channel.queue_bind("feature.reader", "feature.chat")
    eventually(connection, channel, "feature.reader", ["two", "three"])
    channel.basic_publish("feature.chat", "", "four")
    eventually(connection, channel, "feature.reader", ["four"])

    fresh_exchange(channel, "feature.behind", exchange_type="fanout")
    fresh_queue(channel, "feature.other")
    channel.queue_bind("feature.other", "feature.behind")
    channel.exchange_bind("feature.behind", "feature.chat")
    eventually(connection, channel, "feature.other", ["three", "four"])  # RabbitMQ 3.10 sends them in reverse order


@snippet
def twenty_are_kept(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "feature.chat", exchange_type="x-recent-history")
    for n in range(25):
        channel.basic_publish("feature.chat", "", str(n))
    fresh_queue(channel, "feature.reader")
    channel.queue_bind("feature.reader", "feature.chat")
    eventually(connection, channel, "feature.reader", [str(n) for n in range(5, 25)])


@snippet
def what_is_returned_is_remembered(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "feature.chat", exchange_type="x-recent-history")
    try:
        channel.basic_publish("feature.chat", "", "returned", mandatory=True)
        raise AssertionError("an unroutable mandatory message was not returned")
    except UnroutableError as error:
        equal(error.messages[0].body, b"returned", "body")
    fresh_queue(channel, "feature.reader")
    channel.queue_bind("feature.reader", "feature.chat")
    eventually(connection, channel, "feature.reader", ["returned"])


@snippet
def refusals(connection):
    for length, text in ((0, "0"), (-1, "-1"), ("many", '<<"many">>')):
        error = raises(ChannelClosedByBroker, 406, connection.channel().exchange_declare, "feature.bad", "x-recent-history",
                       arguments={"x-recent-history-length": length})
        equal(error.reply_text,
              f"PRECONDITION_FAILED - Invalid argument {text}, 'x-recent-history-length' must be a positive integer", "text")


main()
