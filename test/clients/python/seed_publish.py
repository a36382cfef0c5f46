"""Publishing: properties, mandatory, confirms, alternate exchanges, transactions, frames."""

import pika
from pika.exceptions import ChannelClosedByBroker, NackError, UnroutableError

from support import (
    Inbox, bodies, confirming, connect, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet, wait_until,
)


@snippet
def all_basic_properties_come_back(connection):
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True).method.queue
    sent = {
        "content_type": "application/json",
        "content_encoding": "gzip",
        "headers": {"text": "äöü", "int": 7, "big": 2**40, "neg": -3, "yes": True, "none": None,
                    "list": [1, "two"], "table": {"inner": "x"}},
        "delivery_mode": 2,
        "priority": 3,
        "correlation_id": "request-1",
        "reply_to": "replies",
        "expiration": "60000",
        "message_id": "m-1",
        "timestamp": 1687170000,
        "type": "image.v1",
        "user_id": "guest",
        "app_id": "seed",
        "cluster_id": "reserved",
    }
    channel.basic_publish("", queue, b"{}", pika.BasicProperties(**sent))
    _, got, body = drain(channel, queue)[0]
    equal(body, b"{}", "body")
    equal({name: getattr(got, name) for name in sent}, sent, "properties")


@snippet
def user_id_must_be_the_user(connection):
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True).method.queue
    error = raises(ChannelClosedByBroker, 406, channel.basic_publish, "", queue, b"x",
                   pika.BasicProperties(user_id="somebody"))
    equal(error.reply_text,
          "PRECONDITION_FAILED - user_id property set to 'somebody' but authenticated user was 'guest'", "text")


@snippet
def publish_to_a_missing_exchange_closes_the_channel(connection):
    channel = confirming(connection)
    error = raises(ChannelClosedByBroker, 404, channel.basic_publish, "seed.nowhere", "key", b"x")
    equal(error.reply_text, "NOT_FOUND - no exchange 'seed.nowhere' in vhost '/'", "text")
    equal(connection.is_open, True, "connection after a channel error")


@snippet
def mandatory_and_unroutable(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.test", exchange_type="direct")
    properties = pika.BasicProperties(content_type="text/plain", delivery_mode=pika.DeliveryMode.Transient)
    try:
        channel.basic_publish(exchange="seed.test", routing_key="test", body="Hello World!", properties=properties,
                              mandatory=True)
        raise AssertionError("an unroutable mandatory message was not returned")
    except UnroutableError as error:
        returned = error.messages[0]
        equal((returned.method.reply_code, returned.method.reply_text), (312, "NO_ROUTE"), "return")
        equal((returned.method.exchange, returned.method.routing_key), ("seed.test", "test"), "envelope")
        equal((returned.body, returned.properties.content_type), (b"Hello World!", "text/plain"), "content")

    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(queue, "seed.test", "test")
    channel.basic_publish("seed.test", "test", "routable", mandatory=True)
    equal(bodies(drain(channel, queue)), ["routable"], "routable mandatory message")
    channel.exchange_delete("seed.test")


@snippet
def basic_return_without_confirms(connection):
    channel = connection.channel()
    returned = []
    channel.add_on_return_callback(lambda ch, method, properties, body: returned.append((method.reply_code, body)))
    channel.basic_publish("amq.direct", "seed.nobody", b"dropped silently")
    channel.basic_publish("amq.direct", "seed.nobody", b"come back", mandatory=True)
    wait_until(connection, lambda: returned, "basic.return")
    equal(returned, [(312, b"come back")], "returned")


@snippet
def confirm_of_an_unroutable_message_is_an_ack(connection):
    confirming(connection).basic_publish("amq.direct", "seed.nobody", b"x")  # a nack would raise NackError


@snippet
def nack_of_a_rejected_message(connection):
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True,
                                  arguments={"x-max-length": 1, "x-overflow": "reject-publish"}).method.queue
    channel.basic_publish("", queue, "fits")
    try:
        channel.basic_publish("", queue, "too many")
        raise AssertionError("a rejected publish was confirmed")
    except NackError as error:
        equal(len(error.messages), 0, "returned messages of a nack")
    equal(bodies(drain(channel, queue)), ["fits"], "queue")


@snippet
def alternate_exchange(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "seed.ae", exchange_type="fanout")
    fresh_exchange(channel, "seed.main", exchange_type="direct", arguments={"alternate-exchange": "seed.ae"})
    routed = channel.queue_declare("", exclusive=True).method.queue
    strays = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(routed, "seed.main", "known")
    channel.queue_bind(strays, "seed.ae")
    channel.basic_publish("seed.main", "known", "a", mandatory=True)
    # No UnroutableError: the alternate exchange took it, so mandatory is satisfied.
    channel.basic_publish("seed.main", "unknown", "b", mandatory=True)
    equal(bodies(drain(channel, routed)), ["a"], "bound queue")
    messages = drain(channel, strays)
    equal(bodies(messages), ["b"], "queue of the alternate exchange")
    equal((messages[0][0].exchange, messages[0][0].routing_key), ("seed.main", "unknown"), "envelope of a stray")

    # When the alternate exchange has no queue either, the message does come back.
    channel.queue_delete(strays)
    try:
        channel.basic_publish("seed.main", "unknown", "c", mandatory=True)
        raise AssertionError("unroutable in both exchanges, but not returned")
    except UnroutableError as error:
        equal(error.messages[0].body, b"c", "returned")
    channel.exchange_delete("seed.main")
    channel.exchange_delete("seed.ae")


