"""Delayed retries, and dead-lettering at least once."""

import time

from support import Inbox, bodies, confirming, connect, drain, equal, fresh_exchange, fresh_queue, main, snippet, wait_until


def between(seconds, low, high, what):
    if not low <= seconds <= high:
        raise AssertionError(f"{what}: {seconds} s")


@snippet
def a_returned_message_waits_longer_each_time(connection):
    channel, inbox = confirming(connection), Inbox()
    fresh_queue(channel, "feature.retry.dead")
    fresh_queue(channel, "feature.retry", durable=True, arguments={
        "x-delayed-retry-type": "all", "x-delayed-retry-min": 100, "x-delayed-retry-max": 250, "x-delivery-limit": 3,
        "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "feature.retry.dead"})
    channel.basic_publish("", "feature.retry", "m")
    channel.basic_consume("feature.retry", inbox)
    for i, wait in enumerate([0.1, 0.2, 0.25]):
        method = inbox.wait(connection, i + 1)[i][0]
        returned = time.monotonic()
        channel.basic_nack(method.delivery_tag, requeue=True)
        inbox.wait(connection, i + 2)
        between(time.monotonic() - returned, wait - 0.005, wait + 1, f"wait {i + 1}")
    channel.basic_nack(inbox.messages[3][0].delivery_tag, requeue=True)
    dead = Inbox()
    channel.basic_consume("feature.retry.dead", dead, auto_ack=True)
    equal(bodies(dead.wait(connection, 1)), ["m"], "after the last try")
    for queue in ("feature.retry", "feature.retry.dead"):
        channel.queue_delete(queue)


@snippet
def others_do_not_wait(connection):
    channel = confirming(connection)
    fresh_queue(channel, "feature.retry", arguments={"x-delayed-retry-type": "failed", "x-delayed-retry-min": 60_000})
    for body in ("fails", "works"):
        channel.basic_publish("", "feature.retry", body)
    method, _, body = channel.basic_get("feature.retry")
    equal(body, b"fails", "the first")
    channel.basic_reject(method.delivery_tag, requeue=True)
    equal(bodies(drain(channel, "feature.retry")), ["works"], "what is ready")
    channel.queue_delete("feature.retry")


@snippet
def failed_and_returned_are_told_apart(connection):
    channel = confirming(connection)
    for kind, waits in (("failed", False), ("returned", True)):
        fresh_queue(channel, "feature.retry", arguments={"x-delayed-retry-type": kind, "x-delayed-retry-min": 60_000})
        channel.basic_publish("", "feature.retry", "m")
        other = connect()
        other.channel().basic_get("feature.retry")
        other.close()  # nobody decided on the message: it was returned
        equal(len(drain(channel, "feature.retry")), 0 if waits else 1, kind)
    channel.queue_delete("feature.retry")


@snippet
def dead_letters_arrive_at_least_once(connection):
    channel = confirming(connection)
    channel.exchange_delete("feature.retry.x")
    fresh_queue(channel, "feature.retry.dead", durable=True, arguments={"x-max-length": 1, "x-overflow": "reject-publish"})
    fresh_queue(channel, "feature.retry", durable=True, arguments={
        "x-dead-letter-exchange": "feature.retry.x", "x-dead-letter-routing-key": "k",
        "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"})
    for body in ("a", "b"):
        channel.basic_publish("", "feature.retry", body)
    for _ in range(2):
        channel.basic_reject(channel.basic_get("feature.retry")[0].delivery_tag, requeue=False)
    fresh_exchange(channel, "feature.retry.x", exchange_type="direct")
    channel.queue_bind("feature.retry.dead", "feature.retry.x", "k")
    got = []

    def arrived(count):
        def look():
            got.extend(bodies(drain(channel, "feature.retry.dead")))
            return len(got) >= count
        return look

    wait_until(connection, arrived(2), "dead letters, one at a time for there is room for one")
    equal(got, ["a", "b"], "dead letters")
    channel.exchange_delete("feature.retry.x")
    for queue in ("feature.retry", "feature.retry.dead"):
        channel.queue_delete(queue)


if __name__ == "__main__":
    main()
