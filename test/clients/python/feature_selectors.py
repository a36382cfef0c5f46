"""Selectors of bindings: the argument x-selector on every kind of exchange, and refused selectors."""

import pika
from pika.exceptions import ChannelClosedByBroker

from support import bodies, confirming, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet


def properties(priority=None, type=None, **headers):
    return pika.BasicProperties(headers=headers, priority=priority, type=type)


@snippet
def a_topic_exchange_with_selectors(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "sel.orders", exchange_type="topic")
    for queue in ("sel.large", "sel.eu", "sel.all"):
        fresh_queue(channel, queue)
    channel.queue_bind("sel.large", "sel.orders", "order.#", {"x-selector": "amount >= 1000 OR priority > 5"})
    channel.queue_bind("sel.eu", "sel.orders", "order.created", {"x-selector": "region LIKE 'EU-%' AND NOT test"})
    channel.queue_bind("sel.all", "sel.orders", "#")
    send = channel.basic_publish
    send("sel.orders", "order.created", b"big", properties(amount=1500, region="EU-west", test=False))
    send("sel.orders", "order.created", b"small", properties(amount=5, region="EU-north", test=False))
    send("sel.orders", "order.created", b"test", properties(amount=1000, region="EU-west", test=True))
    send("sel.orders", "order.paid", b"urgent", properties(priority=9, region="EU-west", test=False))
    send("sel.orders", "refund", b"other key", properties(amount=9999))
    send("sel.orders", "order.created", b"bare")
    equal(bodies(drain(channel, "sel.large")), ["big", "test", "urgent"], "large or urgent")
    equal(bodies(drain(channel, "sel.eu")), ["big", "small"], "from Europe")
    equal(len(drain(channel, "sel.all")), 6, "without a selector")


@snippet
def a_fanout_with_selectors(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "sel.fan", exchange_type="fanout")
    for queue in ("sel.a", "sel.b"):
        fresh_queue(channel, queue)
    channel.queue_bind("sel.a", "sel.fan", arguments={"x-selector": "kind IN ('a', 'both')"})
    channel.queue_bind("sel.a", "sel.fan", arguments={"x-selector": "type = 'alarm'"})  # a second binding, another condition
    channel.queue_bind("sel.b", "sel.fan", arguments={"x-selector": "kind = 'b' OR \"kind\" = 'both'"})
    for kind in ("a", "b", "both", "none"):
        channel.basic_publish("sel.fan", "", kind, properties(kind=kind))
    channel.basic_publish("sel.fan", "", "once", properties(kind="a", type="alarm"))
    equal(bodies(drain(channel, "sel.a")), ["a", "both", "once"], "queue a, each message once")
    equal(bodies(drain(channel, "sel.b")), ["b", "both"], "queue b")

    channel.queue_unbind("sel.a", "sel.fan", arguments={"x-selector": "kind IN ('a', 'both')"})
    for kind, type in (("a", None), ("a", "alarm")):
        channel.basic_publish("sel.fan", "", f"{kind} {type}", properties(kind=kind, type=type))
    equal(bodies(drain(channel, "sel.a")), ["a alarm"], "the other binding stays")


@snippet
def the_other_types(connection):
    channel = confirming(connection)
    for kind, key, more in (("direct", "k", {}), ("headers", "", {"color": "red"}), ("x-consistent-hash", "1", {})):
        exchange = fresh_exchange(channel, f"sel.{kind}", exchange_type=kind)
        queue = fresh_queue(channel, f"sel.{kind}")
        channel.queue_bind(queue, exchange, key, {"x-selector": "size > 1", **more})
        channel.basic_publish(exchange, "k", "small", properties(color="red", size=1))
        channel.basic_publish(exchange, "k", "big", properties(color="red", size=2))
        equal(bodies(drain(channel, queue)), ["big"], kind)


@snippet
def between_exchanges(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "sel.in", exchange_type="fanout")
    fresh_exchange(channel, "sel.out", exchange_type="fanout")
    queue = fresh_queue(channel, "sel.q")
    channel.queue_bind(queue, "sel.out")
    channel.exchange_bind("sel.out", "sel.in", arguments={"x-selector": "routing_key LIKE 'eu.%'"})
    for key in ("eu.1", "us.1"):
        channel.basic_publish("sel.in", key, key)
    equal(bodies(drain(channel, queue)), ["eu.1"], "through the binding between exchanges")


@snippet
def not_matched_is_unroutable(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "sel.narrow", exchange_type="fanout")
    queue = fresh_queue(channel, "sel.narrowed")
    channel.queue_bind(queue, "sel.narrow", arguments={"x-selector": "missing = 1"})
    try:
        channel.basic_publish("sel.narrow", "", b"lost", mandatory=True)
        raise AssertionError("a message that no selector takes was routed")
    except pika.exceptions.UnroutableError as error:
        equal([m.method.reply_code for m in error.messages], [312], "returned")


@snippet
def refused_selectors(connection):
    queue = fresh_queue(connection.channel(), "sel.refused")
    for selector, reason in (
        ("(a = 1) OR )", "selector: at 12: expected a value, got ')'"),
        ("a LIKE 5", "selector: at 8: expected a string, got '5'"),
        ("", "selector: at 1: expected a value, got the end"),
        ("properties.colour = 'red'", "selector: at 1: there is no property 'colour'"),
        (5, "expected longstr, got long"),
    ):
        channel = connection.channel()
        error = raises(ChannelClosedByBroker, 406, channel.queue_bind, queue, "amq.fanout", "", {"x-selector": selector})
        text = error.reply_text.replace("signedint", "long")
        equal(text, f"PRECONDITION_FAILED - invalid arg 'x-selector' for binding: {reason}", repr(selector))
    channel = connection.channel()
    raises(ChannelClosedByBroker, 406, channel.exchange_bind, "amq.fanout", "amq.direct", "", {"x-selector": "NOT"})


if __name__ == "__main__":
    main()
