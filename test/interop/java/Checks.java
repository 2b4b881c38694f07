import static java.time.format.DateTimeFormatter.ISO_LOCAL_DATE_TIME;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Calendar;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Makes the harness's checks one after another: a call, then the values of its reply. */
final class Checks {
    /** Stack-specific code: makes the call of a check and returns the reply's Data, or a Fault. */
    interface Client {
        Object call(Check check) throws Exception;
    }

    /** A SOAP fault as reported by the stack's exception. */
    record Fault(String code, String message) {}

    /** One check: its inputs by path and the paths to read. Absent inputs are missing; null inputs have no value. */
    record Check(String operation, String situation, Map<String, String> input, List<String> read) {
        boolean has(String path) {
            return input.containsKey(path);
        }

        String text(String path) {
            return input.get(path);
        }

        Integer integer(String path) {
            return has(path) ? Integer.valueOf(text(path)) : null;
        }

        Boolean flag(String path) {
            return has(path) ? Boolean.valueOf(text(path)) : null;
        }

        /** Returns a date as a Calendar, which always has a zone: UTC, the contract's zone, if the date has none. */
        Calendar calendar(String path) {
            if (!has(path)) {
                return null;
            }
            String text = text(path);
            Instant instant = LocalDateTime.parse(text.substring(0, 19)).toInstant(
                    text.length() == 19 ? ZoneOffset.UTC : ZoneOffset.of(text.substring(19)));
            Calendar date = Calendar.getInstance();
            date.setTimeInMillis(instant.toEpochMilli());
            return date;
        }

        /** Returns the items of an array, or null if the array is absent. */
        String[] texts(String path) {
            if (!has(path + ".#")) {
                return null;
            }
            return IntStream.range(0, integer(path + ".#")).mapToObj(i -> text(path + "." + i)).toArray(String[]::new);
        }

        boolean isFault() {
            return situation.equals("fault");
        }
    }

    private Checks() {}

    /** Runs all checks of checks.tsv in the folder and prints one JSON line for each. */
    static void run(String folder, Client client) throws Exception {
        for (Check check : load(Path.of(folder, "checks.tsv"))) {
            System.out.println(line(check, client));
        }
    }

    /** Returns the endpoint of a check's call; faults have a separate one. */
    static String endpoint(Check check) {
        return System.getenv(check.isFault() ? "FAULT_ENDPOINT" : "ENDPOINT");
    }

    private static List<Check> load(Path file) throws Exception {
        Map<String, Check> checks = new LinkedHashMap<>();
        for (String row : Files.readAllLines(file)) {
            String[] column = row.split("\t", -1);
            Check check = checks.computeIfAbsent(
                    column[0] + " " + column[1],
                    key -> new Check(column[0], column[1], new LinkedHashMap<>(), new ArrayList<>()));
            switch (column[2]) {
                case "input" -> check.input().put(column[3], column[4]);
                case "null" -> check.input().put(column[3], null);
                default -> check.read().add(column[3]);
            }
        }
        return List.copyOf(checks.values());
    }

    private static String line(Check check, Client client) {
        return "{\"operation\":" + quote(check.operation()) + ",\"situation\":" + quote(check.situation()) + ","
                + outcome(check, client) + "}";
    }

    private static String outcome(Check check, Client client) {
        try {
            Object reply = client.call(check);
            List<String> got = new ArrayList<>();
            for (String path : check.read()) {
                got.add(quote(printed(check, Reading.at(reply, path))));
            }
            return "\"got\":[" + String.join(",", got) + "]";
        } catch (Exception e) {
            e.printStackTrace();
            return "\"error\":" + quote(e.toString());
        }
    }

    /** Formats a value for comparison. For a date without a zone, a Calendar has only the wall clock. */
    private static String printed(Check check, Object value) throws IOException {
        if (value instanceof Calendar date && check.situation().equals("date-no-zone")) {
            return ISO_LOCAL_DATE_TIME.format(date.toInstant().atZone(date.getTimeZone().toZoneId()));
        }
        return value == null ? null : Reading.lexical(value);
    }

    private static String quote(String text) {
        if (text == null) {
            return "null";
        }
        return text.chars()
                .mapToObj(c -> c < ' ' || c == '"' || c == '\\' || c > '~'
                        ? String.format("\\u%04x", c)
                        : Character.toString(c))
                .collect(Collectors.joining("", "\"", "\""));
    }
}
