import java.io.PrintStream;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Runs the classes named by the other arguments, except the cases in SKIP, and writes a JUnit report to the first. */
public class Report extends RunListener {
    private final Map<String, String> ends = new HashMap<>(); // the content of the element of each case, by name
    private final PrintStream out;

    private Report(PrintStream out) { this.out = out; }

    @Override public void testFailure(Failure f) { end(f.getDescription(), "failure", f.getTrace()); }

    @Override public void testAssumptionFailure(Failure f) { end(f.getDescription(), "skipped", String.valueOf(f.getMessage())); }

    @Override public void testIgnored(Description d) {
        end(d, "skipped", "");
        testFinished(d);
    }

    @Override public void testFinished(Description d) {
        String inside = ends.remove(name(d));
        out.printf("<testcase %s>%s</testcase>%n", name(d), inside == null ? "" : inside);
        out.flush();
    }

    private void end(Description d, String how, String text) {
        String inside = "<" + how + ">" + escaped(text) + "</" + how + ">";
        if (d.isTest()) {
            ends.put(name(d), inside);
        } else { // the class as a whole
            out.printf("<testcase %s>%s</testcase>%n", name(d), inside);
        }
    }

    private static String name(Description d) {
        String method = d.getMethodName() == null ? "(class)" : d.getMethodName();
        return String.format("classname=\"%s\" name=\"%s\"", d.getTestClass().getSimpleName(), escaped(method));
    }

    private static String escaped(String s) {
        return s.replaceAll("[^\\x20-\\uD7FF\\t\\n]", "?").replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
    }

    /** All cases except those with a line "Class method" in SKIP. */
    private static class Chosen extends Filter {
        private final List<String> skip = Arrays.asList(System.getenv().getOrDefault("SKIP", "").split("\n"));

        @Override public boolean shouldRun(Description d) {
            return !d.isTest() || !skip.contains(d.getTestClass().getSimpleName() + " " + d.getMethodName());
        }

        @Override public String describe() { return "those that are not left out"; }
    }

    public static void main(String[] args) throws Exception {
        try (PrintStream out = new PrintStream(args[0], "UTF-8")) {
            out.println("<testsuite>");
            JUnitCore core = new JUnitCore();
            core.addListener(new Report(out));
            for (int i = 1; i < args.length; i++) {
                Class<?> c = Class.forName(args[i]);
                if (!Modifier.isAbstract(c.getModifiers())) {
                    core.run(Request.aClass(c).filterWith(new Chosen()));
                }
            }
            out.println("</testsuite>");
        }
        System.exit(0); // some tests leave threads running
    }
}
