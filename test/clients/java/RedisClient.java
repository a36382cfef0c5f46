import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.*;
import redis.clients.jedis.args.ListDirection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.params.XReadGroupParams;
import redis.clients.jedis.util.SafeEncoder;

/** Tests Jedis with the broker at REDIS_URL: lists, transactions, channels, jobs, streams. */
final class RedisClient {
    public static void main(String[] args) throws Exception {
        try (Jedis jedis = open(); Jedis other = open()) {
            equal(jedis.ping(), "PONG");
            equal(jedis.clientSetname("java"), "OK");
            equal(jedis.clientGetname(), "java");
            lists(jedis);
            waiting(jedis, other);
            transactions(jedis, other);
            channels(jedis, other);
            jobs(jedis);
            streams(jedis);
        }
    }

    static Jedis open() {
        return new Jedis(java.net.URI.create(System.getenv("REDIS_URL")));
    }

    static void equal(Object got, Object want) {
        if (!Objects.equals(got, want)) {
            throw new AssertionError("got " + got + ", want " + want);
        }
    }

    static void lists(Jedis jedis) {
        jedis.del("java.list", "java.done");
        equal(jedis.lpush("java.list", "a", "b", "c"), 3L);
        equal(jedis.lrange("java.list", 0, -1), List.of("c", "b", "a"));
        equal(jedis.rpop("java.list"), "a");
        equal(jedis.lmove("java.list", "java.done", ListDirection.RIGHT, ListDirection.LEFT), "b");
        equal(jedis.brpop(5, "java.none", "java.list"), List.of("java.list", "c"));
        equal(jedis.exists("java.list"), false);
        equal(jedis.type("java.done"), "list");
    }

    static void waiting(Jedis jedis, Jedis other) throws Exception {
        List<String> got = new ArrayList<>();
        Thread taker = new Thread(() -> got.addAll(other.blpop(20, "java.wait")));
        taker.start();
        while (!jedis.info("clients").contains("blocked_clients:1")) {
            Thread.onSpinWait();
        }
        jedis.rpush("java.wait", "x");
        taker.join();
        equal(got, List.of("java.wait", "x"));
        equal(other.blpop(0.05, "java.wait"), null);
    }

    static void transactions(Jedis jedis, Jedis other) {
        jedis.del("java.a", "java.b");
        Transaction tx = jedis.multi();
        tx.lpush("java.a", "1");
        tx.rpop("java.a");
        equal(tx.exec(), List.of(1L, "1"));
        jedis.watch("java.b");
        other.lpush("java.b", "3");
        tx = jedis.multi();
        tx.lpush("java.b", "4");
        equal(tx.exec(), null);
        Pipeline pipeline = jedis.pipelined();
        for (int i = 0; i < 1000; i++) {
            pipeline.lpush("java.a", "" + i);
        }
        for (int i = 0; i < 1000; i++) {
            pipeline.rpop("java.a");
        }
        List<Object> replies = pipeline.syncAndReturnAll();
        for (int i = 0; i < 1000; i++) {
            equal(replies.get(1000 + i), "" + i);
        }
    }

    static void channels(Jedis jedis, Jedis other) throws Exception {
        BlockingQueue<String> got = new LinkedBlockingQueue<>();
        JedisPubSub listener = new JedisPubSub() {
            @Override public void onSubscribe(String channel, int count) { got.add("subscribed"); }
            @Override public void onMessage(String channel, String message) { got.add(channel + " " + message); }
        };
        Thread thread = new Thread(() -> other.subscribe(listener, "java.news"));
        thread.start();
        equal(got.poll(20, TimeUnit.SECONDS), "subscribed");
        equal(jedis.publish("java.news", "hello"), 1L);
        equal(got.poll(20, TimeUnit.SECONDS), "java.news hello");
        listener.unsubscribe();
        thread.join();
    }

    static void streams(Jedis jedis) {
        jedis.del("java.stream");
        StreamEntryID id = jedis.xadd("java.stream", StreamEntryID.NEW_ENTRY, Map.of("n", "1"));
        equal(jedis.xlen("java.stream"), 1L);
        equal(jedis.xrange("java.stream", "-", "+").get(0).getFields(), Map.of("n", "1"));
        equal(jedis.xgroupCreate("java.stream", "g", new StreamEntryID(0, 0), false), "OK");
        equal(jedis.xreadGroup("g", "me", XReadGroupParams.xReadGroupParams(), Map.of("java.stream", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY))
            .get(0).getValue().get(0).getID(), id);
        equal(jedis.xack("java.stream", "g", id), 1L);
        equal(jedis.xpending("java.stream", "g").getTotal(), 0L);
    }

    static Object say(Jedis jedis, String command, String... args) {
        return jedis.sendCommand(() -> SafeEncoder.encode(command), args);
    }

    static String text(Object o) {
        return SafeEncoder.encode((byte[]) o);
    }

    static void jobs(Jedis jedis) {
        say(jedis, "QUEUE.CLEAR", "java.jobs");
        List<?> added = (List<?>) say(jedis, "JOB.ENQUEUE", "java.jobs", "work", "ID", "m1");
        equal(text(added.get(0)), "added");
        try {
            say(jedis, "JOB.ENQUEUE", "java.jobs", "work", "ID", "m1");
            throw new AssertionError("the same id was enqueued twice");
        } catch (JedisDataException e) {
            equal(e.getMessage().startsWith("ALREADYQUEUED"), true);
        }
        List<?> job = (List<?>) ((List<?>) say(jedis, "JOB.TAKE", "java.jobs")).get(0);
        String token = null;
        for (int i = 0; i < job.size(); i += 2) {
            if (text(job.get(i)).equals("token")) {
                token = text(job.get(i + 1));
            }
        }
        equal(text(say(jedis, "JOB.STATUS", "java.jobs", "m1")), "locked");
        equal(text(say(jedis, "JOB.DONE", "java.jobs", "m1", token)), "OK");
    }
}
