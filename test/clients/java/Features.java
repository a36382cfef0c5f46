import com.rabbitmq.client.*;
import com.rabbitmq.client.impl.LongStringHelper;
import java.math.BigDecimal;
import java.util.*;
import java.util.concurrent.*;

/** What Java programs use beyond the tutorials. */
final class Features {
    public static void main(String[] args) {
        Support.snippet("confirms with listeners", Features::confirmListeners);
        Support.snippet("a full queue nacks", Features::nacks);
        Support.snippet("return before its confirm", Features::returns);
        Support.snippet("exclusive queue of a lost connection", Features::exclusiveReconnect);
        Support.snippet("consumer cancelled by the broker", Features::cancelled);
        Support.snippet("prefetch", Features::prefetch);
        Support.snippet("exchange to exchange", Features::exchangeToExchange);
        Support.snippet("headers of all types", Features::headerTypes);
        Support.snippet("headers exchange", Features::headersExchange);
        Support.snippet("large messages", Features::large);
        Support.snippet("transactions", Features::transactions);
        Support.snippet("refusals leave the connection", Features::refusals);
        Support.snippet("many channels at once", Features::manyChannels);
        Support.runAll();
    }

    static void confirmListeners(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshQueue(channel, "java.confirms", true, null);
        ConcurrentNavigableMap<Long, String> outstanding = new ConcurrentSkipListMap<>();
        List<Long> nacked = new CopyOnWriteArrayList<>();
        channel.addConfirmListener((tag, multiple) -> {
            if (multiple) {
                outstanding.headMap(tag, true).clear();
            } else {
                outstanding.remove(tag);
            }
        }, (tag, multiple) -> nacked.add(tag));
        for (int n = 0; n < 5000; n++) {
            outstanding.put(channel.getNextPublishSeqNo(), "message " + n);
            channel.basicPublish("", "java.confirms", MessageProperties.PERSISTENT_BASIC, Support.bytes("message " + n));
        }
        Support.waitUntil(outstanding::isEmpty, "all confirms");
        Support.equal(nacked, List.of(), "nacks");
        Support.equal(channel.messageCount("java.confirms"), 5000L, "messages in the queue");
        channel.queueDelete("java.confirms");
    }

    static void nacks(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshQueue(channel, "java.full", false, Map.of("x-max-length", 2, "x-overflow", "reject-publish"));
        List<Boolean> answers = new CopyOnWriteArrayList<>();
        channel.addConfirmListener((tag, multiple) -> answers.add(true), (tag, multiple) -> answers.add(false));
        for (int n = 0; n < 4; n++) {
            channel.basicPublish("", "java.full", null, Support.bytes("x"));
            Support.equal(channel.waitForConfirms(Support.DEADLINE_S * 1000L), n < 2, "confirm of message " + n);
        }
        Support.waitUntil(() -> answers.size() == 4, "four answers");
        Support.equal(answers, List.of(true, true, false, false), "answers");
        channel.queueDelete("java.full");
    }

    static void returns(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        List<String> events = new CopyOnWriteArrayList<>();
        channel.addReturnListener(r -> events.add(r.getReplyCode() + " " + r.getReplyText() + " " + Support.text(r.getBody())));
        channel.addConfirmListener((tag, multiple) -> events.add("ack"), (tag, multiple) -> events.add("nack"));
        channel.basicPublish("", "java.nowhere", true, null, Support.bytes("lost"));
        channel.waitForConfirmsOrDie(Support.DEADLINE_S * 1000L);
        Support.waitUntil(() -> events.size() == 2, "return and confirm");
        Support.equal(events, List.of("312 NO_ROUTE lost", "ack"), "events");
    }

    /** The next connection can declare an exclusive queue of the same name as soon as the first one's close is answered. */
    static void exclusiveReconnect(Connection connection) throws Exception {
        for (int round = 0; round < 50; round++) {
            try (Connection owner = Support.factory().newConnection()) {
                Channel channel = owner.createChannel();
                channel.queueDeclare("java.mine", false, true, false, null);
                channel.basicConsume("java.mine", true, new Support.Inbox(channel));
                if (round == 0) {
                    String text = Support.refused(405, () -> connection.createChannel().queueDeclarePassive("java.mine"));
                    Support.equal(text.startsWith("RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'java.mine' in vhost '/'"),
                            true, text);
                }
            }
        }
    }

