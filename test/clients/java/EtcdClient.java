import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.*;
import io.etcd.jetcd.op.*;
import io.etcd.jetcd.options.*;
import io.etcd.jetcd.watch.WatchEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Tests jetcd with the broker: keys, transactions, leases, watches, locks, elections, queues. ETCD_ADDR is the address of
 * the broker or, with QUEUES=no, of a real etcd.
 */
final class EtcdClient {
    static final int PATIENCE = 20; // seconds

    public static void main(String[] args) throws Exception {
        try (Client client = Client.builder().endpoints("http://" + System.getenv("ETCD_ADDR")).build()) {
            get(client.getKVClient().delete(text("java/"), DeleteOption.builder().isPrefix(true).build()));
            keys(client.getKVClient());
            transactions(client.getKVClient());
            leases(client);
            watches(client);
            locks(client);
            elections(client);
            equal(get(client.getClusterClient().listMember()).getMembers().size(), 1);
            if (!"no".equals(System.getenv("QUEUES"))) {
                queues(client);
            }
        }
        System.exit(0); // without waiting for the client's threads
    }

    static ByteSequence text(String s) {
        return ByteSequence.from(s, UTF_8);
    }

    static <T> T get(CompletableFuture<T> answer) throws Exception {
        return answer.get(PATIENCE, TimeUnit.SECONDS);
    }

    static void equal(Object got, Object want) {
        if (!Objects.equals(got, want)) {
            throw new AssertionError("got " + got + ", want " + want);
        }
    }

    static String value(KV kv, String key) throws Exception {
        List<KeyValue> found = get(kv.get(text(key))).getKvs();
        return found.isEmpty() ? null : found.get(0).getValue().toString(UTF_8);
    }

    static void keys(KV kv) throws Exception {
        get(kv.put(text("java/a"), text("1")));
        get(kv.put(text("java/a"), text("2")));
        get(kv.put(text("java/b"), text("3")));
        equal(value(kv, "java/a"), "2");
        equal(value(kv, "java/none"), null);
        List<String> all = new ArrayList<>();
        GetOption descending = GetOption.builder().isPrefix(true).withSortOrder(GetOption.SortOrder.DESCEND).build();
        for (KeyValue found : get(kv.get(text("java/"), descending)).getKvs()) {
            all.add(found.getKey().toString(UTF_8) + found.getVersion());
        }
        equal(all, List.of("java/b1", "java/a2"));
        equal(get(kv.delete(text("java/b"))).getDeleted(), 1L);
    }

    static void transactions(KV kv) throws Exception {
        Cmp isTwo = new Cmp(text("java/a"), Cmp.Op.EQUAL, CmpTarget.value(text("2")));
        for (boolean holds : new boolean[] {true, false}) {
            equal(get(kv.txn().If(isTwo).Then(Op.put(text("java/a"), text("5"), PutOption.DEFAULT)).Else(Op.get(text("java/a"), GetOption.DEFAULT)).commit())
                .isSucceeded(), holds);
        }
        equal(value(kv, "java/a"), "5");
    }

    static void leases(Client client) throws Exception {
        Lease leases = client.getLeaseClient();
        long id = get(leases.grant(100)).getID();
        get(client.getKVClient().put(text("java/l"), text("1"), PutOption.builder().withLeaseId(id).build()));
        equal(get(leases.timeToLive(id, LeaseOption.builder().withAttachedKeys().build())).getKeys(), List.of(text("java/l")));
        equal(get(leases.keepAliveOnce(id)).getTTL(), 100L);
        get(leases.revoke(id));
        equal(value(client.getKVClient(), "java/l"), null);
    }

    /** Starts to watch a prefix from the next revision on; events go to the queue. */
    static BlockingQueue<String> follow(Client client, String prefix) throws Exception {
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        CompletableFuture<Void> begun = new CompletableFuture<>();
        WatchOption option = WatchOption.builder().isPrefix(true).withCreateNotify(true).build();
        client.getWatchClient().watch(text(prefix), option, answer -> {
            for (WatchEvent e : answer.getEvents()) {
                told.add(e.getEventType() + " " + e.getKeyValue().getKey().toString(UTF_8) + " " + e.getKeyValue().getValue().toString(UTF_8));
            }
            begun.complete(null);
        });
        get(begun);
        return told;
    }

    static void watches(Client client) throws Exception {
        BlockingQueue<String> told = follow(client, "java/w/");
        get(client.getKVClient().put(text("java/w/1"), text("x")));
        get(client.getKVClient().delete(text("java/w/1")));
        equal(told.poll(PATIENCE, TimeUnit.SECONDS), "PUT java/w/1 x");
        equal(told.poll(PATIENCE, TimeUnit.SECONDS), "DELETE java/w/1 ");
    }

    static void locks(Client client) throws Exception {
        long mine = get(client.getLeaseClient().grant(100)).getID();
        long other = get(client.getLeaseClient().grant(100)).getID();
        ByteSequence held = get(client.getLockClient().lock(text("java/lock"), mine)).getKey();
        var waiting = client.getLockClient().lock(text("java/lock"), other);
        equal(waiting.isDone(), false);
        get(client.getLockClient().unlock(held));
        get(client.getLockClient().unlock(get(waiting).getKey()));
    }

    static void elections(Client client) throws Exception {
        long lease = get(client.getLeaseClient().grant(100)).getID();
        var leader = get(client.getElectionClient().campaign(text("java/election"), lease, text("me"))).getLeader();
        equal(get(client.getElectionClient().leader(text("java/election"))).getKv().getValue(), text("me"));
        get(client.getElectionClient().resign(leader));
    }

    static void queues(Client client) throws Exception {
        KV kv = client.getKVClient();
        get(kv.delete(text("/q/java")));
        BlockingQueue<String> told = follow(client, "/q/java/c/me/");
        for (int n = 1; n <= 3; n++) {
            get(kv.put(text("/q/java/p/" + n), text("message " + n)));
            String[] event = told.poll(PATIENCE, TimeUnit.SECONDS).split(" ", 3);
            equal(event[0], "PUT");
            equal(event[2], "message " + n);
            equal(event[1].endsWith("/" + n), true);
            equal(get(kv.delete(text(event[1]))).getDeleted(), 1L);
            equal(told.poll(PATIENCE, TimeUnit.SECONDS), "DELETE " + event[1] + " ");
        }
    }
}
