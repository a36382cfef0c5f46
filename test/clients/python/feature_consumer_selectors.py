"""Consumers with x-selector: each gets the messages that it selects, and the others stay."""

import pika
from pika.exceptions import ChannelClosedByBroker

from support import Inbox, bodies, confirming, drain, equal, fresh_queue, main, raises, snippet, wait_until


def publish(channel, queue, body, **headers):
    channel.basic_publish("", queue, body.encode(), pika.BasicProperties(headers=headers, delivery_mode=2))


def consumer(connection, queue, selector, prefetch=10, **arguments):
    """Starts a consumer on its own channel; returns the channel and the inbox."""
    channel, inbox = connection.channel(), Inbox()
    channel.basic_qos(prefetch_count=prefetch)
    if selector is not None:
        arguments["x-selector"] = selector
    channel.basic_consume(queue, inbox, arguments=arguments)
    return channel, inbox


@snippet
def each_gets_its_own(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.selective", durable=True)
    for n in range(6):
        publish(channel, queue, f"m{n}", amount=n * 100, region=["EU", "US"][n % 2])
    _, large = consumer(connection, queue, "amount >= 400")
    _, us = consumer(connection, queue, "region = 'US' AND amount < 400")
    wait_until(connection, lambda: len(large.messages) == 2 and len(us.messages) == 2, "what matches")
    equal((bodies(large.messages), bodies(us.messages)), (["m4", "m5"], ["m1", "m3"]), "deliveries")
    equal(channel.queue_declare(queue, passive=True).method.message_count, 2, "the rest stays, ready")
    _, rest = consumer(connection, queue, None)
    equal(bodies(rest.wait(connection, 2)), ["m0", "m2"], "for one that takes everything")


@snippet
def a_full_consumer_holds_up_only_its_own(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.selective", durable=True)
    slow, red = consumer(connection, queue, "color = 'red'", prefetch=1)
    _, blue = consumer(connection, queue, "color = 'blue'", prefetch=0)
    for n in range(10):
        publish(channel, queue, f"red{n}", color="red")
        publish(channel, queue, f"blue{n}", color="blue")
    equal(bodies(blue.wait(connection, 10)), [f"blue{n}" for n in range(10)], "blue")
    for n in range(10):
        red.wait(connection, n + 1)
        slow.basic_ack(red.messages[n][0].delivery_tag)
    equal(bodies(red.messages), [f"red{n}" for n in range(10)], "red, in order")


@snippet
def priorities_among_those_that_match(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.selective", durable=True)
    _, low = consumer(connection, queue, "kind = 'a'")
    _, high = consumer(connection, queue, "kind IN ('a', 'b')", prefetch=2, **{"x-priority": 5})
    for n, kind in enumerate("abaaa"):
        publish(channel, queue, f"{kind}{n}", kind=kind)
    wait_until(connection, lambda: len(low.messages) + len(high.messages) == 5, "all")
    equal((bodies(high.messages), bodies(low.messages)), (["a0", "b1"], ["a2", "a3", "a4"]), "the higher one first")


@snippet
def what_comes_back_goes_to_who_wants_it(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.selective", durable=True)
    first, one = consumer(connection, queue, "kind = 'a'")
    publish(channel, queue, "a", kind="a")
    publish(channel, queue, "b", kind="b")
    one.wait(connection, 1)
    _, two = consumer(connection, queue, "kind = 'b' OR kind = 'a'")
    two.wait(connection, 1)
    first.close()
    equal(bodies(two.wait(connection, 2)), ["b", "a"], "the other one gets both")
    connection.channel().queue_purge(queue)


@snippet
def groups_and_selectors(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.selective", durable=True, arguments={"x-group-header": "customer"})
    first, one = consumer(connection, queue, "amount < 100")
    for n in range(3):
        publish(channel, queue, f"small{n}", customer="c", amount=10)
        publish(channel, queue, f"large{n}", customer="c", amount=1000)
    one.wait(connection, 3)
    _, two = consumer(connection, queue, "amount >= 100")
    for method, _, _ in one.messages[:2]:
        first.basic_ack(method.delivery_tag)
    channel.queue_declare(queue, passive=True)
    equal(two.messages, [], "the customer is still with the first")
    first.basic_ack(one.messages[2][0].delivery_tag)
    equal(bodies(two.wait(connection, 3)), ["large0", "large1", "large2"], "then the other may")


@snippet
def browsing_and_getting(connection):
    channel = confirming(connection)
    queue = fresh_queue(channel, "feature.selective", durable=True)
    for n in range(4):
        publish(channel, queue, f"m{n}", n=n)
    looking, inbox, ended = connection.channel(), Inbox(), []
    looking.add_on_cancel_callback(ended.append)
    looking.basic_consume(queue, inbox, auto_ack=True, arguments={"x-browse": True, "x-selector": "n BETWEEN 1 AND 2"})
    wait_until(connection, lambda: ended, "the broker's cancel")
    equal(bodies(inbox.messages), ["m1", "m2"], "copies of what matches")
    consumer(connection, queue, "n = 7")
    equal(bodies(drain(channel, queue)), ["m0", "m1", "m2", "m3"], "basic.get takes everything")


@snippet
def refused(connection):
    channel = connection.channel()
    queue = fresh_queue(channel, "feature.selective")
    error = raises(ChannelClosedByBroker, 406, channel.basic_consume, queue, Inbox(), arguments={"x-selector": "(a = 1) OR )"})
    equal(error.reply_text, "PRECONDITION_FAILED - invalid arg 'x-selector' for queue 'feature.selective' in vhost '/': "
          "selector: at 12: expected a value, got ')'", "text")
    raises(ChannelClosedByBroker, 406, connection.channel().basic_consume, queue, Inbox(), arguments={"x-selector": 5})
    connection.channel().queue_delete(queue)


main()
