"""Single active consumers: one of several gets the messages, another takes over when it ends."""

from pika.exceptions import ChannelClosedByBroker

from support import Inbox, bodies, confirming, connect, equal, fresh_queue, main, raises, snippet


def consume(connection, queue, **kwargs):
    """Starts a consumer on its own channel; returns both and its inbox."""
    channel, inbox = connection.channel(), Inbox()
    tag = channel.basic_consume(queue, inbox, **kwargs)
    return channel, tag, inbox


@snippet
def one_at_a_time_in_order(connection):
    publisher = confirming(connection)
    fresh_queue(publisher, "feature.single", arguments={"x-single-active-consumer": True})
    first, tag, one = consume(connection, "feature.single", auto_ack=True)
    _, _, two = consume(connection, "feature.single", auto_ack=True)
    for i in range(5):
        publisher.basic_publish("", "feature.single", str(i))
    equal(bodies(one.wait(connection, 5)), ["0", "1", "2", "3", "4"], "the active one")
    first.basic_cancel(tag)
    publisher.basic_publish("", "feature.single", "5")
    equal(bodies(two.wait(connection, 1)), ["5"], "its successor")
    publisher.queue_delete("feature.single")


@snippet
def unsettled_messages_go_to_the_successor(connection):
    publisher = confirming(connection)
    fresh_queue(publisher, "feature.single", arguments={"x-single-active-consumer": True})
    dying = connect()
    _, _, one = consume(dying, "feature.single")
    _, _, two = consume(connection, "feature.single", auto_ack=True)
    for body in ("a", "b"):
        publisher.basic_publish("", "feature.single", body)
    one.wait(dying, 2)
    dying.close()
    messages = two.wait(connection, 2)
    equal([(body, method.redelivered) for method, _, body in messages], [(b"a", True), (b"b", True)], "what came back")
    equal(publisher.queue_declare("feature.single", passive=True).method.consumer_count, 1, "consumers")
    publisher.queue_delete("feature.single")


@snippet
def a_higher_priority_takes_over_on_quorum_queues(connection):
    publisher = confirming(connection)
    fresh_queue(publisher, "feature.single.q", durable=True,
                arguments={"x-queue-type": "quorum", "x-single-active-consumer": True})
    low, _, one = consume(connection, "feature.single.q")
    publisher.basic_publish("", "feature.single.q", "a")
    method = one.wait(connection, 1)[0][0]
    _, _, two = consume(connection, "feature.single.q", auto_ack=True, arguments={"x-priority": 1})
    publisher.basic_publish("", "feature.single.q", "b")
    equal(publisher.queue_declare("feature.single.q", passive=True).method.message_count, 1, "held back until the first is settled")
    low.basic_ack(method.delivery_tag)
    equal(bodies(two.wait(connection, 1)), ["b"], "the higher priority")
    publisher.queue_delete("feature.single.q")


@snippet
def exclusive_consumers_are_refused(connection):
    channel = connection.channel()
    fresh_queue(channel, "feature.single", arguments={"x-single-active-consumer": True})
    raises(ChannelClosedByBroker, 403, channel.basic_consume, "feature.single", Inbox(), exclusive=True)
    connection.channel().queue_delete("feature.single")


if __name__ == "__main__":
    main()
