import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;

/**
 * Takes orders of coffee by SQL: posts, and consumes in transactions, with the JDBC driver (org.postgresql:postgresql).
 *
 * <p>JDBC_URL says where; without it jdbc:postgresql://127.0.0.1:5433/fiveways?user=guest.
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

    /** Posts one order; with autocommit it is on disk when this returns. The driver turns a Map into hstore where the server says so. */
    static void post(Connection c, Map<String, String> data, String table) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("select mbus4.post('coffee', ?::hstore, properties => hstore('table', ?))")) {
            s.setObject(1, data);
            s.setString(2, table);
            s.execute();
        }
    }

    /** Consumes all orders. What is consumed is gone when its transaction commits, and back when it does not. */
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

    /** Consumes one order; null when there is none that can be had now. */
    static Order order(Connection c) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("select data, properties->'table' from mbus4.consume('coffee')"); ResultSet r = s.executeQuery()) {
            if (!r.next()) return null;
            Map<?, ?> data = (Map<?, ?>) r.getObject(1);
            return new Order((String) data.get("drink"), r.getString(2));
        }
    }
}
