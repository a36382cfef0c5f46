"""Consuming: get and consume, acknowledgements one by one and many at once, prefetch, refusals, transactions."""

import threading

import pika
from pika.exceptions import ChannelClosedByBroker

from support import Inbox, bodies, confirming, connect, drain, equal, fresh_queue, main, raises, snippet, wait_until


def filled(connection, count, **kwargs):
    """Creates an exclusive queue with the bodies "0" to count-1, all confirmed; returns its name."""
    channel = confirming(connection)
    queue = channel.queue_declare("", exclusive=True, **kwargs).method.queue
    for n in range(count):
        channel.basic_publish("", queue, str(n))
    return queue


def ready(connection, queue):
    """Returns the number of ready messages in the queue."""
    channel = connection.channel()
    count = channel.queue_declare(queue, passive=True).method.message_count
    channel.close()
    return count


@snippet
def basic_get(connection):
    queue = filled(connection, 2)
    channel = connection.channel()
    method, properties, body = channel.basic_get(queue)
    equal((method.NAME, method.message_count, method.redelivered, body), ("Basic.GetOk", 1, False, b"0"), "get-ok")
    channel.basic_ack(method.delivery_tag)
    method, _, body = channel.basic_get(queue, auto_ack=True)
    equal((method.message_count, method.delivery_tag, body), (0, 2, b"1"), "second get")
    equal(channel.basic_get(queue), (None, None, None), "get-empty")
    raises(ChannelClosedByBroker, 404, channel.basic_get, "seed.missing")


@snippet
def basic_consume_and_cancel(connection):
    queue = filled(connection, 3)
    channel = connection.channel()
    inbox = Inbox()
    tag = channel.basic_consume(queue, on_message_callback=inbox)
    equal(tag.startswith("ctag"), True, "a tag the client chose")
    inbox.wait(connection, 3)
    equal([(m.consumer_tag, m.delivery_tag, b) for m, _, b in inbox.messages],
          [(tag, 1, b"0"), (tag, 2, b"1"), (tag, 3, b"2")], "deliveries")
    channel.basic_ack(1)
    channel.basic_cancel(tag)
    equal(ready(connection, queue), 0, "ready after cancel: unacknowledged messages stay with the channel")
    channel.close()
    messages = drain(connection.channel(), queue)
    equal([(m.redelivered, b) for m, _, b in messages], [(True, b"1"), (True, b"2")], "after the channel closed")


@snippet
def consumers_take_turns(connection):
    queue = connection.channel().queue_declare("", exclusive=True).method.queue
    inboxes = [Inbox() for _ in range(3)]
    channel = connection.channel()
    for inbox in inboxes:
        channel.basic_consume(queue, on_message_callback=inbox, auto_ack=True)
    publisher = confirming(connection)
    for n in range(9):
        publisher.basic_publish("", queue, str(n))
    wait_until(connection, lambda: sum(len(i.messages) for i in inboxes) == 9, "nine messages")
    equal(sorted(bodies(i.messages) for i in inboxes), [["0", "3", "6"], ["1", "4", "7"], ["2", "5", "8"]], "turns")


@snippet
def consume_without_acknowledgement(connection):
    queue = filled(connection, 100)
    channel = connection.channel()
    channel.basic_qos(prefetch_count=1)  # has no effect without acknowledgements
    inbox = Inbox()
    channel.basic_consume(queue, on_message_callback=inbox, auto_ack=True)
    equal(bodies(inbox.wait(connection, 100)), [str(n) for n in range(100)], "order")
    channel.close()
    equal(ready(connection, queue), 0, "nothing comes back")


@snippet
def prefetch_of_one(connection):
    queue = filled(connection, 4)
    channel = connection.channel()
    channel.basic_qos(prefetch_count=1)
    inbox = Inbox()
    channel.basic_consume(queue, on_message_callback=inbox)
    for n in range(4):
        equal(len(inbox.wait(connection, n + 1)), n + 1, "messages beyond the one allowed")
        equal(ready(connection, queue), 3 - n, "ready")
        channel.basic_ack(inbox.messages[n][0].delivery_tag)


