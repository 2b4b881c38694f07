import java.math.BigDecimal;
import java.util.concurrent.Callable;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;

/** Output of the programs for adopted services: a line of JSON for each check. */
class ServiceCheck {
    static void check(String situation, Callable<Object[]> read) {
        StringBuilder line = new StringBuilder("{\"situation\":").append(quoted(situation));
        try {
            String separator = "";
            Object[] values = read.call();
            line.append(",\"got\":[");
            for (Object value : values) {
                line.append(separator).append(value == null ? "null" : quoted(told(value)));
                separator = ",";
            }
            line.append("]}");
        } catch (Exception error) { // the harness reports it
            line.setLength(line.indexOf(",\"got\"") < 0 ? line.length() : line.indexOf(",\"got\""));
            line.append(",\"error\":").append(quoted(String.valueOf(error))).append('}');
        }
        System.out.println(line);
    }

    static XMLGregorianCalendar date(String text) throws Exception {
        return DatatypeFactory.newInstance().newXMLGregorianCalendar(text);
    }

    private static String told(Object value) {
        return value instanceof BigDecimal ? ((BigDecimal) value).toPlainString() : value.toString();
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char character : text.toCharArray()) {
            if (character == '"' || character == '\\') json.append('\\').append(character);
            else if (character < ' ') json.append(String.format("\\u%04x", (int) character));
            else json.append(character);
        }
        return json.append('"').toString();
    }
}
