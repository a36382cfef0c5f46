"""De-duplication: a queue or an exchange accepts one message per key, and confirms the others."""

import time

import pika
from pika.exceptions import ChannelClosedByBroker

from support import bodies, confirming, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet, wait_until


def keyed(key, header="x-deduplication-header", **headers):
    return pika.BasicProperties(delivery_mode=2, headers={header: key, **headers})


@snippet
def a_queue_takes_each_key_once(connection):
    channel = confirming(connection)
    fresh_queue(channel, "feature.once", durable=True, arguments={"x-message-deduplication": True, "x-cache-size": 2})
    for body, key in (("a", "a"), ("again", "a"), ("b", "b"), ("c", "c"), ("a has been forgotten", "a")):
        channel.basic_publish("", "feature.once", body, keyed(key))  # returns with the confirm
    channel.basic_publish("", "feature.once", "no key")
    channel.basic_publish("", "feature.once", "no key")
    equal(bodies(drain(channel, "feature.once")), ["a", "b", "c", "a has been forgotten", "no key", "no key"], "taken")


@snippet
def keys_are_forgotten_in_time(connection):
    channel = confirming(connection)
    fresh_queue(channel, "feature.once", arguments={
        "x-message-deduplication": True, "x-cache-ttl": 300, "x-deduplication-header": "order-id"})
    channel.basic_publish("", "feature.once", "a", keyed("a", "order-id"))
    channel.basic_publish("", "feature.once", "own", keyed("own", "order-id", **{"x-cache-ttl": 60_000}))
    channel.basic_publish("", "feature.once", "again", keyed("a", "order-id"))
    equal(bodies(drain(channel, "feature.once")), ["a", "own"], "at first")
    time.sleep(0.35)
    channel.basic_publish("", "feature.once", "later", keyed("a", "order-id"))
    channel.basic_publish("", "feature.once", "too soon", keyed("own", "order-id"))
    equal(bodies(drain(channel, "feature.once")), ["later"], "after its time")


@snippet
def an_exchange_passes_each_key_once(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "feature.sieve", exchange_type="topic", durable=True, arguments={"x-message-deduplication": True})
    queues = [fresh_queue(channel, f"feature.sifted{n}", durable=True) for n in range(3)]
    for queue in queues:
        channel.queue_bind(queue, "feature.sieve", "a.#")
    for key in ("1", "1", "2", "2", "1"):
        channel.basic_publish("feature.sieve", "a.b", key, keyed(key))
    for queue in queues:
        got = []
        wait_until(connection, lambda: got.extend(bodies(drain(channel, queue))) or len(got) >= 2, queue)
        equal(got, ["1", "2"], queue)


@snippet
def a_transaction_is_atomic(connection):
    fresh_queue(connection.channel(), "feature.once", durable=True, arguments={"x-message-deduplication": True})
    channel = connection.channel()
    channel.tx_select()
    channel.basic_publish("", "feature.once", "rolled back", keyed("a"))
    channel.tx_rollback()
    channel.basic_publish("", "feature.once", "first", keyed("a"))
    channel.basic_publish("", "feature.once", "second", keyed("a"))
    channel.tx_commit()
    equal(bodies(drain(channel, "feature.once")), ["first"], "committed")


@snippet
def refusals(connection):
    for arguments in ({"x-message-deduplication": "yes"}, {"x-cache-size": 0}, {"x-cache-ttl": -1}, {"x-deduplication-header": ""}):
        raises(ChannelClosedByBroker, 406, connection.channel().queue_declare, "feature.bad", arguments=arguments)
        raises(ChannelClosedByBroker, 406, connection.channel().exchange_declare, "feature.bad", arguments=arguments)
    raises(ChannelClosedByBroker, 406, connection.channel().exchange_declare, "feature.bad", "x-recent-history",
           arguments={"x-message-deduplication": True})


main()
