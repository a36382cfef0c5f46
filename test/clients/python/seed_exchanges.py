"""Exchanges: declaring, direct, fanout, topic, headers, consistent hash, exchange-to-exchange bindings."""

import collections

import pika
from pika.exceptions import ChannelClosedByBroker, ConnectionClosedByBroker

from support import (
    Inbox, bodies, confirming, connect, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet,
)


@snippet
def declare_every_type(connection):
    channel = connection.channel()
    for kind in ("direct", "fanout", "topic", "headers", "x-consistent-hash"):
        name = fresh_exchange(channel, f"seed.type.{kind}", exchange_type=kind)
        channel.exchange_declare(name, exchange_type=kind)  # repeating it is allowed
        channel.exchange_declare(name, passive=True)
        channel.exchange_delete(name)
        error = raises(ChannelClosedByBroker, 404, connection.channel().exchange_declare, name, passive=True)
        equal(error.reply_text, f"NOT_FOUND - no exchange '{name}' in vhost '/'", "text")


@snippet
def declare_failures(connection):
    channel = connection.channel()
    fresh_exchange(channel, "seed.fixed", exchange_type="direct")
    error = raises(ChannelClosedByBroker, 406, channel.exchange_declare, "seed.fixed", exchange_type="fanout")
    equal(error.reply_text,
          "PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'seed.fixed' in vhost '/': "
          "received 'fanout' but current is 'direct'", "text")
    connection.channel().exchange_delete("seed.fixed")
    error = raises(ChannelClosedByBroker, 403, connection.channel().exchange_declare, "amq.mine")
    equal("reserved prefix" in error.reply_text, True, error.reply_text)
    # RabbitMQ 3 closes the connection with 503 here, newer ones the channel with 406.
    stranger = connect()
    try:
        stranger.channel().exchange_declare("seed.unknown", exchange_type="no-such-type")
        raise AssertionError("an unknown exchange type was accepted")
    except (ChannelClosedByBroker, ConnectionClosedByBroker) as error:
        equal(error.reply_code in (406, 503), True, f"refused: {error!r}")
        equal("exchange type 'no-such-type'" in error.reply_text, True, error.reply_text)
    if stranger.is_open:
        stranger.close()


