import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;

/**
 * Sends three requests through a queue and answers them, with jetcd (io.etcd:jetcd-core).
 *
 * <p>ETCDCTL_ENDPOINTS is the address of the broker (default 127.0.0.1:2379).
 */
public final class Sums {
    public static void main(String[] args) throws Exception {
        String address = System.getenv().getOrDefault("ETCDCTL_ENDPOINTS", "127.0.0.1:2379");
        try (Client client = Client.builder().endpoints("http://" + address).build()) {
            ask(client.getKVClient());
            work(client);
            listen(client);
            client.getKVClient().delete(text("/q/examples.sums")).get();
            client.getKVClient().delete(text("/q/examples.answers.ann")).get();
        }
        System.exit(0); // without waiting for the client's threads
    }

    /**
     * The last part of a key is the message's own name, here the sender and the number of the
     * question. A put is answered when the message is on disk.
     */
    static void ask(KV kv) throws Exception {
        int number = 1;
        for (String question : new String[] {"1 2", "20 22", "300 400"}) {
            kv.put(text("/q/examples.sums/p/ann." + number), text(question)).get();
            System.out.printf("ann asks %d: %s%n", number++, question);
        }
    }

    /** A watch registers a consumer. What it does not acknowledge goes to other consumers when it ends. */
    static void work(Client client) throws Exception {
        try (Consumer eve = new Consumer(client, "/q/examples.sums/c/eve/")) {
            System.out.printf("eve takes %s and goes home%n", name(eve.next()));
        }
        try (Consumer bob = new Consumer(client, "/q/examples.sums/c/bob/")) {
            for (int n = 0; n < 3; n++) {
                KeyValue question = bob.next();
                String[] asker = name(question).split("\\.");
                int answer = Stream.of(question.getValue().toString(UTF_8).split(" ")).mapToInt(Integer::parseInt).sum();
                // The question is acknowledged and its answer sent in one transaction, so a crash
                // leaves both or neither.
                Op acknowledge = Op.delete(question.getKey(), DeleteOption.DEFAULT);
                Op send = Op.put(text("/q/examples.answers." + asker[0] + "/p/" + asker[1]), text("" + answer), PutOption.DEFAULT);
                Cmp held = new Cmp(question.getKey(), Cmp.Op.GREATER, CmpTarget.version(0)); // otherwise another consumer has it
                if (client.getKVClient().txn().If(held).Then(acknowledge, send).commit().get().isSucceeded()) {
                    System.out.println("bob answers " + name(question));
                }
            }
        }
    }

    static void listen(Client client) throws Exception {
        try (Consumer ann = new Consumer(client, "/q/examples.answers.ann/c/ann/")) {
            for (int n = 0; n < 3; n++) {
                KeyValue answer = ann.next();
                System.out.printf("answer %s: %s%n", name(answer), answer.getValue().toString(UTF_8));
                client.getKVClient().delete(answer.getKey()).get(); // acknowledges
            }
        }
    }

    /** A watch of a consumer's key, which returns the messages one at a time. */
    static final class Consumer implements AutoCloseable {
        private final BlockingQueue<KeyValue> messages = new LinkedBlockingQueue<>();
        private final Watch.Watcher watcher;

        Consumer(Client client, String prefix) {
            WatchOption option = WatchOption.builder().isPrefix(true).withNoDelete(true).build();
            watcher = client.getWatchClient().watch(text(prefix), option, answer -> answer.getEvents().forEach(e -> messages.add(e.getKeyValue())));
        }

        KeyValue next() throws InterruptedException {
            return messages.take();
        }

        @Override
        public void close() {
            watcher.close();
        }
    }

    static String name(KeyValue message) {
        String key = message.getKey().toString(UTF_8);
        return key.substring(key.lastIndexOf('/') + 1);
    }

    static ByteSequence text(String s) {
        return ByteSequence.from(s, UTF_8);
    }
}