@snippet
def transaction_commit_and_rollback(connection):
    channel = connection.channel()
    observer = connection.channel()
    queues = [channel.queue_declare("", exclusive=True).method.queue for _ in range(2)]
    channel.tx_select()
    for queue in queues:
        channel.basic_publish("", queue, "rolled back")
    channel.tx_rollback()
    for queue in queues:
        channel.basic_publish("", queue, "first")
        channel.basic_publish("", queue, "second")
        equal(observer.basic_get(queue)[0], None, "message of an open transaction")
    channel.tx_commit()
    for queue in queues:
        equal(bodies(drain(observer, queue)), ["first", "second"], "committed")


@snippet
def transaction_returns_unroutable_before_commit_ok(connection):
    channel = connection.channel()
    returned = []
    channel.add_on_return_callback(lambda ch, method, properties, body: returned.append(body))
    channel.tx_select()
    channel.basic_publish("amq.direct", "seed.nobody", b"stray", mandatory=True)
    channel.tx_commit()
    connection.process_data_events(time_limit=0)
    equal(returned, [b"stray"], "returned by the time of commit-ok")


@snippet
def transaction_and_confirm_do_not_mix(connection):
    transactional = connection.channel()
    transactional.tx_select()
    error = raises(ChannelClosedByBroker, 406, transactional.confirm_delivery)
    equal(error.reply_text, "PRECONDITION_FAILED - cannot switch from tx to confirm mode", "text")
    error = raises(ChannelClosedByBroker, 406, confirming(connection).tx_select)
    equal(error.reply_text, "PRECONDITION_FAILED - cannot switch from confirm to tx mode", "text")
    error = raises(ChannelClosedByBroker, 406, connection.channel().tx_commit)
    equal(error.reply_text, "PRECONDITION_FAILED - channel is not transactional", "text")


@snippet
def delivery_modes(connection):
    channel = confirming(connection)
    fresh_queue(channel, "seed.modes", durable=True)
    for mode in (pika.DeliveryMode.Transient, pika.DeliveryMode.Persistent):
        channel.basic_publish("", "seed.modes", mode.name, pika.BasicProperties(delivery_mode=mode))
    channel.basic_publish("", "seed.modes", "unset")
    got = [(body.decode(), p.delivery_mode) for _, p, body in drain(channel, "seed.modes")]
    equal(got, [("Transient", 1), ("Persistent", 2), ("unset", None)], "delivery modes")
    channel.queue_delete("seed.modes")


@snippet
def bodies_around_the_frame_size(connection):
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True).method.queue
    frame_body = 131072 - 8  # the largest body frame's content at the default frame_max
    for size in (0, 1, frame_body - 1, frame_body, frame_body + 1, 2 * frame_body, 3 * frame_body + 5):
        sent = bytes(n * 31 % 251 for n in range(size))
        channel.basic_publish("", queue, sent)
        _, _, got = drain(channel, queue)[0]
        equal(len(got), size, "size")
        equal(got == sent, True, f"content of {size} bytes comes back as sent")


@snippet
def small_frames(connection):
    with connect(frame_max=4096) as small:
        channel = confirming(small)
        queue = channel.queue_declare("", exclusive=True).method.queue
        sent = bytes(range(256)) * 200
        channel.basic_publish("", queue, sent)
        equal(drain(channel, queue)[0][2] == sent, True, "51,200 bytes in frames of 4,096")


@snippet
def blocked_callbacks_can_be_registered(connection):
    seen = []
    connection.add_on_connection_blocked_callback(lambda conn, method: seen.append("blocked"))
    connection.add_on_connection_unblocked_callback(lambda conn, method: seen.append("unblocked"))
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.basic_publish("", queue, b"x")
    connection.process_data_events(time_limit=0)
    equal(seen, [], "blocked notices of a broker with room")
    equal(connection.publisher_confirms_supported, True, "capability publisher_confirms")
    equal(connection._impl.server_capabilities["connection.blocked"], True, "capability connection.blocked")


@snippet
def heartbeats_keep_an_idle_connection(connection):
    with connect(heartbeat=1) as idle:
        channel = idle.channel()
        inbox = Inbox()
        queue = channel.queue_declare("", exclusive=True).method.queue
        channel.basic_consume(queue, on_message_callback=inbox, auto_ack=True)
        idle.process_data_events(time_limit=3.5)  # more than three heartbeats without any other traffic
        channel.basic_publish("", queue, b"still there")
        equal(inbox.wait(idle, 1)[0][2], b"still there", "message after a pause")


if __name__ == "__main__":
    main()