@snippet
def prefetch_per_consumer_and_per_channel(connection):
    for global_qos, want in ((False, [3, 3]), (True, [3, 0])):
        queue = filled(connection, 10)
        channel = connection.channel()
        channel.basic_qos(prefetch_count=3, global_qos=global_qos)
        first, second = Inbox(), Inbox()
        channel.basic_consume(queue, on_message_callback=first)
        first.wait(connection, 3)
        channel.basic_consume(queue, on_message_callback=second)
        if want[1]:
            second.wait(connection, want[1])
        equal(ready(connection, queue), 10 - sum(want), f"ready, global={global_qos}")
        equal([len(first.messages), len(second.messages)], want, f"handed out, global={global_qos}")
        channel.close()


@snippet
def acknowledge_many_at_once(connection):
    queue = filled(connection, 10)
    channel = connection.channel()
    channel.basic_qos(prefetch_count=5)
    inbox = Inbox()
    channel.basic_consume(queue, on_message_callback=inbox)
    inbox.wait(connection, 5)
    channel.basic_ack(3, multiple=True)
    equal(len(inbox.wait(connection, 8)), 8, "three acknowledged, three more handed out")
    channel.basic_ack(0, multiple=True)  # all unacknowledged deliveries
    inbox.wait(connection, 10)
    channel.basic_ack(10)
    channel.close()
    equal([b for _, _, b in drain(connection.channel(), queue)], [b"8"], "the one not acknowledged")


@snippet
def acknowledge_an_unknown_tag(connection):
    queue = filled(connection, 1)
    channel = connection.channel()
    tag = channel.basic_get(queue)[0].delivery_tag
    channel.basic_ack(tag)
    channel.basic_ack(tag)
    error = raises(ChannelClosedByBroker, 406, channel.queue_declare, queue, passive=True)
    equal(error.reply_text, "PRECONDITION_FAILED - unknown delivery tag 1", "text")


@snippet
def close_before_the_acknowledgement(connection):
    publisher = confirming(connection)
    fresh_queue(publisher, "seed.crash")
    for n in range(5):
        publisher.basic_publish("", "seed.crash", str(n))
    victim = connect()
    channel = victim.channel()
    inbox = Inbox()
    channel.basic_consume("seed.crash", on_message_callback=inbox)
    inbox.wait(victim, 5)
    channel.basic_ack(2, multiple=True)
    channel.close()
    victim.close()
    messages = drain(publisher, "seed.crash")
    equal([(m.redelivered, b) for m, _, b in messages], [(True, b"2"), (True, b"3"), (True, b"4")], "given back")
    publisher.queue_delete("seed.crash")


@snippet
def transaction_of_acknowledgements(connection):
    queue = filled(connection, 4)
    channel = connection.channel()
    channel.tx_select()
    tags = [channel.basic_get(queue)[0].delivery_tag for _ in range(4)]
    channel.basic_ack(tags[0])
    channel.basic_ack(tags[1])
    channel.tx_commit()
    channel.basic_ack(tags[2])
    channel.tx_rollback()
    channel.basic_ack(tags[3])  # never committed
    channel.close()
    equal([b for _, _, b in drain(connection.channel(), queue)], [b"2", b"3"], "rolled back, and never committed")


@snippet
def transaction_of_an_ack_and_a_publish(connection):
    source, target = filled(connection, 1), filled(connection, 0)
    channel = connection.channel()
    channel.tx_select()
    method, _, body = channel.basic_get(source)
    channel.basic_publish("", target, body)
    channel.basic_ack(method.delivery_tag)
    equal(ready(connection, target), 0, "before the commit")
    channel.tx_commit()
    channel.close()
    equal((ready(connection, source), ready(connection, target)), (0, 1), "moved")


