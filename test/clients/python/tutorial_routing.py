"""Tutorial 4, routing: a direct exchange picks subscribers by severity."""

from support import bodies, confirming, connect, drain, equal, fresh_exchange

EXCHANGE = "tut.direct_logs"


def main():
    connection = connect()
    channel = confirming(connection)
    fresh_exchange(channel, EXCHANGE, exchange_type="direct")

    wanted = {"disk": ["error"], "screen": ["info", "warning", "error"]}
    queues = {}
    for name, severities in wanted.items():
        queues[name] = channel.queue_declare("", exclusive=True).method.queue
        for severity in severities:
            channel.queue_bind(queues[name], EXCHANGE, severity)

    for severity in ["info", "error", "debug", "warning", "error"]:
        channel.basic_publish(EXCHANGE, severity, severity)
    equal(bodies(drain(channel, queues["disk"])), ["error", "error"], "disk")
    equal(bodies(drain(channel, queues["screen"])), ["info", "error", "warning", "error"], "screen")

    channel.queue_unbind(queues["screen"], EXCHANGE, "error")
    channel.basic_publish(EXCHANGE, "error", "last")
    equal(bodies(drain(channel, queues["disk"])), ["last"], "disk after the unbind of screen")
    equal(bodies(drain(channel, queues["screen"])), [], "screen after its unbind")

    channel.exchange_delete(EXCHANGE)
    connection.close()


if __name__ == "__main__":
    main()