    static void cancelled(Connection connection) throws Exception {
        Channel channel = connection.createChannel();
        Support.freshQueue(channel, "java.short", false, null);
        Support.Inbox inbox = new Support.Inbox(channel);
        channel.basicConsume("java.short", true, inbox);
        connection.createChannel().queueDelete("java.short");
        Support.await(inbox.cancelled, "basic.cancel");
        Support.equal(channel.isOpen(), true, "channel open after the cancel");
    }

    static void prefetch(Connection connection) throws Exception {
        Channel publishing = Support.confirming(connection);
        Support.freshQueue(publishing, "java.prefetch", false, null);
        for (int n = 0; n < 10; n++) {
            Support.publish(publishing, "", "java.prefetch", null, Support.bytes("" + n));
        }
        Channel channel = connection.createChannel();
        channel.basicQos(3);
        Support.Inbox inbox = new Support.Inbox(channel);
        channel.basicConsume("java.prefetch", false, inbox);
        inbox.take(2);
        long third = inbox.next().getEnvelope().getDeliveryTag();
        Support.equal(publishing.messageCount("java.prefetch"), 7L, "ready beside a prefetch of 3");
        channel.basicAck(third, true);
        Support.equal(inbox.take(3), List.of("3", "4", "5"), "after one ack of three");
        Support.equal(publishing.messageCount("java.prefetch"), 4L, "ready after the ack");
        publishing.queueDelete("java.prefetch");
    }

    static void exchangeToExchange(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshExchange(channel, "java.source", "topic");
        Support.freshExchange(channel, "java.sink", "fanout");
        String queue = channel.queueDeclare().getQueue();
        channel.queueBind(queue, "java.sink", "");
        channel.exchangeBind("java.sink", "java.source", "eu.#");
        Support.publish(channel, "java.source", "eu.de", null, Support.bytes("in"));
        Support.publish(channel, "java.source", "us.ca", null, Support.bytes("out"));
        channel.exchangeUnbind("java.sink", "java.source", "eu.#");
        Support.publish(channel, "java.source", "eu.fr", null, Support.bytes("late"));
        Support.equal(Support.drain(channel, queue), List.of("in"), "through two exchanges");
        channel.exchangeDelete("java.source");
        channel.exchangeDelete("java.sink");
    }

    static void headerTypes(Connection connection) throws Exception {
        Map<String, Object> headers = new HashMap<>();
        headers.put("string", LongStringHelper.asLongString("text \u00e9"));
        headers.put("byte", (byte) -7);
        headers.put("short", (short) -30000);
        headers.put("int", -2_000_000_000);
        headers.put("long", Long.MIN_VALUE);
        headers.put("float", 1.5f);
        headers.put("double", Math.PI);
        headers.put("decimal", new BigDecimal("12.345"));
        headers.put("true", true);
        headers.put("false", false);
        headers.put("timestamp", new Date(1_700_000_000_000L));
        headers.put("void", null);
        headers.put("bytes", new byte[] {0, 1, (byte) 255});
        headers.put("table", Map.of("inner", Map.of("deep", 1L)));
        headers.put("array", List.of(1, LongStringHelper.asLongString("two"), List.of(true)));
        AMQP.BasicProperties all = new AMQP.BasicProperties("text/plain", "gzip", headers, 2, 9, "corr", "reply", "60000", "id",
                new Date(1_700_000_001_000L), "type", "guest", "app", "cluster");
        Channel channel = Support.confirming(connection);
        String queue = channel.queueDeclare().getQueue();
        Support.publish(channel, "", queue, all, new byte[0]);
        AMQP.BasicProperties got = channel.basicGet(queue, true).getProps();
        for (Map.Entry<String, Object> want : headers.entrySet()) {
            Support.equal(got.getHeaders().get(want.getKey()), want.getValue(), "header " + want.getKey());
        }
        Support.equal(got.getHeaders().keySet(), headers.keySet(), "names of the headers");
        Support.equal(got.builder().headers(null).build(), all.builder().headers(null).build(), "properties");
    }