@snippet
def reject(connection):
    queue = filled(connection, 3)
    channel = connection.channel()
    tag = channel.basic_get(queue)[0].delivery_tag
    channel.basic_reject(tag, requeue=True)
    method, _, body = channel.basic_get(queue)
    equal((method.redelivered, body), (True, b"0"), "requeued to its place, marked")
    channel.basic_reject(method.delivery_tag, requeue=False)
    method, _, body = channel.basic_get(queue, auto_ack=True)
    equal((method.redelivered, body, method.message_count), (False, b"1", 1), "after a message was thrown away")


@snippet
def nack_many(connection):
    queue = filled(connection, 6)
    channel = connection.channel()
    tags = [channel.basic_get(queue)[0].delivery_tag for _ in range(5)]
    channel.basic_nack(tags[1], multiple=True, requeue=False)
    channel.basic_nack(tags[4], multiple=True, requeue=True)
    got = [(m.redelivered, b) for m, _, b in drain(channel, queue)]
    equal(got, [(True, b"2"), (True, b"3"), (True, b"4"), (False, b"5")], "thrown away 0 and 1, requeued 2 to 4")


@snippet
def recover(connection):
    queue = filled(connection, 3)
    channel = connection.channel()
    inbox = Inbox()
    channel.basic_consume(queue, on_message_callback=inbox)
    inbox.wait(connection, 3)
    channel.basic_ack(1)
    channel.basic_recover(requeue=True)
    again = inbox.wait(connection, 5)[3:]
    equal([(m.redelivered, m.delivery_tag, b) for m, _, b in again], [(True, 4, b"1"), (True, 5, b"2")], "again")


@snippet
def cancel_notification(connection):
    publisher = connection.channel()
    fresh_queue(publisher, "seed.cancelled")
    with connect() as consumer:
        channel = consumer.channel()
        cancelled = []
        channel.add_on_cancel_callback(lambda frame: cancelled.append(frame.method.consumer_tag))
        tag = channel.basic_consume("seed.cancelled", on_message_callback=Inbox())
        publisher.queue_delete("seed.cancelled")
        wait_until(consumer, lambda: cancelled, "basic.cancel of the broker")
        equal(cancelled, [tag], "cancelled consumer")


@snippet
def consumer_priority(connection):
    queue = connection.channel().queue_declare("", exclusive=True).method.queue
    channel = connection.channel()
    channel.basic_qos(prefetch_count=2)
    low, high = Inbox(), Inbox()
    channel.basic_consume(queue, on_message_callback=low)
    channel.basic_consume(queue, on_message_callback=high, arguments={"x-priority": 10})
    publisher = confirming(connection)
    for n in range(3):
        publisher.basic_publish("", queue, str(n))
    wait_until(connection, lambda: len(low.messages) + len(high.messages) == 3, "three messages")
    equal((bodies(high.messages), bodies(low.messages)), (["0", "1"], ["2"]), "the preferred one first, while it has room")


@snippet
def publishing_continues_beside_a_busy_consumer(connection):
    """One connection fills a queue while another empties it, as separate programs would."""
    fresh_queue(connection.channel(), "seed.stream")

    def publish():
        with connect() as own:
            channel = own.channel()
            for n in range(5000):
                channel.basic_publish("", "seed.stream", str(n), pika.BasicProperties(delivery_mode=1))

    publisher = threading.Thread(target=publish)
    publisher.start()
    channel = connection.channel()
    channel.basic_qos(prefetch_count=100)
    got = []
    for method, _, body in channel.consume("seed.stream"):
        got.append(int(body))
        if len(got) % 50 == 0:
            channel.basic_ack(method.delivery_tag, multiple=True)
        if len(got) == 5000:
            break
    channel.cancel()
    publisher.join()
    equal(got == list(range(5000)), True, "5000 messages in order")
    channel.queue_delete("seed.stream")


if __name__ == "__main__":
    main()
