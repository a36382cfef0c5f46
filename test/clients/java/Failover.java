import com.rabbitmq.client.*;
import java.io.IOException;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The client on a cluster: it has the addresses of all nodes, and recovers automatically. It publishes and consumes until
 * its input ends; each line of input is a request to show that it works. NODES are the addresses of the nodes.
 */
final class Failover {
    private static final String QUEUE = "failover.java";
    private static final AtomicInteger asked = new AtomicInteger(1); // requests to show that it works, one after each kill
    private static volatile boolean over;

    private final Set<String> confirmed = new HashSet<>();
    private final Set<String> seen = new HashSet<>();
    private final Set<String> settled = new HashSet<>(); // acknowledged on the same channel before a confirmed publish
    private final List<String> acked = new ArrayList<>(); // acks since the last recovery, of messages published since then
    private final AtomicInteger begun = new AtomicInteger(); // recoveries
    private final AtomicInteger recovered = new AtomicInteger();
    private int noticed; // recoveries that were noticed
    private int before; // number published before the last recovery
    private String proof; // the first message published since the request
    private int shown;
    private int count;

    public static void main(String[] args) throws Exception {
        Thread listener = new Thread(() -> {
            Scanner input = new Scanner(System.in);
            for (; input.hasNextLine(); input.nextLine()) {
                asked.incrementAndGet();
            }
            over = true;
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(Support.DEADLINE_S));
            System.out.println("not all that was confirmed has come");
            Runtime.getRuntime().halt(1);
        });
        listener.setDaemon(true);
        listener.start();
        ConnectionFactory factory = new ConnectionFactory();
        factory.setNetworkRecoveryInterval(1000);
        int status = 1;
        try {
            new Failover().work(factory.newConnection(Address.parseAddresses(System.getenv("NODES"))));
            status = 0;
        } catch (Throwable e) {
            e.printStackTrace(System.out);
        }
        System.exit(status); // a recovering connection would continue
    }

    private void work(Connection connection) throws Exception {
        ((Recoverable) connection).addRecoveryListener(new RecoveryListener() {
            @Override
            public void handleRecoveryStarted(Recoverable recoverable) {
                begun.incrementAndGet();
            }

            @Override
            public void handleRecovery(Recoverable recoverable) {
                recovered.incrementAndGet();
            }
        });
        Channel channel = Support.confirming(connection);
        channel.queueDeclare(QUEUE, true, false, false, null);
        channel.basicQos(10);
        Support.Inbox inbox = new Support.Inbox(channel);
        channel.basicConsume(QUEUE, false, inbox);
        while (!over || !seen.containsAll(confirmed)) {
            try {
                if (!over) {
                    publish(channel);
                }
                Delivery delivery = inbox.messages.poll(10, TimeUnit.MILLISECONDS);
                if (delivery != null) {
                    receive(channel, delivery);
                }
            } catch (ShutdownSignalException | IOException e) {
                System.out.println("waits for the recovery after " + e);
                Support.waitUntil(() -> recovered.get() > noticed, "recovery");
                notice();
            }
            if (seen.contains(proof)) {
                proof = null;
                shown++;
                System.out.println("works");
            }
        }
    }

    /** Each attempt has its own body, because an unconfirmed message may exist as well. */
    private void publish(Channel channel) throws Exception {
        String body = Integer.toString(++count);
        if (proof == null && shown < asked.get()) {
            proof = body;
        }
        try {
            Support.publish(channel, "", QUEUE, MessageProperties.PERSISTENT_BASIC, Support.bytes(body));
        } catch (ShutdownSignalException | IOException e) {
            proof = null;
            throw e;
        }
        confirmed.add(body);
        if (noticed == begun.get()) {
            settled.addAll(acked);
        } else {
            notice();
        }
    }

    /** Notes a recovery. The client drops acknowledgements of earlier deliveries. */
    private void notice() {
        noticed = begun.get();
        before = count;
        acked.clear();
    }

    private void receive(Channel channel, Delivery delivery) throws Exception {
        String body = Support.text(delivery.getBody());
        if (settled.contains(body)) {
            throw new AssertionError(body + " was settled, and comes again");
        }
        if (seen.contains(body) && !delivery.getEnvelope().isRedeliver()) {
            throw new AssertionError(body + " comes again, but not as redelivered");
        }
        seen.add(body);
        channel.basicAck(delivery.getEnvelope().getDeliveryTag(), false);
        if (Integer.parseInt(body) > before) {
            acked.add(body);
        }
    }
}
