"""Sends three requests through a queue and answers them, with python-etcd3 (pip install etcd3 protobuf).

ETCDCTL_ENDPOINTS is the address of the broker (default 127.0.0.1:2379).
"""
import os

os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")  # python-etcd3 does not support the faster one

import etcd3

host, port = os.environ.get("ETCDCTL_ENDPOINTS", "127.0.0.1:2379").split(":")
client = etcd3.client(host=host, port=int(port))


def consume(prefix, n):
    """Watches a consumer's key and yields the name, the key and the value of n messages."""
    events, cancel = client.watch_prefix(prefix)
    for event in events:
        if isinstance(event, etcd3.events.PutEvent):  # other events report deleted keys
            key = event.key.decode()
            yield key.rsplit("/", 1)[1], key, event.value.decode()
            n -= 1
            if n == 0:
                break
    cancel()


# The last part of a key is the message's own name, here the sender and the number of the question.
# A put is answered when the message is on disk.
for number, question in enumerate(["1 2", "20 22", "300 400"], 1):
    client.put(f"/q/examples.sums/p/ann.{number}", question)
    print(f"ann asks {number}: {question}")

# A watch registers a consumer. What it does not acknowledge goes to other consumers when it ends.
for name, key, question in consume("/q/examples.sums/c/eve/", 1):
    print(f"eve takes {name} and goes home")

for name, key, question in consume("/q/examples.sums/c/bob/", 3):
    asker, number = name.split(".")
    answer = sum(int(n) for n in question.split())
    # The question is acknowledged and its answer sent in one transaction, so a crash leaves both or neither.
    do = client.transactions
    succeeded, _ = client.transaction(
        compare=[do.version(key) > 0],
        success=[do.delete(key), do.put(f"/q/examples.answers.{asker}/p/{number}", str(answer))],
        failure=[],  # another consumer has it
    )
    if succeeded:
        print(f"bob answers {name}")

for number, key, answer in consume("/q/examples.answers.ann/c/ann/", 3):
    print(f"answer {number}: {answer}")
    client.delete(key)  # acknowledges

client.delete("/q/examples.sums")
client.delete("/q/examples.answers.ann")
client.close()
