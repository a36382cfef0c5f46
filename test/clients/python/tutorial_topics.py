"""Tutorial 5, topics: binding keys with * (one word) and # (any number of words)."""

from support import bodies, confirming, connect, drain, equal, fresh_exchange

EXCHANGE = "tut.topic_logs"

BINDINGS = {
    "orange": ["*.orange.*"],
    "rabbits and lazy": ["*.*.rabbit", "lazy.#"],
    "all": ["#"],
    "two words": ["*.*"],
    "plain": ["quick.orange.rabbit"],
    "hash inside": ["lazy.#.rabbit"],
}

# Routing key -> the queues it must reach, each once even when two of its bindings match.
ROUTES = {
    "quick.orange.rabbit": {"orange", "rabbits and lazy", "all", "plain"},
    "lazy.orange.elephant": {"orange", "rabbits and lazy", "all"},
    "quick.orange.fox": {"orange", "all"},
    "lazy.brown.fox": {"rabbits and lazy", "all"},
    "lazy.pink.rabbit": {"rabbits and lazy", "all", "hash inside"},
    "quick.brown.fox": {"all"},
    "orange": {"all"},
    "quick.orange.new.rabbit": {"all"},
    "lazy.orange.new.rabbit": {"rabbits and lazy", "all", "hash inside"},
    "lazy": {"rabbits and lazy", "all"},
    "lazy.rabbit": {"rabbits and lazy", "all", "two words", "hash inside"},
    "": {"all"},
    "a.": {"all", "two words"},
}


def main():
    connection = connect()
    channel = confirming(connection)
    fresh_exchange(channel, EXCHANGE, exchange_type="topic")
    queues = {}
    for name, keys in BINDINGS.items():
        queues[name] = channel.queue_declare("", exclusive=True).method.queue
        for key in keys:
            channel.queue_bind(queues[name], EXCHANGE, key)

    for key in ROUTES:
        channel.basic_publish(EXCHANGE, key, key)
    for name, queue in queues.items():
        want = [key for key, reached in ROUTES.items() if name in reached]
        equal(bodies(drain(channel, queue)), want, f"queue {name!r}")

    channel.exchange_delete(EXCHANGE)
    connection.close()


if __name__ == "__main__":
    main()
