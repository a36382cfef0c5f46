"""Request and reply: an image service over two direct exchanges, and the broker's own reply queue."""

import hashlib
import time

import pika
from pika.exceptions import ChannelClosedByBroker

from support import Inbox, confirming, connect, equal, fresh_exchange, main, raises, snippet

IMAGE = b"\x89PNG\r\n\x1a\n" + hashlib.shake_256(b"an image").digest(300 * 1024)  # three body frames of 131,064 bytes


@snippet
def image_service(connection):
    setup = connection.channel()
    for exchange_name in ("seed.rpc-replies", "seed.direct-rpc-requests"):
        fresh_exchange(setup, exchange_name, exchange_type="direct")

    # The worker takes images and sends back the finished one with the properties of the request.
    worker = connect()
    channel = worker.channel()
    queue_name = channel.queue_declare("seed.direct-rpc-requests", auto_delete=True, durable=False,
                                       exclusive=True).method.queue
    channel.queue_bind(queue_name, "seed.direct-rpc-requests", "detect-faces")

    def callback(ch, method, properties, body):
        ch.basic_publish(
            exchange="seed.rpc-replies",
            routing_key=properties.reply_to,
            properties=pika.BasicProperties(
                app_id="Image consumer",
                content_type=properties.content_type,
                correlation_id=properties.correlation_id,
                headers={"first_publish": properties.timestamp},
            ),
            body=body[::-1],
        )
        ch.basic_ack(delivery_tag=method.delivery_tag)
        ch.stop_consuming()

    channel.basic_consume(queue=queue_name, on_message_callback=callback)

    # The producer has its own reply queue, bound with its own name.
    client = confirming(connection)
    reply_queue = client.queue_declare("", exclusive=True, auto_delete=True).method.queue
    client.queue_bind(reply_queue, "seed.rpc-replies", reply_queue)
    inbox = Inbox()
    client.basic_consume(reply_queue, on_message_callback=inbox, auto_ack=True)
    now = int(time.time())
    client.basic_publish(
        exchange="seed.direct-rpc-requests",
        routing_key="detect-faces",
        mandatory=True,
        properties=pika.BasicProperties(content_type="image/png", correlation_id="image-1", reply_to=reply_queue,
                                        timestamp=now),
        body=IMAGE,
    )
    channel.start_consuming()
    method, properties, body = inbox.wait(connection, 1)[0]
    equal(len(body), len(IMAGE), "size of the answer")
    equal(body == IMAGE[::-1], True, "the answer is the finished image, byte for byte")
    equal((method.exchange, method.routing_key), ("seed.rpc-replies", reply_queue), "envelope")
    equal((properties.app_id, properties.content_type, properties.correlation_id, properties.headers),
          ("Image consumer", "image/png", "image-1", {"first_publish": now}), "properties")
    worker.close()
    for exchange_name in ("seed.rpc-replies", "seed.direct-rpc-requests"):
        setup.exchange_delete(exchange_name)


@snippet
def direct_reply_to(connection):
    server_connection = connect()
    server = server_connection.channel()
    requests = server.queue_declare("", exclusive=True).method.queue

    # Only the server may consume from its exclusive queue; anyone may publish to it.
    client = connection.channel()
    replies = Inbox()
    client.basic_consume("amq.rabbitmq.reply-to", on_message_callback=replies, auto_ack=True)
    client.basic_publish("", requests, "ping",
                         pika.BasicProperties(reply_to="amq.rabbitmq.reply-to", correlation_id="7"))

    inbox = Inbox()
    server.basic_consume(requests, on_message_callback=inbox, auto_ack=True)
    _, properties, body = inbox.wait(server_connection, 1)[0]
    equal(body, b"ping", "request")
    equal(properties.reply_to.startswith("amq.rabbitmq.reply-to."), True, f"address {properties.reply_to!r}")
    server.basic_publish("", properties.reply_to, "pong", pika.BasicProperties(correlation_id=properties.correlation_id))
    _, properties, body = replies.wait(connection, 1)[0]
    equal((body, properties.correlation_id), (b"pong", "7"), "reply")
    server_connection.close()


@snippet
def direct_reply_to_refusals(connection):
    error = raises(ChannelClosedByBroker, 406, connection.channel().basic_consume, "amq.rabbitmq.reply-to",
                   on_message_callback=Inbox())
    equal(error.reply_text, "PRECONDITION_FAILED - reply consumer cannot acknowledge", "consuming with acknowledgements")
    error = raises(ChannelClosedByBroker, 406, confirming(connection).basic_publish, "", "seed.any", b"x",
                   pika.BasicProperties(reply_to="amq.rabbitmq.reply-to"))
    equal(error.reply_text, "PRECONDITION_FAILED - fast reply consumer does not exist", "publishing without a consumer")


if __name__ == "__main__":
    main()
