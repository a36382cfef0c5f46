"""Queues: their arguments and lifetimes, dead-lettering, limits, priorities."""

import time

import pika
from pika.exceptions import ChannelClosedByBroker, UnroutableError

from support import (
    Inbox, bodies, confirming, connect, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet, wait_until,
)


def exists(connection, queue):
    """Reports whether the queue exists, by a passive declare on a separate channel."""
    channel = connection.channel()
    try:
        channel.queue_declare(queue, passive=True)
    except ChannelClosedByBroker as error:
        equal(error.reply_text, f"NOT_FOUND - no queue '{queue}' in vhost '/'", "text")
        return False
    channel.close()
    return True


@snippet
def declare_counts_and_names(connection):
    channel = confirming(connection)
    fresh_queue(channel, "seed.counted")
    for body in ("a", "b"):
        channel.basic_publish("", "seed.counted", body)
    inbox = Inbox()
    equal(channel.queue_declare("seed.counted", passive=True).method.message_count, 2, "ready")
    channel.basic_qos(prefetch_count=1)
    channel.basic_consume("seed.counted", on_message_callback=inbox)
    inbox.wait(connection, 1)
    declared = channel.queue_declare("seed.counted").method
    equal((declared.queue, declared.message_count, declared.consumer_count), ("seed.counted", 1, 1), "declare-ok")
    equal(channel.queue_purge("seed.counted").method.message_count, 1, "purged: the ready one only")
    equal(channel.queue_delete("seed.counted").method.message_count, 0, "ready messages deleted with the queue")
    equal(channel.queue_delete("seed.counted").method.message_count, 0, "deleting a missing queue is fine")


@snippet
def settings_are_immutable(connection):
    channel = connection.channel()
    fresh_queue(channel, "seed.immutable", arguments={"x-max-length": 5})
    error = raises(ChannelClosedByBroker, 406, channel.queue_declare, "seed.immutable", durable=True,
                   arguments={"x-max-length": 5})
    equal(error.reply_text,
          "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'seed.immutable' in vhost '/': "
          "received 'true' but current is 'false'", "text")
    error = raises(ChannelClosedByBroker, 406, connection.channel().queue_declare, "seed.immutable",
                   arguments={"x-max-length": 6})
    equal(error.reply_text,
          "PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'seed.immutable' in vhost '/': "
          "received '6' but current is '5'", "text")
    error = raises(ChannelClosedByBroker, 406, connection.channel().queue_declare, "seed.immutable")
    equal(error.reply_text,
          "PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'seed.immutable' in vhost '/': "
          "received none but current is the value '5' of type 'signedint'", "text")
    connection.channel().queue_delete("seed.immutable")


@snippet
def bad_arguments_are_refused(connection):
    for arguments in ({"x-message-ttl": -1}, {"x-expires": 0}, {"x-max-length": "five"}, {"x-max-priority": 256},
                      {"x-dead-letter-routing-key": "no exchange"}, {"x-overflow": "explode"}):
        raises(ChannelClosedByBroker, 406, connection.channel().queue_declare, "seed.bad", arguments=arguments)
    equal(exists(connection, "seed.bad"), False, "queue with refused arguments")


@snippet
def high_availability_arguments_are_accepted(connection):
    channel = confirming(connection)
    for arguments in ({"x-ha-policy": "all"},
                      {"x-ha-policy": "nodes", "x-ha-nodes": ["rabbit@node1", "rabbit@node2", "rabbit@node3"]},
                      {"x-queue-mode": "lazy"}, {"x-queue-type": "classic"}):
        fresh_queue(channel, "seed.ha", durable=True, arguments=arguments)
        channel.queue_declare("seed.ha", durable=True, arguments=arguments)
        channel.basic_publish("", "seed.ha", "works")
        equal(bodies(drain(channel, "seed.ha")), ["works"], str(arguments))
        channel.queue_delete("seed.ha")


@snippet
def auto_delete_goes_with_its_last_consumer(connection):
    channel = connection.channel()
    result = channel.queue_declare(queue="", exclusive=True, auto_delete=True)
    equal(exists(connection, result.method.queue), True, "auto-delete queue that never had a consumer")
    tags = [channel.basic_consume(result.method.queue, on_message_callback=Inbox()) for _ in range(2)]
    channel.basic_cancel(tags[0])
    equal(exists(connection, result.method.queue), True, "with one consumer left")
    channel.basic_cancel(tags[1])
    equal(exists(connection, result.method.queue), False, "after the last consumer")


