import com.rabbitmq.client.*;
import java.util.*;

/** The six tutorials of RabbitMQ. */
final class Tutorials {
    public static void main(String[] args) {
        Support.snippet("hello", Tutorials::hello);
        Support.snippet("work queue", Tutorials::work);
        Support.snippet("publish and subscribe", Tutorials::publishSubscribe);
        Support.snippet("routing", Tutorials::routing);
        Support.snippet("topics", Tutorials::topics);
        Support.snippet("rpc", Tutorials::rpc);
        Support.runAll();
    }

    static void hello(Connection connection) throws Exception {
        Channel channel = connection.createChannel();
        Support.freshQueue(channel, "java.hello", false, null);
        channel.basicPublish("", "java.hello", null, Support.bytes("Hello World!"));
        Support.Inbox inbox = new Support.Inbox(channel);
        channel.basicConsume("java.hello", true, inbox);
        Support.equal(inbox.take(1), List.of("Hello World!"), "greeting");
        channel.queueDelete("java.hello");
    }

    /** A worker that holds a task gets no second one; when its connection ends, the other worker gets the task. */
    static void work(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshQueue(channel, "java.task_queue", true, null);
        Connection first = Support.factory().newConnection();
        Channel stuckChannel = first.createChannel();
        stuckChannel.basicQos(1);
        Support.Inbox stuck = new Support.Inbox(stuckChannel);
        stuckChannel.basicConsume("java.task_queue", false, stuck);
        for (int n = 0; n < 6; n++) {
            Support.publish(channel, "", "java.task_queue", MessageProperties.PERSISTENT_TEXT_PLAIN, Support.bytes("task " + n));
        }
        Support.equal(stuck.take(1), List.of("task 0"), "task of the stuck worker");

        Channel quick = connection.createChannel();
        quick.basicQos(1);
        Support.Inbox inbox = new Support.Inbox(quick);
        quick.basicConsume("java.task_queue", false, inbox);
        for (int n = 1; n < 6; n++) {
            Delivery task = inbox.next();
            Support.equal(Support.text(task.getBody()), "task " + n, "task of the quick worker");
            Support.equal(task.getProperties().getDeliveryMode(), 2, "delivery mode");
            quick.basicAck(task.getEnvelope().getDeliveryTag(), false);
        }
        first.abort();
        Delivery again = inbox.next();
        Support.equal(Support.text(again.getBody()), "task 0", "task of the worker that went");
        Support.equal(again.getEnvelope().isRedeliver(), true, "redelivered");
        quick.basicAck(again.getEnvelope().getDeliveryTag(), false);
        quick.close();
        Support.equal(channel.messageCount("java.task_queue"), 0L, "rest of the queue");
        channel.queueDelete("java.task_queue");
    }

    static void publishSubscribe(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshExchange(channel, "java.logs", "fanout");
        String one = channel.queueDeclare().getQueue();
        String two = channel.queueDeclare().getQueue();
        Support.publish(channel, "java.logs", "", null, Support.bytes("nobody listens"));
        channel.queueBind(one, "java.logs", "");
        channel.queueBind(two, "java.logs", "");
        Support.publish(channel, "java.logs", "any", null, Support.bytes("info"));
        Support.equal(Support.drain(channel, one), List.of("info"), "first queue");
        Support.equal(Support.drain(channel, two), List.of("info"), "second queue");
        channel.exchangeDelete("java.logs");
    }

    static void routing(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshExchange(channel, "java.direct_logs", "direct");
        String all = channel.queueDeclare().getQueue();
        String errors = channel.queueDeclare().getQueue();
        for (String severity : List.of("info", "warning", "error")) {
            channel.queueBind(all, "java.direct_logs", severity);
        }
        channel.queueBind(errors, "java.direct_logs", "error");
        for (String severity : List.of("info", "error", "debug", "warning")) {
            Support.publish(channel, "java.direct_logs", severity, null, Support.bytes(severity));
        }
        Support.equal(Support.drain(channel, all), List.of("info", "error", "warning"), "queue of all");
        Support.equal(Support.drain(channel, errors), List.of("error"), "queue of errors");
        channel.exchangeDelete("java.direct_logs");
    }

    static void topics(Connection connection) throws Exception {
        Channel channel = Support.confirming(connection);
        Support.freshExchange(channel, "java.topic_logs", "topic");
        String orange = channel.queueDeclare().getQueue();
        String lazy = channel.queueDeclare().getQueue();
        channel.queueBind(orange, "java.topic_logs", "*.orange.*");
        channel.queueBind(lazy, "java.topic_logs", "*.*.rabbit");
        channel.queueBind(lazy, "java.topic_logs", "lazy.#");
        List<String> keys = List.of("quick.orange.rabbit", "lazy.orange.elephant", "quick.orange.fox", "lazy.brown.fox",
                "lazy.pink.rabbit", "quick.brown.fox", "orange", "lazy", "lazy.orange.new.rabbit");
        for (String key : keys) {
            Support.publish(channel, "java.topic_logs", key, null, Support.bytes(key));
        }
        Support.equal(Support.drain(channel, orange), List.of("quick.orange.rabbit", "lazy.orange.elephant", "quick.orange.fox"), "orange");
        Support.equal(Support.drain(channel, lazy), List.of("quick.orange.rabbit", "lazy.orange.elephant", "lazy.brown.fox",
                "lazy.pink.rabbit", "lazy", "lazy.orange.new.rabbit"), "lazy or rabbits");
        channel.exchangeDelete("java.topic_logs");
    }

    /** The client's own pair of RpcServer and RpcClient, over direct reply-to. */
    static void rpc(Connection connection) throws Exception {
        Channel serving = connection.createChannel();
        Support.freshQueue(serving, "java.rpc_queue", false, null);
        StringRpcServer server = new StringRpcServer(serving, "java.rpc_queue") {
            @Override
            public String handleStringCall(String request, AMQP.BasicProperties reply) {
                return String.valueOf(fibonacci(Integer.parseInt(request)));
            }
        };
        Thread loop = new Thread(() -> {
            try {
                server.mainloop();
            } catch (Exception e) {
                e.printStackTrace(System.out);
            }
        });
        loop.start();
        RpcClientParams params = new RpcClientParams().channel(connection.createChannel()).exchange("").routingKey("java.rpc_queue")
                .timeout(Support.DEADLINE_S * 1000);
        try (RpcClient client = new RpcClient(params)) {
            for (int[] call : new int[][] {{30, 832040}, {5, 5}, {0, 0}, {12, 144}}) {
                Support.equal(client.stringCall(String.valueOf(call[0])), String.valueOf(call[1]), "fibonacci of " + call[0]);
            }
            server.terminateMainloop(); // takes effect after a request: one more, without a reply, ends a loop that is already waiting
            serving.basicPublish("", "java.rpc_queue", null, Support.bytes("end"));
        }
        loop.join(Support.DEADLINE_S * 1000L);
        connection.createChannel().queueDelete("java.rpc_queue");
    }

    static long fibonacci(int n) {
        return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    }
}
