import java.util.concurrent.Callable;

/** Prints a line of JSON for each check. */
class ServiceCheck {
    static void check(String situation, Callable<Object[]> read) {
        StringBuilder line = new StringBuilder("{\"situation\":").append(quoted(situation));
        try {
            Object[] values = read.call();
            StringBuilder got = new StringBuilder();
            for (Object value : values)
                got.append(got.length() == 0 ? "" : ",").append(value == null ? "null" : quoted(value.toString()));
            line.append(",\"got\":[").append(got).append(']');
        } catch (Exception error) { // the harness reports it
            line.append(",\"error\":").append(quoted(error.toString()));
        }
        System.out.println(line.append('}'));
    }

    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
}
