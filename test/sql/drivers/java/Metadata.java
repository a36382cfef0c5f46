import java.lang.reflect.*;
import java.sql.*;
import java.util.*;
import org.postgresql.PGResultSetMetaData;

/** Calls every method of DatabaseMetaData, and prints the shape of each answer or the error. */
class Metadata {
    public static void main(String[] args) throws Exception {
        String given = System.getenv("SQL_URL");
        String url = given.replaceFirst("postgres://([^@]*)@", "jdbc:postgresql://");
        url += (url.contains("?") ? "&" : "?") + "user=" + java.net.URI.create(given).getUserInfo();
        try (Connection c = DriverManager.getConnection(url)) {
            DatabaseMetaData md = c.getMetaData();
            Method[] all = DatabaseMetaData.class.getMethods();
            Arrays.sort(all, Comparator.comparing(Method::toString));
            for (Method m : all) {
                if (Modifier.isStatic(m.getModifiers()) || m.getDeclaringClass() != DatabaseMetaData.class) continue;
                System.out.println(m.getName() + "/" + m.getParameterCount() + ": " + call(md, m));
            }
            for (String f : new String[] {"now", "abs", "current_database"}) {
                try (CallableStatement s = c.prepareCall(f.equals("abs") ? "{? = call abs(?)}" : "{? = call " + f + "()}")) {
                    s.registerOutParameter(1, f.equals("abs") ? Types.INTEGER : f.equals("now") ? Types.TIMESTAMP : Types.VARCHAR);
                    if (f.equals("abs")) s.setInt(2, -5);
                    s.execute();
                    System.out.println("call " + f + ": " + s.getObject(1).getClass().getSimpleName());
                } catch (SQLException e) { System.out.println("call " + f + ": " + e.getSQLState() + " " + e.getMessage()); }
            }
            try (PreparedStatement s = c.prepareStatement("select * from mbus4.queue")) {
                ResultSetMetaData r = s.getMetaData();
                System.out.println("columns " + r.getColumnName(1) + " " + r.getColumnTypeName(1) + " " + r.getColumnClassName(1) + " " + r.isAutoIncrement(1));
                PGResultSetMetaData base = r.unwrap(PGResultSetMetaData.class);
                System.out.println("of the table " + r.getTableName(1) + " " + base.getBaseSchemaName(1) + " " + base.getBaseColumnName(1) + " " + r.isNullable(1));
            }
        }
    }

    static String call(DatabaseMetaData md, Method m) {
        Object[] args = new Object[m.getParameterCount()];
        for (int i = 0; i < args.length; i++) {
            Class<?> t = m.getParameterTypes()[i];
            if (t == int.class) args[i] = 1;
            else if (t == boolean.class) args[i] = true;
            else if (t == String.class) args[i] = i == 1 ? "mbus4" : i == 2 ? (m.getName().startsWith("getFunction") || m.getName().startsWith("getProc") ? "post" : m.getName().contains("UDT") || m.getName().contains("Attributes") ? "qt_model" : "queue") : null;
            else args[i] = null;
        }
        try {
            Object r = m.invoke(md, args);
            if (r instanceof ResultSet) {
                ResultSet rs = (ResultSet) r;
                ResultSetMetaData meta = rs.getMetaData();
                StringBuilder s = new StringBuilder();
                for (int i = 1; i <= meta.getColumnCount(); i++) s.append(meta.getColumnName(i)).append(' ').append(meta.getColumnTypeName(i)).append(", ");
                int rows = 0;
                while (rs.next()) { rows++; for (int i = 1; i <= meta.getColumnCount(); i++) rs.getObject(i); }
                return (rows > 0 ? "rows " : "none ") + s;
            }
            return String.valueOf(r);
        } catch (InvocationTargetException e) {
            Throwable t = e.getCause();
            return t.getClass().getSimpleName() + " " + t.getMessage().split("\n")[0];
        } catch (IllegalAccessException | SQLException e) {
            return e.toString();
        }
    }
}
