"""Tutorial 3, publish/subscribe: a fanout exchange copies every log line to every subscriber."""

from support import Inbox, connect, equal, fresh_exchange

EXCHANGE = "tut.logs"


def subscriber():
    """Binds a server-named exclusive queue to the exchange, on its own connection."""
    connection = connect()
    channel = connection.channel()
    queue = channel.queue_declare("", exclusive=True).method.queue
    channel.queue_bind(queue, EXCHANGE)
    inbox = Inbox()
    channel.basic_consume(queue, on_message_callback=inbox, auto_ack=True)
    return connection, queue, inbox


def main():
    connection = connect()
    channel = connection.channel()
    fresh_exchange(channel, EXCHANGE, exchange_type="fanout")
    channel.basic_publish(EXCHANGE, "", b"nobody listens yet")  # dropped, as there is no queue

    subscribers = [subscriber() for _ in range(3)]
    names = {queue for _, queue, _ in subscribers}
    equal(len(names), 3, "distinct server-named queues")
    equal({name.startswith("amq.gen-") for name in names}, {True}, "prefix of server-named queues")

    lines = [f"line {n}" for n in range(20)]
    for line in lines:
        channel.basic_publish(EXCHANGE, "ignored", line)
    for own, _, inbox in subscribers:
        got = inbox.wait(own, len(lines))
        equal([body.decode() for _, _, body in got], lines, "lines in order")
        equal({(m.exchange, m.routing_key) for m, _, _ in got}, {(EXCHANGE, "ignored")}, "envelope")
        own.close()

    channel.exchange_delete(EXCHANGE)
    connection.close()


if __name__ == "__main__":
    main()
