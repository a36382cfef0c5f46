import java.io.*;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.TimeUnit;

/** The program's own broker, with the same port and folder after each restart. FIVEWAYS names the binary. */
final class OwnBroker implements AutoCloseable {
    private final Path folder = Files.createTempDirectory("fiveways-java-");
    private final Socket reservation = new Socket(); // bound but not listening: only programs that name the port get it
    private final int port;
    private Process process;

    OwnBroker(String... flags) throws Exception {
        reservation.setReuseAddress(true);
        reservation.bind(new InetSocketAddress("127.0.0.1", 0));
        port = reservation.getLocalPort();
        start(flags);
    }

    static boolean available() {
        return System.getenv("FIVEWAYS") != null;
    }

    String url() {
        return "amqp://guest:guest@127.0.0.1:" + port + "/%2f";
    }

    /** Starts the broker and returns once it serves AMQP. */
    void start(String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getenv("FIVEWAYS"), "serve", "--data", folder.resolve("data").toString(),
                "--amqp", "127.0.0.1:" + port, "--sql", "off", "--redis", "off", "--etcd", "off", "--http", "off"));
        command.addAll(List.of(flags));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        BufferedReader output = process.inputReader();
        for (String line = output.readLine(); !line.startsWith("amqp"); line = output.readLine()) {
            // Other lines of the banner precede it. null, if the broker does not start, fails the program.
        }
    }

    /** Kills the broker with SIGKILL. */
    void kill() throws Exception {
        process.destroyForcibly().waitFor(Support.DEADLINE_S, TimeUnit.SECONDS);
    }

    @Override
    public void close() throws Exception {
        kill();
        reservation.close();
        List<Path> all;
        try (var walk = Files.walk(folder)) {
            all = new ArrayList<>(walk.toList());
        }
        Collections.reverse(all);
        for (Path path : all) {
            Files.delete(path);
        }
    }
}
