"""pika on a cluster: the parameters of all nodes, and a loop that reconnects. It publishes and consumes until its input
ends; each line of input is a request to show that it works. NODES are the URLs of the nodes."""

import os
import sys
import threading

import pika
from support import DEADLINE_S, confirming

QUEUE = "failover.pika"
NODES = [pika.URLParameters(url) for url in os.environ["NODES"].split()]

asked = 1  # requests to show that it works; the driver sends one after each kill
over = False
shown = 0  # requests answered
proof = None  # the first message published since the request
count = 0

confirmed, seen = set(), set()
acked = []  # on this connection
settled = set()  # acknowledged on the same channel before a confirmed publish


def listen():
    global asked, over
    for _ in sys.stdin:
        asked += 1
    over = True
    late = threading.Timer(DEADLINE_S, give_up)
    late.daemon = True
    late.start()


def give_up():
    print("confirmed, and not come:", confirmed - seen)
    os._exit(1)


def receive(channel, method, properties, body):
    if body in settled:
        sys.exit(f"{body} was settled, and comes again")
    if body in seen and not method.redelivered:
        sys.exit(f"{body} comes again, but not as redelivered")
    seen.add(body)
    channel.basic_ack(method.delivery_tag)
    acked.append(body)


def publish(channel):
    """Each attempt has its own body, because an unconfirmed message may exist as well."""
    global count, proof
    count += 1
    body = str(count).encode()
    if proof is None and shown < asked:
        proof = body
    before = list(acked)
    try:
        channel.basic_publish("", QUEUE, body, pika.BasicProperties(delivery_mode=2))
    except pika.exceptions.AMQPError:
        proof = None
        raise
    confirmed.add(body)
    settled.update(before)


def work():
    global proof, shown
    connection = pika.BlockingConnection(NODES)
    channel = confirming(connection)
    channel.queue_declare(QUEUE, durable=True)
    channel.basic_qos(prefetch_count=10)
    acked.clear()
    channel.basic_consume(QUEUE, receive)
    while not over or not confirmed <= seen:
        if not over:
            publish(channel)
        connection.process_data_events(time_limit=0.01)
        if proof in seen:
            proof = None
            shown += 1
            print("works", flush=True)
    connection.close()


threading.Thread(target=listen, daemon=True).start()
while True:
    try:
        work()
        break
    except (pika.exceptions.AMQPConnectionError, pika.exceptions.ChannelWrongStateError) as e:
        print("connects again after", repr(e))
