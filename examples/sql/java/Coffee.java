import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/**
 * Takes coffee orders over SQL with the JDBC driver (org.postgresql:postgresql): it posts orders, and consumes them in
 * transactions.
 *
 * <p>JDBC_URL is the address of the broker (default jdbc:postgresql://127.0.0.1:5433/fiveways?user=guest).
 */
public final class Coffee {
    record Order(String drink, String table) {}

    public static void main(String[] args) throws SQLException {
        String url = System.getenv().getOrDefault("JDBC_URL", "jdbc:postgresql://127.0.0.1:5433/fiveways?user=guest");
        try (Connection c = DriverManager.getConnection(url)) {
            run(c, "select mbus4.create_queue('coffee', 4)");
            post(c, Map.of("drink", "espresso"), "1");
            post(c, Map.of("drink", "tea"), "2");
            consume(c);
            run(c, "select mbus4.drop_queue('coffee')");
        }
    }

    static void run(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute(sql);
        }
    }

    /** Posts one order. With autocommit it is on disk when this returns. The driver converts a Map to hstore. */
    static void post(Connection c, Map<String, String> data, String table) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("select mbus4.post('coffee', ?::hstore, properties => hstore('table', ?))")) {
            s.setObject(1, data);
            s.setString(2, table);
            s.execute();
        }
    }

    /** Consumes all orders. A consumed message is removed if its transaction commits, and returns if it rolls back. */
    static void consume(Connection c) throws SQLException {
        c.setAutoCommit(false);
        Order first = order(c);
        System.out.printf("%s for table %s: the machine is broken%n", first.drink(), first.table());
        c.rollback();
        for (Order o = order(c); o != null; o = order(c)) {
            System.out.printf("%s for table %s: made%n", o.drink(), o.table());
            c.commit();
        }
        c.commit();
        c.setAutoCommit(true);
    }

    /** Consumes one order; null if no message is available now. */
    static Order order(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("select data, properties->'table' from mbus4.consume('coffee')"); ResultSet r = s.executeQuery()) {
            if (!r.next()) return null;
            Map<?, ?> data = (Map<?, ?>) r.getObject(1);
            return new Order((String) data.get("drink"), r.getString(2));
        }
    }
}
