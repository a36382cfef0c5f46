import com.rabbitmq.client.*;
import java.util.*;
import java.util.concurrent.*;

/** Automatic recovery after a SIGKILL of the broker, and blocked connections. It needs its own broker (FIVEWAYS). */
final class Recovery {
    public static void main(String[] args) {
        if (!OwnBroker.available()) {
            System.out.println("skipped: FIVEWAYS names no binary");
            return;
        }
        Support.snippet("connection and topology come back", ignored -> recovery());
        Support.snippet("blocked", ignored -> blocked());
        Support.runAll();
    }

    static ConnectionFactory patient(OwnBroker broker) throws Exception {
        ConnectionFactory factory = Support.factory(broker.url());
        factory.setNetworkRecoveryInterval(100);
        return factory;
    }

    /** The client redeclares transient, exclusive and server-named objects; durable ones and their messages still exist. */
    static void recovery() throws Exception {
        try (OwnBroker broker = new OwnBroker(); Connection connection = patient(broker).newConnection()) {
            Channel channel = Support.confirming(connection);
            channel.exchangeDeclare("java.durable", "topic", true);
            channel.exchangeDeclare("java.transient", "fanout");
            channel.exchangeBind("java.transient", "java.durable", "copy.#");
            channel.queueDeclare("java.kept", true, false, false, null);
            channel.queueBind("java.kept", "java.durable", "keep.#");
            channel.queueDeclare("java.exclusive", false, true, false, null);
            channel.queueBind("java.exclusive", "java.transient", "");
            String named = channel.queueDeclare().getQueue();
            channel.queueBind(named, "java.transient", "");
            Channel consuming = connection.createChannel();
            consuming.basicQos(1);
            Support.Inbox exclusive = new Support.Inbox(consuming);
            Support.Inbox serverNamed = new Support.Inbox(consuming);
            consuming.basicConsume("java.exclusive", true, exclusive);
            consuming.basicConsume(named, true, serverNamed);

            for (int round = 0; round < 2; round++) {
                String keep = "keep " + round;
                Support.publish(channel, "java.durable", "keep.it", MessageProperties.PERSISTENT_BASIC, Support.bytes(keep));
                CountDownLatch recovered = new CountDownLatch(1);
                RecoveryListener listener = new RecoveryListener() {
                    @Override
                    public void handleRecovery(Recoverable recoverable) {
                        recovered.countDown();
                    }

                    @Override
                    public void handleRecoveryStarted(Recoverable recoverable) {}
                };
                ((Recoverable) connection).addRecoveryListener(listener);
                broker.kill();
                Support.waitUntil(() -> !connection.isOpen(), "the connection breaks");
                broker.start();
                Support.await(recovered, "recovery");
                ((Recoverable) connection).removeRecoveryListener(listener);

                GetResponse kept = channel.basicGet("java.kept", true);
                Support.equal(Support.text(kept.getBody()), keep, "confirmed message after the kill");
                Support.equal(kept.getEnvelope().isRedeliver(), true, "redelivered");
                String copy = "copy " + round;
                Support.publish(channel, "java.durable", "copy.it", null, Support.bytes(copy));
                Support.equal(exclusive.take(1), List.of(copy), "consumer of the exclusive queue");
                Support.equal(serverNamed.take(1), List.of(copy), "consumer of the server-named queue");
            }
        }
    }

    static void blocked() throws Exception {
        try (OwnBroker broker = new OwnBroker("--disk-free-limit", "1000TiB")) {
            Connection connection = patient(broker).newConnection();
            BlockingQueue<String> events = new LinkedBlockingQueue<>();
            connection.addBlockedListener(reason -> events.add("blocked: " + reason), () -> events.add("unblocked"));
            Channel channel = connection.createChannel();
            channel.queueDeclare("java.blocked", true, false, false, null);
            Support.waitUntil(() -> { // the broker checks its disk periodically, and then notifies connections that publish
                channel.basicPublish("", "java.blocked", null, Support.bytes("x"));
                return !events.isEmpty();
            }, "an event");
            Support.equal(events.poll(Support.DEADLINE_S, TimeUnit.SECONDS), "blocked: low on disk", "first event");

            // A connection that only consumes is not blocked.
            try (Connection consumer = patient(broker).newConnection()) {
                Channel other = consumer.createChannel();
                Support.Inbox inbox = new Support.Inbox(other);
                other.basicConsume("java.blocked", true, inbox);
                Support.equal(inbox.take(1), List.of("x"), "delivery while publishers are blocked");
            }
            connection.abort(100); // nobody reads the close of a blocked connection, as with RabbitMQ
        }
    }
}
