"""Each queue chooses what a confirm waits for."""

import pika

from support import bodies, confirming, drain, equal, fresh_exchange, fresh_queue, main, raises, snippet

PERSISTENT = pika.BasicProperties(delivery_mode=2)


@snippet
def every_choice_confirms(connection):
    channel = confirming(connection)
    fresh_exchange(channel, "feature.sync", exchange_type="fanout")
    for choice in ("always", "batch", "os"):
        queue = fresh_queue(channel, f"feature.sync.{choice}", durable=True, arguments={"x-sync": choice})
        channel.basic_publish("", queue, "alone", PERSISTENT)
        channel.queue_bind(queue, "feature.sync")
    channel.basic_publish("feature.sync", "", "to all", PERSISTENT)
    for choice in ("always", "batch", "os"):
        equal(bodies(drain(channel, f"feature.sync.{choice}")), ["alone", "to all"], choice)
        channel.queue_delete(f"feature.sync.{choice}")
    channel.exchange_delete("feature.sync")


@snippet
def the_choice_belongs_to_the_queue(connection):
    fresh_queue(connection.channel(), "feature.sync", durable=True, arguments={"x-sync": "os"})
    refused = raises(pika.exceptions.ChannelClosedByBroker, 406, connection.channel().queue_declare,
                     "feature.sync", durable=True, arguments={"x-sync": "always"})
    equal("x-sync" in refused.reply_text, True, refused.reply_text)
    raises(pika.exceptions.ChannelClosedByBroker, 406, connection.channel().queue_declare,
           "feature.sync.wrong", arguments={"x-sync": "sometimes"})
    connection.channel().queue_delete("feature.sync")


main()
