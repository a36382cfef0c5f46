import com.rabbitmq.client.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/** Shared by these programs: the broker's address, checks that fail loudly, and waiting without sleeping. */
final class Support {
    /** The timeout for expected events, in seconds; only a failing run reaches it. */
    static final int DEADLINE_S = 30;

    interface Snippet { void run(Connection connection) throws Exception; }

    interface Action { void run() throws Exception; }

    interface Condition { boolean holds() throws Exception; }

    private static final Map<String, Snippet> SNIPPETS = new LinkedHashMap<>();

    private Support() {}

    /** A factory for the broker at AMQP_URL, with the client's own defaults. */
    static ConnectionFactory factory() throws Exception {
        return factory(System.getenv("AMQP_URL"));
    }

    static ConnectionFactory factory(String url) throws Exception {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(url);
        return factory;
    }

    /** Registers a snippet to be run by runAll on a connection of its own. */
    static void snippet(String name, Snippet snippet) {
        SNIPPETS.put(name, snippet);
    }

    /** Runs every snippet, prints each result, and exits with 1 if any failed. */
    static void runAll() {
        int failed = 0;
        for (Map.Entry<String, Snippet> each : SNIPPETS.entrySet()) {
            try (Connection connection = factory().newConnection()) {
                each.getValue().run(connection);
                System.out.println("ok   " + each.getKey());
            } catch (Throwable e) {
                failed++;
                System.out.println("FAIL " + each.getKey());
                e.printStackTrace(System.out);
            }
        }
        System.out.println(SNIPPETS.size() - failed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    static void equal(Object got, Object want, String what) {
        if (!Objects.deepEquals(got, want)) {
            throw new AssertionError(what + ": got " + got + ", want " + want);
        }
    }

    /** Runs the action, which must close a channel or connection with this code, and returns the reply text. */
    static String refused(int code, Action action) throws Exception {
        try {
            action.run();
        } catch (Exception e) {
            Throwable cause = e instanceof ShutdownSignalException ? e : e.getCause();
            if (!(cause instanceof ShutdownSignalException)) {
                throw e;
            }
            return closedWith(code, (ShutdownSignalException) cause);
        }
        throw new AssertionError("not refused, want " + code);
    }

    static String closedWith(int code, ShutdownSignalException signal) {
        Object reason = signal.getReason();
        if (reason instanceof AMQP.Channel.Close) {
            AMQP.Channel.Close close = (AMQP.Channel.Close) reason;
            equal(close.getReplyCode(), code, "reply code of " + close);
            return close.getReplyText();
        }
        AMQP.Connection.Close close = (AMQP.Connection.Close) reason;
        equal(close.getReplyCode(), code, "reply code of " + close);
        return close.getReplyText();
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] body) {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** Declares an empty queue, whatever an earlier run left behind. */
    static String freshQueue(Channel channel, String name, boolean durable, Map<String, Object> arguments) throws Exception {
        channel.queueDelete(name);
        return channel.queueDeclare(name, durable, false, false, arguments).getQueue();
    }

    static String freshExchange(Channel channel, String name, String type) throws Exception {
        channel.exchangeDelete(name);
        channel.exchangeDeclare(name, type);
        return name;
    }

    static Channel confirming(Connection connection) throws Exception {
        Channel channel = connection.createChannel();
        channel.confirmSelect();
        return channel;
    }

    /** Publishes and waits for the confirm, so that every queue has the message. */
    static void publish(Channel channel, String exchange, String key, AMQP.BasicProperties properties, byte[] body) throws Exception {
        channel.basicPublish(exchange, key, properties, body);
        channel.waitForConfirmsOrDie(DEADLINE_S * 1000L);
    }

    /** Empties the queue with basic.get. */
    static List<String> drain(Channel channel, String queue) throws Exception {
        List<String> bodies = new ArrayList<>();
        for (GetResponse got = channel.basicGet(queue, true); got != null; got = channel.basicGet(queue, true)) {
            bodies.add(text(got.getBody()));
        }
        return bodies;
    }

    /** Polls until the condition holds; each poll is a round trip or a short pause. */
    static void waitUntil(Condition condition, String what) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(DEADLINE_S);
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                throw new AssertionError(what + ": not within " + DEADLINE_S + " s");
            }
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    static void await(CountDownLatch latch, String what) throws Exception {
        if (!latch.await(DEADLINE_S, TimeUnit.SECONDS)) {
            throw new AssertionError(what + ": not within " + DEADLINE_S + " s");
        }
    }

    /** A consumer that collects its deliveries. */
    static final class Inbox extends DefaultConsumer {
        final BlockingQueue<Delivery> messages = new LinkedBlockingQueue<>();
        final CountDownLatch cancelled = new CountDownLatch(1);

        Inbox(Channel channel) {
            super(channel);
        }

        @Override
        public void handleDelivery(String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
            messages.add(new Delivery(envelope, properties, body));
        }

        @Override
        public void handleCancel(String tag) {
            cancelled.countDown();
        }

        Delivery next() throws Exception {
            Delivery delivery = messages.poll(DEADLINE_S, TimeUnit.SECONDS);
            if (delivery == null) {
                throw new AssertionError("no delivery within " + DEADLINE_S + " s");
            }
            return delivery;
        }

        List<String> take(int count) throws Exception {
            List<String> bodies = new ArrayList<>();
            while (bodies.size() < count) {
                bodies.add(text(next().getBody()));
            }
            return bodies;
        }
    }
}