    static void headersExchange(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshExchange(channel, "java.headers", "headers");
        String all = channel.queueDeclare().getQueue();
        String any = channel.queueDeclare().getQueue();
        channel.queueBind(all, "java.headers", "", Map.of("x-match", "all", "format", "pdf", "pages", 3));
        channel.queueBind(any, "java.headers", "", Map.of("x-match", "any", "format", "pdf", "pages", 3));
        Support.publish(channel, "java.headers", "", with(Map.of("format", "pdf", "pages", 3L)), Support.bytes("both"));
        Support.publish(channel, "java.headers", "", with(Map.of("format", "zip", "pages", 3)), Support.bytes("one"));
        Support.publish(channel, "java.headers", "", with(Map.of("format", "zip")), Support.bytes("none"));
        Support.equal(Support.drain(channel, all), List.of("both"), "all");
        Support.equal(Support.drain(channel, any), List.of("both", "one"), "any");
        channel.exchangeDelete("java.headers");
    }

    static AMQP.BasicProperties with(Map<String, Object> headers) {
        return new AMQP.BasicProperties.Builder().headers(headers).build();
    }

    static void large(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        String queue = channel.queueDeclare().getQueue();
        Support.Inbox inbox = new Support.Inbox(channel);
        channel.basicConsume(queue, true, inbox);
        int frame = connection.getFrameMax() - 8;
        for (int size : new int[] {0, 1, frame - 1, frame, frame + 1, 3 * frame, 20 << 20}) {
            byte[] body = new byte[size];
            new Random(size).nextBytes(body);
            Support.publish(channel, "", queue, null, body);
            Support.equal(Arrays.equals(inbox.next().getBody(), body), true, size + " bytes unchanged");
        }
    }

    static void transactions(Connection connection) throws Exception {
        Channel channel = connection.createChannel();
        String queue = channel.queueDeclare().getQueue();
        Channel looking = connection.createChannel();
        channel.txSelect();
        channel.basicPublish("", queue, null, Support.bytes("no"));
        channel.txRollback();
        channel.basicPublish("", queue, null, Support.bytes("yes"));
        Support.equal(looking.messageCount(queue), 0L, "before the commit");
        channel.txCommit();
        Support.equal(Support.drain(looking, queue), List.of("yes"), "after the commit");
    }

    /** Errors that close only their channel, with the texts that programs check. */
    static void refusals(Connection connection) throws Exception {
        Channel owner = connection.createChannel();
        Support.freshQueue(owner, "java.once", true, null);
        Support.equal(Support.refused(406, () -> connection.createChannel().queueDeclare("java.once", false, false, false, null)),
                "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'java.once' in vhost '/': received 'false' but current is 'true'",
                "durable and not");
        Support.equal(Support.refused(404, () -> connection.createChannel().basicGet("java.missing", true)),
                "NOT_FOUND - no queue 'java.missing' in vhost '/'", "no queue");
        Support.equal(Support.refused(403, () -> connection.createChannel().exchangeDelete("amq.topic")),
                "ACCESS_REFUSED - deletion of system exchange 'amq.topic' in vhost '/' not allowed", "system exchange");
        Channel acking = connection.createChannel();
        BlockingQueue<ShutdownSignalException> closed = new LinkedBlockingQueue<>();
        acking.addShutdownListener(closed::add);
        acking.basicAck(7, false);
        Support.equal(Support.closedWith(406, closed.poll(Support.DEADLINE_S, TimeUnit.SECONDS)),
                "PRECONDITION_FAILED - unknown delivery tag 7", "unknown tag");
        Support.equal(connection.isOpen(), true, "connection open");
        owner.queueDelete("java.once");
    }

    static void manyChannels(Connection connection) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<Integer>> results = new ArrayList<>();
        for (int n = 0; n < 100; n++) {
            results.add(pool.submit(() -> {
                try (Channel channel = Support.confirming(connection)) {
                    String queue = channel.queueDeclare().getQueue();
                    for (int i = 0; i < 10; i++) {
                        channel.basicPublish("", queue, null, Support.bytes("m"));
                    }
                    channel.waitForConfirmsOrDie(Support.DEADLINE_S * 1000L);
                    return Support.drain(channel, queue).size();
                }
            }));
        }
        for (Future<Integer> result : results) {
            Support.equal(result.get(Support.DEADLINE_S, TimeUnit.SECONDS), 10, "messages of a channel");
        }
        pool.shutdown();
    }
}
