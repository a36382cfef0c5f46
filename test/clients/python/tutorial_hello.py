"""Tutorial 1, hello: one producer, one queue, one consumer."""

from support import Inbox, connect, equal, fresh_queue


def main():
    connection = connect()
    channel = connection.channel()
    fresh_queue(channel, "tut.hello")
    channel.basic_publish(exchange="", routing_key="tut.hello", body="Hello World!")

    inbox = Inbox()
    channel.basic_consume("tut.hello", on_message_callback=inbox, auto_ack=True)
    method, properties, body = inbox.wait(connection, 1)[0]
    equal(body, b"Hello World!", "body")
    equal(method.routing_key, "tut.hello", "routing key")
    equal(method.exchange, "", "exchange")
    equal(method.delivery_tag, 1, "delivery tag")
    equal(method.redelivered, False, "redelivered")
    equal(properties.headers, None, "headers of a message sent without any")

    channel.queue_delete("tut.hello")
    connection.close()


if __name__ == "__main__":
    main()