@snippet
def exclusive_belongs_to_its_connection(connection):
    owner = connect()
    queue = owner.channel().queue_declare("seed.exclusive", exclusive=True).method.queue
    equal(exists(owner, queue), True, "for its owner")
    error = raises(ChannelClosedByBroker, 405, connection.channel().queue_declare, queue, passive=True)
    equal(error.reply_text.startswith(
        "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'seed.exclusive' in vhost '/'"), True,
        error.reply_text)
    raises(ChannelClosedByBroker, 405, connection.channel().basic_consume, queue, on_message_callback=Inbox())
    owner.close()
    equal(exists(connection, queue), False, "right after its connection has closed")


@snippet
def only_one_consumer(connection):
    channel = connection.channel()
    fresh_queue(channel, "seed.single")
    channel.basic_consume("seed.single", on_message_callback=Inbox(), exclusive=True)
    error = raises(ChannelClosedByBroker, 403, connection.channel().basic_consume, "seed.single",
                   on_message_callback=Inbox())
    equal(error.reply_text.startswith("ACCESS_REFUSED - queue 'seed.single' in vhost '/' in exclusive use"), True,
          error.reply_text)
    channel.queue_delete("seed.single")


@snippet
def expires_when_unused(connection):
    channel = connection.channel()
    fresh_queue(channel, "seed.expires", arguments={"x-expires": 1000})
    fresh_queue(channel, "seed.consumed", arguments={"x-expires": 1000})
    channel.basic_consume("seed.consumed", on_message_callback=Inbox())
    start = time.monotonic()

    def unroutable():  # a passive declare would count as use and keep the queue alive
        try:
            confirmed.basic_publish("", "seed.expires", b"", mandatory=True)
        except UnroutableError:
            return True
        return False

    confirmed = confirming(connection)
    wait_until(connection, unroutable, "x-expires")
    equal(time.monotonic() - start > 0.9, True, "lived about as long as it may")
    equal(exists(connection, "seed.consumed"), True, "queue with a consumer")
    channel.queue_delete("seed.consumed")


@snippet
def durable_queue(connection):
    channel = connection.channel()
    fresh_queue(channel, "seed.task_queue", durable=True)
    channel.queue_declare(queue="seed.task_queue", durable=True)
    with connect() as other:
        equal(exists(other, "seed.task_queue"), True, "on another connection")
    channel.queue_delete("seed.task_queue")


@snippet
def message_ttl_of_the_queue(connection):
    channel = confirming(connection)
    fresh_queue(channel, "seed.hello", arguments={"x-message-ttl": 1000})
    start = time.monotonic()
    channel.basic_publish("", "seed.hello", "short-lived")
    wait_until(connection, lambda: channel.queue_declare("seed.hello", passive=True).method.message_count == 0, "ttl")
    equal(time.monotonic() - start > 0.9, True, "lived about as long as it may")
    channel.queue_delete("seed.hello")


@snippet
def expiration_of_a_message(connection):
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.basic_publish("", queue, "brief", pika.BasicProperties(expiration="300"))
    channel.basic_publish("", queue, "lasting", pika.BasicProperties(expiration="3600000"))
    channel.basic_publish("", queue, "for ever")
    wait_until(connection, lambda: channel.queue_declare(queue, passive=True).method.message_count == 2, "expiration")
    messages = drain(channel, queue)
    equal(bodies(messages), ["lasting", "for ever"], "what is left")
    equal(messages[0][1].expiration, "3600000", "expiration of a delivered message")
    error = raises(ChannelClosedByBroker, 406, channel.basic_publish, "", queue, b"x",
                   pika.BasicProperties(expiration="soon"))
    equal("invalid expiration 'soon'" in error.reply_text, True, error.reply_text)


