"""Delayed messages: the x-delayed-message exchange, and the header not-before on any exchange."""

import time

import pika
from pika.exceptions import ChannelClosedByBroker, UnroutableError

from support import Inbox, bodies, confirming, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet


def delayed_exchange(channel, name, kind="direct"):
    return fresh_exchange(channel, name, exchange_type="x-delayed-message", durable=True, arguments={"x-delayed-type": kind})


def properties(delay, **more):
    return pika.BasicProperties(delivery_mode=2, headers={"x-delay": delay}, **more)


@snippet
def come_in_the_order_of_their_times(connection):
    channel = confirming(connection)
    delayed_exchange(channel, "feature.later")
    fresh_queue(channel, "feature.due", durable=True)
    channel.queue_bind("feature.due", "feature.later", "key")
    start = time.monotonic()
    for delay in (600, 200, 400, 0, -1):
        channel.basic_publish("feature.later", "key", str(delay), properties(delay))
    channel.basic_publish("feature.later", "key", "text", properties("100"))
    equal(bodies(drain(channel, "feature.due")), ["0", "-1"], "at once")
    inbox = Inbox()
    channel.basic_consume("feature.due", inbox, auto_ack=True)
    for n, (_, props, body) in enumerate(inbox.wait(connection, 4)):
        equal(body.decode(), ["text", "200", "400", "600"][n], "order")
        equal(props.headers["x-delay"], -int(body) if body != b"text" else -100, "x-delay is negated")
    took = time.monotonic() - start
    equal(0.6 <= took < 5, True, f"the last came after {took:.3f} s")
    channel.exchange_delete("feature.later")


@snippet
def mandatory_looks_at_the_bindings_of_now(connection):
    channel = confirming(connection)
    delayed_exchange(channel, "feature.later")
    try:
        channel.basic_publish("feature.later", "nowhere", "returned", properties(50), mandatory=True)
        raise AssertionError("an unroutable mandatory message was taken")
    except UnroutableError as error:
        equal(error.messages[0].body, b"returned", "returned body")
    fresh_queue(channel, "feature.due", durable=True)
    channel.basic_publish("feature.later", "key", "bound in time", properties(300))
    channel.queue_bind("feature.due", "feature.later", "key")
    channel.basic_publish("feature.later", "key", "reaches a queue", properties(300), mandatory=True)
    inbox = Inbox()
    channel.basic_consume("feature.due", inbox, auto_ack=True)
    equal(bodies(inbox.wait(connection, 2)), ["bound in time", "reaches a queue"], "when due")
    channel.exchange_delete("feature.later")


@snippet
def refusals(connection):
    for arguments in ({}, {"x-delayed-type": "nonsense"}, {"x-delayed-type": "x-delayed-message"}):
        raises(ChannelClosedByBroker, 406, connection.channel().exchange_declare, "feature.bad",
               exchange_type="x-delayed-message", arguments=arguments)
    channel = connection.channel()
    delayed_exchange(channel, "feature.later")
    relay = "amq.relay.feature.later"
    raises(ChannelClosedByBroker, 403, connection.channel().queue_declare, relay)
    raises(ChannelClosedByBroker, 403, connection.channel().queue_declare, relay, passive=True)
    raises(ChannelClosedByBroker, 403, connection.channel().queue_purge, relay)
    raises(ChannelClosedByBroker, 403, connection.channel().queue_delete, relay)
    raises(ChannelClosedByBroker, 403, connection.channel().queue_bind, relay, "amq.fanout")
    raises(ChannelClosedByBroker, 403, connection.channel().basic_get, relay)
    channel.exchange_delete("feature.later")


main()
