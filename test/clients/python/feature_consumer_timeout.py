"""Consumer timeouts: unsettled deliveries are returned, the channel stays open, and a late ack does no harm."""

import time

from support import Inbox, bodies, confirming, connect, drain, equal, fresh_queue, main, snippet, wait_until


@snippet
def messages_come_back_and_the_channel_lives(connection):
    publisher = confirming(connection)
    fresh_queue(publisher, "feature.timeout", arguments={"x-consumer-timeout": 300})
    slow, inbox, cancelled = connection.channel(), Inbox(), []
    slow.add_on_cancel_callback(cancelled.append)
    tag = slow.basic_consume("feature.timeout", inbox)
    publisher.basic_publish("", "feature.timeout", "m")
    method = inbox.wait(connection, 1)[0][0]
    delivered = time.monotonic()
    wait_until(connection, lambda: cancelled, "cancel")
    waited = time.monotonic() - delivered
    if not 0.25 < waited < 2:
        raise AssertionError(f"cancelled after {waited} s")
    equal(cancelled[0].method.consumer_tag, tag, "the cancelled consumer")
    messages = drain(publisher, "feature.timeout")
    equal([(body, m.redelivered) for m, _, body in messages], [(b"m", True)], "what came back")
    slow.basic_ack(method.delivery_tag)  # too late: no effect
    publisher.basic_publish("", "feature.timeout", "n")
    again = Inbox()
    slow.basic_consume("feature.timeout", again, auto_ack=True)
    equal(bodies(again.wait(connection, 1)), ["n"], "the same channel consumes again")
    publisher.queue_delete("feature.timeout")


@snippet
def a_consumer_may_ask_for_its_own(connection):
    publisher = confirming(connection)
    fresh_queue(publisher, "feature.timeout", arguments={"x-consumer-timeout": 200})
    patient, inbox, cancelled = connection.channel(), Inbox(), []
    patient.add_on_cancel_callback(cancelled.append)
    patient.basic_consume("feature.timeout", inbox, arguments={"x-consumer-timeout": 60_000})
    hasty, lost, hasty_cancelled = connection.channel(), Inbox(), []
    hasty.add_on_cancel_callback(hasty_cancelled.append)
    hasty.basic_consume("feature.timeout", lost)
    for body in ("a", "b"):
        publisher.basic_publish("", "feature.timeout", body)
    wait_until(connection, lambda: hasty_cancelled, "cancel of the hasty one")
    inbox.wait(connection, 2)  # its own, and the returned one
    equal(cancelled, [], "cancels of the patient one")
    patient.basic_ack(0, multiple=True)
    equal(publisher.queue_declare("feature.timeout", passive=True).method.consumer_count, 1, "consumers")
    publisher.queue_delete("feature.timeout")


@snippet
def without_the_capability_the_channel_closes(connection):
    publisher = confirming(connection)
    fresh_queue(publisher, "feature.timeout", arguments={"x-consumer-timeout": 200})
    deaf = connect(client_properties={"capabilities": {"consumer_cancel_notify": False}})
    channel, inbox, closed = deaf.channel(), Inbox(), []
    channel._impl.add_on_close_callback(lambda _, reason: closed.append(reason))
    channel.basic_consume("feature.timeout", inbox)
    publisher.basic_publish("", "feature.timeout", "m")
    wait_until(deaf, lambda: closed, "close")
    equal((closed[0].reply_code, closed[0].reply_text),
          (406, "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 200 ms. "
                "This timeout value can be configured, see consumers doc guide to learn more"), "close")
    deaf.close()
    equal(bodies(drain(publisher, "feature.timeout")), ["m"], "what came back")
    publisher.queue_delete("feature.timeout")


if __name__ == "__main__":
    main()