@snippet
def dead_letter_by_ttl(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.dlx", exchange_type="direct")
    graveyard = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(graveyard, "seed.dlx", "seed.task_queue")  # the original routing key is kept
    fresh_queue(channel, "seed.task_queue", arguments={"x-message-ttl": 300, "x-dead-letter-exchange": "seed.dlx"})
    inbox = Inbox()
    channel.basic_consume(graveyard, on_message_callback=inbox, auto_ack=True)
    channel.basic_publish("", "seed.task_queue", "late", pika.BasicProperties(headers={"mine": 1}, expiration="100000"))
    method, properties, body = inbox.wait(connection, 1)[0]
    equal((method.exchange, method.routing_key, body), ("seed.dlx", "seed.task_queue", b"late"), "dead letter")
    equal(properties.expiration, None, "expiration of a dead letter")
    death = properties.headers["x-death"][0]
    equal({key: death[key] for key in ("count", "reason", "queue", "exchange", "routing-keys")},
          {"count": 1, "reason": "expired", "queue": "seed.task_queue", "exchange": "",
           "routing-keys": ["seed.task_queue"]}, "x-death")
    equal(death["original-expiration"], "100000", "original-expiration")
    first = {key: properties.headers[f"x-first-death-{key}"] for key in ("reason", "queue", "exchange")}
    equal(first, {"reason": "expired", "queue": "seed.task_queue", "exchange": ""}, "x-first-death")
    equal(properties.headers["mine"], 1, "own header")
    channel.queue_delete("seed.task_queue")
    channel.exchange_delete("seed.dlx")


@snippet
def dead_letter_with_a_routing_key_by_reject(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.dlx", exchange_type="direct")
    graveyard = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(graveyard, "seed.dlx", "dl")
    queue = channel.queue_declare("", exclusive=True, arguments={
        "x-dead-letter-exchange": "seed.dlx", "x-dead-letter-routing-key": "dl"}).method.queue
    channel.queue_bind(queue, "amq.direct", "work")
    channel.basic_publish("amq.direct", "work", "bad")
    for expected in (1, 2):
        channel.basic_reject(channel.basic_get(queue)[0].delivery_tag, requeue=False)
        inbox = Inbox()
        tag = channel.basic_consume(graveyard, on_message_callback=inbox, auto_ack=True)
        method, properties, body = inbox.wait(connection, 1)[0]
        channel.basic_cancel(tag)
        equal((method.routing_key, body), ("dl", b"bad"), "dead letter")
        deaths = properties.headers["x-death"]
        equal([(d["reason"], d["queue"], d["count"]) for d in deaths], [("rejected", queue, expected)], "x-death")
        channel.basic_publish("amq.direct", "work", body, properties)  # try again, with its history
    equal(deaths[0]["exchange"], "amq.direct", "exchange of the death")
    channel.exchange_delete("seed.dlx")


@snippet
def max_length_drops_the_oldest(connection):
    channel = confirming(connection)
    fresh_queue(channel, "seed.hello", arguments={"x-max-length": 5})
    for n in range(8):
        channel.basic_publish("", "seed.hello", str(n))
    equal(bodies(drain(channel, "seed.hello")), ["3", "4", "5", "6", "7"], "the newest five")
    channel.queue_delete("seed.hello")


@snippet
def max_length_bytes_counts_bodies(connection):
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True, arguments={"x-max-length-bytes": 25}).method.queue
    for n in range(4):
        channel.basic_publish("", queue, str(n) * 10)
    equal(bodies(drain(channel, queue)), ["2" * 10, "3" * 10], "what fits into 25 bytes")


@snippet
def max_length_dead_letters(connection):
    channel = confirming(connection)
    graveyard = channel.queue_declare("", exclusive=True).method.queue
    queue = channel.queue_declare("", exclusive=True, arguments={
        "x-max-length": 1, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": graveyard}).method.queue
    for body in ("old", "new"):
        channel.basic_publish("", queue, body)
    inbox = Inbox()
    channel.basic_consume(graveyard, on_message_callback=inbox, auto_ack=True)
    messages = inbox.wait(connection, 1)
    equal(bodies(messages), ["old"], "dead letter")
    equal(messages[0][1].headers["x-death"][0]["reason"], "maxlen", "reason")
    equal(bodies(drain(channel, queue)), ["new"], "queue")


@snippet
def priorities(connection):
    channel = confirming(connection)
    sent = [0, 9, 5, None, 9, 5, 200]
    plain = channel.queue_declare("", exclusive=True).method.queue
    ordered = channel.queue_declare("", exclusive=True, arguments={"x-max-priority": 10}).method.queue
    for queue in (plain, ordered):
        for n, priority in enumerate(sent):
            channel.basic_publish("", queue, f"{n}:{priority}", pika.BasicProperties(priority=priority))
    equal(bodies(drain(channel, plain)), [f"{n}:{p}" for n, p in enumerate(sent)], "queue without x-max-priority")
    equal(bodies(drain(channel, ordered)), ["6:200", "1:9", "4:9", "2:5", "5:5", "0:0", "3:None"],
          "queue with x-max-priority")


if __name__ == "__main__":
    main()
