"""Delivery limits: a message that is returned too often is dead-lettered, however it was returned."""

from support import Inbox, bodies, confirming, connect, drain, equal, fresh_queue, main, snippet


def limited(channel, limit, **arguments):
    """Declares a queue with a limit, and a queue for its dead letters."""
    fresh_queue(channel, "feature.limit.dead")
    fresh_queue(channel, "feature.limit", durable=True, arguments={
        "x-delivery-limit": limit, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "feature.limit.dead", **arguments})


def counts(inbox):
    """Returns the x-delivery-count of each delivery, None if it is missing."""
    return [(properties.headers or {}).get("x-delivery-count") for _, properties, _ in inbox.messages]


def clean(channel):
    for queue in ("feature.limit", "feature.limit.dead"):
        channel.queue_delete(queue)


@snippet
def nack_and_reject_count(connection):
    channel, inbox = confirming(connection), Inbox()
    limited(channel, 2)
    channel.basic_publish("", "feature.limit", "poison")
    channel.basic_consume("feature.limit", inbox)
    channel.basic_nack(inbox.wait(connection, 1)[0][0].delivery_tag, requeue=True)
    channel.basic_reject(inbox.wait(connection, 2)[1][0].delivery_tag, requeue=True)
    channel.basic_nack(inbox.wait(connection, 3)[2][0].delivery_tag, requeue=True)
    equal(counts(inbox), [None, 1, 2], "x-delivery-count")
    equal(channel.queue_declare("feature.limit", passive=True).method.message_count, 0, "ready")
    dead = Inbox()
    channel.basic_consume("feature.limit.dead", dead, auto_ack=True)
    _, properties, body = dead.wait(connection, 1)[0]
    equal((body, properties.headers["x-death"][0]["reason"], properties.headers["x-first-death-queue"]),
          (b"poison", "delivery_limit", "feature.limit"), "the dead letter")
    clean(channel)


@snippet
def a_closed_connection_counts(connection):
    channel = confirming(connection)
    limited(channel, 1)
    channel.basic_publish("", "feature.limit", "m")
    for _ in range(2):
        other, inbox = connect(), Inbox()
        other.channel().basic_consume("feature.limit", inbox)
        inbox.wait(other, 1)
        other.close()
    equal(bodies(drain(channel, "feature.limit.dead")), ["m"], "dead letters")
    clean(channel)


@snippet
def quorum_queues_have_a_limit_of_20(connection):
    channel, inbox = confirming(connection), Inbox()
    fresh_queue(channel, "feature.limit", durable=True, arguments={"x-queue-type": "quorum"})
    channel.basic_publish("", "feature.limit", "m")
    channel.basic_consume("feature.limit", inbox)
    for i in range(21):
        channel.basic_reject(inbox.wait(connection, i + 1)[i][0].delivery_tag, requeue=True)
    equal(counts(inbox), [None, *range(1, 21)], "x-delivery-count")
    equal(channel.queue_declare("feature.limit", passive=True).method.message_count, 0, "ready")
    channel.queue_delete("feature.limit")


@snippet
def without_a_limit_for_ever(connection):
    channel, inbox = confirming(connection), Inbox()
    limited(channel, -1, **{"x-queue-type": "quorum"})
    channel.basic_publish("", "feature.limit", "m")
    channel.basic_consume("feature.limit", inbox)
    for i in range(30):
        channel.basic_reject(inbox.wait(connection, i + 1)[i][0].delivery_tag, requeue=True)
    equal(len(inbox.wait(connection, 31)), 31, "deliveries")
    clean(channel)


if __name__ == "__main__":
    main()
