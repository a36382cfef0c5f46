"""The header not-before: a message published to any exchange waits in its queues until then."""

import datetime
import time

import pika
from pika.exceptions import ChannelClosedByBroker

from support import Inbox, bodies, confirming, drain, equal, fresh_queue, main, raises, snippet


def not_before(value, **more):
    return pika.BasicProperties(delivery_mode=2, headers={"not-before": value}, **more)


@snippet
def every_form_of_a_time(connection):
    channel = confirming(connection)
    fresh_queue(channel, "feature.notbefore", durable=True)
    now = time.time()
    soon = datetime.datetime.fromtimestamp(now + 0.8, datetime.timezone.utc)
    whole = datetime.datetime.fromtimestamp(int(now) + 2, datetime.timezone.utc)  # a timestamp has whole seconds
    for body, value in (("text", soon.isoformat(timespec="milliseconds")), ("integer", int(now * 1000) + 400),
                        ("timestamp", whole), ("past", 1000)):
        channel.basic_publish("", "feature.notbefore", body, not_before(value))
    equal(bodies(drain(channel, "feature.notbefore")), ["past"], "at once")
    inbox = Inbox()
    channel.basic_consume("feature.notbefore", inbox, auto_ack=True)
    equal(bodies(inbox.wait(connection, 3)), ["integer", "text", "timestamp"], "when due")
    equal(time.time() >= int(now) + 2, True, "not before")


@snippet
def a_life_begins_when_it_is_due(connection):
    channel = confirming(connection)
    fresh_queue(channel, "feature.notbefore", durable=True)
    channel.basic_publish("", "feature.notbefore", "body", not_before(int(time.time() * 1000) + 500, expiration="400"))
    inbox = Inbox()
    channel.basic_consume("feature.notbefore", inbox, auto_ack=True)
    equal(bodies(inbox.wait(connection, 1)), ["body"], "it did not expire while it waited")


@snippet
def refusals(connection):
    for value in ("tomorrow", -5, True, [1]):
        channel = confirming(connection)
        fresh_queue(channel, "feature.notbefore", durable=True)
        error = raises(ChannelClosedByBroker, 406, channel.basic_publish, "", "feature.notbefore", "x", not_before(value))
        equal(error.reply_text.startswith("PRECONDITION_FAILED - invalid 'not-before' header: "), True, error.reply_text)


main()