@snippet
def durable_auto_delete_and_internal(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.inner", exchange_type="fanout", internal=True)
    fresh_exchange(channel, "seed.outer", exchange_type="fanout", durable=True, auto_delete=True)
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(queue, "seed.inner")
    channel.exchange_bind("seed.inner", "seed.outer")
    channel.basic_publish("seed.outer", "", "through")
    equal(bodies(drain(channel, queue)), ["through"], "via the internal exchange")

    error = raises(ChannelClosedByBroker, 403, confirming(connection).basic_publish, "seed.inner", "", b"x")
    equal(error.reply_text,
          "ACCESS_REFUSED - cannot publish to internal exchange 'seed.inner' in vhost '/'", "text")

    channel.exchange_unbind("seed.inner", "seed.outer")  # the last binding: auto-delete
    raises(ChannelClosedByBroker, 404, connection.channel().exchange_declare, "seed.outer", passive=True)
    channel.exchange_delete("seed.inner")


@snippet
def default_exchange_routes_by_queue_name(connection):
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.basic_publish("", queue, "direct to the queue")
    equal(bodies(drain(channel, queue)), ["direct to the queue"], "queue")
    raises(ChannelClosedByBroker, 403, connection.channel().queue_bind, queue, "")


@snippet
def binding_needs_both_sides(connection):
    queue = connection.channel().queue_declare("", exclusive=True).method.queue
    error = raises(ChannelClosedByBroker, 404, connection.channel().queue_bind, queue, "seed.missing", "key")
    equal(error.reply_text, "NOT_FOUND - no exchange 'seed.missing' in vhost '/'", "text")
    error = raises(ChannelClosedByBroker, 404, connection.channel().queue_bind, "seed.missing", "amq.direct", "key")
    equal(error.reply_text, "NOT_FOUND - no queue 'seed.missing' in vhost '/'", "text")
    connection.channel().queue_unbind(queue, "amq.direct", "never bound")  # not an error


@snippet
def direct_exchange(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.direct_logs", exchange_type="direct")
    queues = [channel.queue_declare("", exclusive=True).method.queue for _ in range(3)]
    for queue, key in zip(queues, ("info", "info", "in*")):
        channel.queue_bind(queue, "seed.direct_logs", key)
    channel.queue_bind(queues[0], "seed.direct_logs", "info")  # the same binding twice is one binding
    channel.basic_publish("seed.direct_logs", "info", "message")
    equal([bodies(drain(channel, queue)) for queue in queues], [["message"], ["message"], []],
          "queues bound with the key, with the key, with something like a pattern")
    channel.exchange_delete("seed.direct_logs")


@snippet
def fanout_logs(connection):
    channel = connection.channel()
    fresh_exchange(channel, "seed.logs", exchange_type="fanout")
    queue_name = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(exchange="seed.logs", queue=queue_name)
    inbox = Inbox()
    channel.basic_consume(queue=queue_name, on_message_callback=inbox, auto_ack=True)
    producer = connect()
    producer.channel().basic_publish(exchange="seed.logs", routing_key="", body="message")
    producer.close()
    equal(bodies(inbox.wait(connection, 1)), ["message"], "log")
    channel.exchange_delete("seed.logs")


@snippet
def topic_logs(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.topic_logs", exchange_type="topic")
    keys = {"*.info": ["anonymous.info", "image.info"], "image.new.profile": ["image.new.profile"],
            "image.*.profile": ["image.new.profile", "image.delete.profile"],
            "image.#": ["image.new.profile", "image.delete.profile", "image.info", "image"],
            "#.profile": ["image.new.profile", "image.delete.profile", "profile"]}
    queues = {}
    for key in keys:
        queues[key] = channel.queue_declare("", exclusive=True).method.queue
        channel.queue_bind(queue=queues[key], exchange="seed.topic_logs", routing_key=key)
    for key in ("anonymous.info", "image.new.profile", "image.delete.profile", "image.info", "image", "profile"):
        channel.basic_publish(exchange="seed.topic_logs", routing_key=key, body=key)
    for key, want in keys.items():
        equal(bodies(drain(channel, queues[key])), want, f"binding {key}")
    channel.exchange_delete("seed.topic_logs")


@snippet
def headers_exchange(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.testing", exchange_type="headers")
    fields = {"source": "profile", "object": "image", "action": "new"}
    bindings = {
        "all": {"x-match": "all", **fields},
        "any": {"x-match": "any", **fields},
        "default is all": dict(fields),
        "present": {"x-match": "all", "source": None},
        "number": {"x-match": "all", "size": 10},
        "all ignores x-": {"x-match": "all", "source": "profile", "x-tenant": "a"},
    }
    queues = {}
    for name, arguments in bindings.items():
        queues[name] = channel.queue_declare("", exclusive=True).method.queue
        channel.queue_bind(exchange="seed.testing", queue=queues[name], routing_key="", arguments=arguments)

    messages = {
        "complete": {**fields, "more": 1},
        "partial": {"action": "new"},
        "other value": {"source": "gallery", "object": "video", "action": "delete"},
        "sized": {"size": 10},
        "none": None,
    }
    for body, headers in messages.items():
        channel.basic_publish("seed.testing", "", body, pika.BasicProperties(headers=headers))
    want = {
        "all": ["complete"],
        "any": ["complete", "partial"],
        "default is all": ["complete"],
        "present": ["complete", "other value"],
        "number": ["sized"],
        "all ignores x-": ["complete"],
    }
    for name in bindings:
        equal(bodies(drain(channel, queues[name])), want[name], f"binding {name!r}")
    channel.exchange_delete("seed.testing")


@snippet
def headers_exchange_with_x(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.with_x", exchange_type="headers")
    queues = {}
    for match in ("all-with-x", "any-with-x"):
        queues[match] = channel.queue_declare("", exclusive=True).method.queue
        channel.queue_bind(queues[match], "seed.with_x", "", {"x-match": match, "kind": "a", "x-tenant": "t"})
    for body, headers in {"both": {"kind": "a", "x-tenant": "t"}, "tenant": {"x-tenant": "t"}, "neither": {"kind": "b"}}.items():
        channel.basic_publish("seed.with_x", "", body, pika.BasicProperties(headers=headers))
    equal(bodies(drain(channel, queues["all-with-x"])), ["both"], "all-with-x")
    equal(bodies(drain(channel, queues["any-with-x"])), ["both", "tenant"], "any-with-x")
    raises(ChannelClosedByBroker, 406, connection.channel().queue_bind, queues["all-with-x"], "seed.with_x", "",
           {"x-match": "some"})
    channel.exchange_delete("seed.with_x")


@snippet
def exchange_to_exchange(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.parent_exchange", exchange_type="fanout")
    fresh_exchange(channel, "seed.child_exchange", exchange_type="direct")
    channel.exchange_bind(destination="seed.child_exchange", source="seed.parent_exchange", routing_key="routing_key")
    both = channel.queue_declare("", exclusive=True).method.queue
    other = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(both, "seed.child_exchange", "a")
    channel.queue_bind(both, "seed.parent_exchange")
    channel.queue_bind(other, "seed.child_exchange", "b")
    # A loop between the two exchanges must neither hang nor duplicate.
    channel.exchange_bind(destination="seed.parent_exchange", source="seed.child_exchange", routing_key="a")
    channel.basic_publish("seed.parent_exchange", "a", "to a")
    channel.basic_publish("seed.parent_exchange", "b", "to b")
    channel.basic_publish("seed.child_exchange", "b", "child only")
    equal(bodies(drain(channel, both)), ["to a", "to b"], "queue reached on two ways, once per message")
    equal(bodies(drain(channel, other)), ["to b", "child only"], "queue behind the child")
    channel.exchange_delete("seed.parent_exchange")
    channel.basic_publish("seed.child_exchange", "a", "parent is gone")
    equal(bodies(drain(channel, both)), ["parent is gone"], "after the parent was deleted")
    channel.exchange_delete("seed.child_exchange")


def consistent_hash(connection, arguments, publish):
    """Binds q1, q2 with weight 1 and q3, q4 with weight 2, calls publish(channel, n) for 1200 n and returns
    {queue: bodies}; a message must be in exactly one queue."""
    channel = confirming(connection)
    fresh_exchange(channel, "seed.e", exchange_type="x-consistent-hash", durable=True, arguments=arguments)
    queues = {}
    for name, weight in {"q1": "1", "q2": "1", "q3": "2", "q4": "2"}.items():
        queues[name] = fresh_queue(channel, f"seed.{name}", durable=True)
        channel.queue_bind(exchange="seed.e", queue=queues[name], routing_key=weight)
    for n in range(1200):
        publish(channel, n)
    got = {name: bodies(drain(channel, queue)) for name, queue in queues.items()}
    equal(sorted(int(b) for bs in got.values() for b in bs), list(range(1200)), "each message in exactly one queue")
    channel.exchange_delete("seed.e")
    for queue in queues.values():
        channel.queue_delete(queue)
    return got


def check_weights(got):
    """1200 messages over weights 1:1:2:2 are about 200, 200, 400, 400."""
    for name, share in {"q1": 200, "q2": 200, "q3": 400, "q4": 400}.items():
        equal(share * 0.6 < len(got[name]) < share * 1.4, True, f"{len(got[name])} of about {share} in {name}")


@snippet
def consistent_hash_of_the_routing_key(connection):
    got = consistent_hash(connection, None, lambda channel, n: channel.basic_publish("seed.e", f"user.{n}", str(n)))
    check_weights(got)


@snippet
def consistent_hash_keeps_a_key_together(connection):
    got = consistent_hash(connection, None, lambda channel, n: channel.basic_publish("seed.e", f"user.{n % 40}", str(n)))
    homes = collections.defaultdict(set)
    for name, numbers in got.items():
        for n in numbers:
            homes[int(n) % 40].add(name)
        equal([int(n) for n in numbers], sorted(int(n) for n in numbers), f"order in {name}")
    equal({len(names) for names in homes.values()}, {1}, "queues per routing key")


@snippet
def consistent_hash_of_a_header_and_of_a_property(connection):
    check_weights(consistent_hash(connection, {"hash-header": "user"}, lambda channel, n: channel.basic_publish(
        "seed.e", "same", str(n), pika.BasicProperties(headers={"user": f"u{n}"}))))
    check_weights(consistent_hash(connection, {"hash-property": "message_id"}, lambda channel, n: channel.basic_publish(
        "seed.e", "same", str(n), pika.BasicProperties(message_id=f"m{n}"))))


if __name__ == "__main__":
    main()
