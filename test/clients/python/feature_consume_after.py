"""consume_after: a message waits until others are gone."""

import pika

from support import Inbox, bodies, confirming, drain, equal, fresh_queue, main, snippet

ORDERED = {"x-consume-after": True}


def publish(channel, queue, message_id, after=None, **properties):
    """Publishes a message whose body is its id."""
    headers = {} if after is None else {"consume_after": after}
    properties = pika.BasicProperties(message_id=message_id, headers=headers, delivery_mode=2, **properties)
    channel.basic_publish("", queue, message_id.encode(), properties)


def ready(channel, queue):
    """Returns the number of ready messages."""
    return channel.queue_declare(queue, passive=True).method.message_count


@snippet
def a_saga(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.after", durable=True, arguments=ORDERED)
    publish(channel, queue, "create")
    publish(channel, queue, "limit", ["create"])
    publish(channel, queue, "place", ["create", "elsewhere"])
    publish(channel, queue, "delete", "{limit,place}")
    equal(ready(channel, queue), 1, "the others are blocked")
    inbox, worker = Inbox(), connection.channel()
    worker.basic_consume(queue, inbox)
    inbox.wait(connection, 1)
    worker.basic_nack(inbox.messages[0][0].delivery_tag, requeue=True)
    inbox.wait(connection, 2)
    worker.basic_ack(inbox.messages[1][0].delivery_tag)
    inbox.wait(connection, 4)
    worker.basic_ack(inbox.messages[3][0].delivery_tag)
    equal(ready(channel, queue), 0, "delete waits for both")
    worker.basic_ack(inbox.messages[2][0].delivery_tag)
    inbox.wait(connection, 5)
    equal(bodies(inbox.messages), ["create", "create", "limit", "place", "delete"], "order")


@snippet
def across_queues(connection):
    channel = confirming(connection)
    dead = fresh_queue(channel, "feature.after.dead", durable=True, arguments=ORDERED)
    first = fresh_queue(channel, "feature.after.1", durable=True, arguments={
        **ORDERED, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead})
    second = fresh_queue(channel, "feature.after.2", durable=True, arguments=ORDERED)
    publish(channel, first, "create")
    publish(channel, second, "bill", ["create"])
    equal(ready(channel, second), 0, "it waits for a message of another queue")
    channel.basic_reject(channel.basic_get(first)[0].delivery_tag, requeue=False)
    equal(ready(channel, second), 0, "which is dead now and still there")
    equal(bodies(drain(channel, dead)), ["create"], "the dead one waits for nothing")
    equal(bodies(drain(channel, second)), ["bill"], "it is over")


@snippet
def only_what_is_not_there_does_not_block(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.after", durable=True, arguments=ORDERED)
    publish(channel, queue, "a", ["a"])  # itself
    publish(channel, queue, "b", ["c"])  # published later
    publish(channel, queue, "c", "nowhere")
    equal(bodies(drain(channel, queue)), ["a", "c", "b"], "b waits for c")


@snippet
def every_end_of_the_other_counts(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.after", durable=True, arguments={
        **ORDERED, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "feature.nowhere"})
    publish(channel, queue, "rejected")
    publish(channel, queue, "one", "rejected")
    channel.basic_reject(channel.basic_get(queue)[0].delivery_tag, requeue=False)
    equal(bodies(drain(channel, queue)), ["one"], "after a reject")
    publish(channel, queue, "purged")
    publish(channel, queue, "two", "purged")
    equal(channel.queue_purge(queue).method.message_count, 1, "only what is ready is purged")
    equal(bodies(drain(channel, queue)), ["two"], "after a purge")
    publish(channel, queue, "short", expiration="1")
    publish(channel, queue, "three", "short")
    inbox = Inbox()
    connection.sleep(0.05)
    channel.basic_consume(queue, inbox, auto_ack=True)
    equal(bodies(inbox.wait(connection, 1)), ["three"], "after an expiry")


@snippet
def only_where_it_is_asked_for(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.after", durable=True)
    publish(channel, queue, "1")
    publish(channel, queue, "2", ["1"])
    equal(ready(channel, queue), 2, "a queue without the option")
    channel.queue_delete(queue)


main()
