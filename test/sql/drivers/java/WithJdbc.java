import java.io.*;
import java.net.URI;
import java.sql.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.*;
import org.postgresql.util.HStoreConverter;

/** The JDBC driver: extended protocol, server-prepared statements with binary results, fetch size, metadata. */
public final class WithJdbc {
    static void check(boolean ok, Object what) {
        if (!ok) throw new AssertionError(what);
    }

    interface Action { void run() throws SQLException; }

    static void fails(String state, Action action) {
        try {
            action.run();
        } catch (SQLException e) {
            check(state.equals(e.getSQLState()), e.getSQLState() + " " + e.getMessage());
            return;
        }
        throw new AssertionError("no error, want " + state);
    }

    static Connection connect(String url, String password) throws SQLException {
        URI u = URI.create(url);
        Properties p = new Properties();
        String[] who = u.getUserInfo().split(":");
        p.setProperty("user", who[0]);
        if (password != null) p.setProperty("password", password);
        else if (who.length > 1) p.setProperty("password", who[1]);
        p.setProperty("ApplicationName", "jdbc test");
        return DriverManager.getConnection("jdbc:postgresql://" + u.getHost() + ":" + u.getPort() + u.getPath() + "?sslmode=disable", p);
    }

    static String one(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            check(r.next(), sql);
            return r.getString(1);
        }
    }

    static int count(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            int n = 0;
            while (r.next()) n++;
            return n;
        }
    }

    public static void main(String[] args) throws Exception {
        String url = System.getenv("SQL_URL");
        try (Connection c = connect(url, null)) {
            check(c.getMetaData().getDatabaseMajorVersion() >= 15, c.getMetaData().getDatabaseProductVersion());
            check("jdbc test".equals(one(c, "show application_name")), "application_name");
            one(c, "select mbus4.create_queue('with_jdbc', 64)");
            postAndConsume(c);
            types(c);
            cursors(c);
            errors(c);
            cancel(c);
            copy(c);
            metadata(c);
            one(c, "select mbus4.drop_queue('with_jdbc')");
        }
        String app = System.getenv("APP_URL");
        if (app != null && !app.isEmpty()) {
            connect(app, null).close();
            fails("28P01", () -> connect(app, "wrong"));
        }
    }

    static void copy(Connection c) throws Exception {
        one(c, "select mbus4.create_view('with_jdbc')");
        CopyManager copies = c.unwrap(PGConnection.class).getCopyAPI();
        check(copies.copyIn("copy with_jdbc_q from stdin", new StringReader("n=>1\nn=>2\n")) == 2, "rows");
        CopyIn in = copies.copyIn("copy with_jdbc_q from stdin csv");
        byte[] row = "\"n=>3\"\n".getBytes();
        in.writeToCopy(row, 0, 4);
        in.writeToCopy(row, 4, row.length - 4);
        check(in.endCopy() == 1, "row");
        CopyIn dropped = copies.copyIn("copy with_jdbc_q from stdin");
        dropped.writeToCopy(row, 0, 3);
        dropped.cancelCopy();
        StringWriter out = new StringWriter();
        check(copies.copyOut("copy (select data->'n' from mbus4.consumen_with_jdbc_by_default(10)) to stdout", out) == 3, "rows out");
        check(out.toString().equals("1\n2\n3\n"), out);
    }

    static void postAndConsume(Connection c) throws SQLException {
        Map<String, String> data = new HashMap<>();
        data.put("k", "v ü \"'\\");
        data.put("null", null);
        String iid = null;
        // often enough for the driver to prepare the statement on the server and request binary results
        try (PreparedStatement post = c.prepareStatement("select mbus4.post(?, ?, properties => ?::hstore)")) {
            for (int i = 0; i < 12; i++) {
                data.put("n", Integer.toString(i));
                post.setString(1, "with_jdbc");
                post.setObject(2, data);
                post.setString(3, HStoreConverter.toString(Map.of("STATE", "DONE")));
                try (ResultSet r = post.executeQuery()) {
                    check(r.next(), "no iid");
                    iid = r.getString(1);
                    check(iid.startsWith("with_jdbc."), iid);
                }
            }
        }
        c.setAutoCommit(false);
        for (boolean commit : new boolean[] {false, true}) {
            try (PreparedStatement consume = c.prepareStatement("select * from mbus4.consume(?)")) {
                for (int i = 0; i < 12; i++) {
                    consume.setString(1, "with_jdbc");
                    try (ResultSet r = consume.executeQuery()) {
                        check(r.next(), "no message");
                        @SuppressWarnings("unchecked")
                        Map<String, String> got = (Map<String, String>) r.getObject("data");
                        data.put("n", Integer.toString(i));
                        check(got.equals(data), got);
                        check(r.getTimestamp("added") != null && r.getLong("id") > 0, "added, id");
                        check(r.getMetaData().getColumnCount() == 9 && r.getMetaData().getColumnTypeName(9).contains("hstore"), "columns");
                        check(r.getMetaData().getColumnTypeName(6).equals("_int4") && r.getArray("received") != null, "received");
                        check(!r.next(), "more than one");
                    }
                }
            }
            if (commit) c.commit(); else c.rollback();
        }
        check(count(c, "select * from mbus4.consume('with_jdbc')") == 0, "messages are left");
        c.commit();
        c.setAutoCommit(true);

        try (PreparedStatement post = c.prepareStatement("select mbus4.post('with_jdbc', hstore('n', ?))")) {
            for (int i = 0; i < 100; i++) {
                post.setString(1, Integer.toString(i));
                post.execute();
            }
        }
    }

    static void types(Connection c) throws SQLException {
        try (PreparedStatement p = c.prepareStatement("select ?::int, ?::bigint, ?::float8, ?::numeric, ?::text, ?::bool, ?::int[], ?::timestamp")) {
            p.unwrap(PGStatement.class).setPrepareThreshold(2);
            for (int i = 0; i < 5; i++) {
                p.setInt(1, 1);
                p.setLong(2, 1L << 40);
                p.setDouble(3, 0.1);
                p.setBigDecimal(4, new java.math.BigDecimal("1.50"));
                p.setString(5, "ü");
                p.setBoolean(6, true);
                p.setArray(7, c.createArrayOf("int4", new Integer[] {1, null, 3}));
                p.setTimestamp(8, Timestamp.valueOf("2024-02-29 12:00:00.5"));
                try (ResultSet r = p.executeQuery()) {
                    check(r.next(), "a row");
                    check(r.getInt(1) == 1 && r.getLong(2) == 1L << 40 && r.getDouble(3) == 0.1, "numbers");
                    check(r.getBigDecimal(4).toPlainString().equals("1.50") && r.getString(5).equals("ü") && r.getBoolean(6), "more");
                    check(Arrays.equals((Integer[]) r.getArray(7).getArray(), new Integer[] {1, null, 3}), "array");
                    check(r.getTimestamp(8).equals(Timestamp.valueOf("2024-02-29 12:00:00.5")), r.getTimestamp(8));
                }
            }
        }
    }

    static void cursors(Connection c) throws SQLException {
        c.setAutoCommit(false);
        try (Statement s = c.createStatement()) {
            s.setFetchSize(7);
            try (ResultSet r = s.executeQuery("select (data->'n')::int as n from mbus4.consumen_with_jdbc_by_default(50)")) {
                for (int i = 0; i < 50; i++) check(r.next() && r.getInt("n") == i, i);
                check(!r.next(), "more");
            }
        }
        c.rollback();
        Savepoint mark = c.setSavepoint("mark");
        check(count(c, "select * from mbus4.consumen_with_jdbc_by_default(30)") == 30, "30");
        c.rollback(mark);
        check(count(c, "select * from mbus4.consumen_with_jdbc_by_default(1000)") == 100, "100");
        c.commit();
        c.setAutoCommit(true);

        try (PreparedStatement p = c.prepareStatement("select mbus4.post('with_jdbc', hstore('n', ?))")) {
            for (int i = 0; i < 50; i++) {
                p.setString(1, Integer.toString(i));
                p.addBatch();
            }
            check(p.executeBatch().length == 50, "a batch");
        }
        check(count(c, "select * from mbus4.consumen_with_jdbc_by_default(1000)") == 50, "what the batch posted");
    }

    static void errors(Connection c) throws SQLException {
        fails("P0001", () -> one(c, "select mbus4.post('no_such_queue', 'a=>1')"));
        fails("22012", () -> one(c, "select 1/0"));
        fails("42601", () -> one(c, "select * frm x"));
        fails("42P01", () -> one(c, "select * from no_such_table"));
        c.setAutoCommit(false);
        fails("42883", () -> one(c, "select no_such_function()"));
        fails("25P02", () -> one(c, "select 1"));
        c.rollback();
        check("1".equals(one(c, "select 1")), "after a rollback");
        c.commit();
        c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        c.commit();
        c.setAutoCommit(true);
    }

    static void cancel(Connection c) throws SQLException {
        try (Statement s = c.createStatement()) {
            Timer timer = new Timer(true);
            timer.schedule(new TimerTask() {
                @Override public void run() {
                    try {
                        s.cancel();
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }, 300);
            fails("57014", () -> s.execute("select pg_sleep(60)"));
            s.setQueryTimeout(1);
            fails("57014", () -> s.execute("select pg_sleep(60)"));
        }
        // PostgreSQL signals a backend twice; the second signal may cancel what comes next
        check(c.isValid(5) || c.isValid(5), "not valid after a cancel");
        check(c.unwrap(PGConnection.class).getBackendPID() == Integer.parseInt(one(c, "select pg_backend_pid()")), "pid");
    }

    static void metadata(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        try (ResultSet r = m.getFunctions(null, "mbus4", "consume")) {
            check(r.next(), "mbus4.consume is not listed");
        }
        try (ResultSet r = m.getTypeInfo()) {
            boolean hstore = false;
            while (r.next()) hstore |= r.getString("TYPE_NAME").contains("hstore");
            check(hstore, "hstore is not among the types");
        }
        try (ResultSet r = m.getSchemas()) {
            Set<String> names = new HashSet<>();
            while (r.next()) names.add(r.getString(1));
            check(names.contains("mbus4") && names.contains("public"), names);
        }
        try (ResultSet r = m.getTables(null, null, "%", new String[] {"TABLE", "VIEW"})) {
            while (r.next()) check(r.getString("TABLE_NAME") != null, "a table");
        }
    }
}
