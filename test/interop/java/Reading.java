import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Calendar;
import java.util.List;
import javax.xml.datatype.XMLGregorianCalendar;

/** Reads values of generated beans through getters, by a path like SearchRecords.SearchRecord.1.Status. */
final class Reading {
    private Reading() {}

    /**
     * Returns the value at the path, or null if a step of the path is null. The step # is a list's length. A final ?
     * asks for the state of the value.
     */
    static Object at(Object reply, String path) {
        if (path.endsWith(".?")) {
            int name = path.lastIndexOf('.', path.length() - 3);
            return presence(get(at(reply, path.substring(0, name)), path.substring(name + 1, path.length() - 2)));
        }
        Object value = reply;
        for (String step : path.split("\\.")) {
            if (step.equals("#")) {
                return value == null ? 0 : list(value).size();
            }
            if (value == null) {
                return null;
            }
            value = unwrapped(isList(value) ? item(list(value), step) : get(value, step));
        }
        return value;
    }

    private static String presence(Object member) {
        if (member == null) {
            return "absent";
        }
        return unwrapped(member) == null ? "nil" : "value";
    }

    /** Returns a list's item. Axis omits the step of the item element, so a name stays at the list. */
    private static Object item(List<?> list, String step) {
        return Character.isDigit(step.charAt(0)) ? list.get(Integer.parseInt(step)) : list;
    }

    /** Returns the value of the bean's getter; null if an ADB bean reports that a primitive value was absent. */
    private static Object get(Object bean, String name) {
        if (Boolean.FALSE.equals(invoke(bean, "is" + name + "Specified"))) {
            return null;
        }
        for (String getter : List.of("get" + name, "is" + name, name)) {
            if (method(bean, getter) != null) {
                return invoke(bean, getter);
            }
        }
        throw new IllegalStateException(bean + ": expected a getter of " + name + ", got none");
    }

    /** Finds a method by its name, ignoring case, since generators treat a lower-case first letter differently. */
    private static Method method(Object bean, String name) {
        return Arrays.stream(bean.getClass().getMethods())
                .filter(method -> method.getParameterCount() == 0 && method.getName().equalsIgnoreCase(name))
                .findFirst()
                .orElse(null);
    }

    private static Object invoke(Object bean, String name) {
        Method method = method(bean, name);
        try {
            return method == null ? null : method.invoke(bean);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(bean + ": " + name, e);
        }
    }

    /** Returns the content of a JAXBElement or a DataHandler of javax or jakarta; other values unchanged. */
    private static Object unwrapped(Object value) {
        String type = value == null ? "" : value.getClass().getSimpleName();
        if (type.endsWith("DataHandler")) {
            return get(value, "InputStream");
        }
        return type.equals("JAXBElement") ? get(value, "Value") : value;
    }

    private static boolean isList(Object value) {
        return value instanceof List || value instanceof Object[];
    }

    private static List<?> list(Object value) {
        return value instanceof Object[] items ? Arrays.asList(items) : (List<?>) value;
    }

    /** Formats a value for comparison. */
    static String lexical(Object value) throws IOException {
        if (value instanceof InputStream stream) {
            return lexical(stream.readAllBytes());
        }
        if (value instanceof byte[] bytes) {
            return new String(bytes, 0, 4, StandardCharsets.ISO_8859_1) + " " + bytes.length;
        }
        if (value instanceof BigDecimal decimal) {
            return decimal.toPlainString();
        }
        if (value instanceof XMLGregorianCalendar date) {
            return date.toXMLFormat();
        }
        if (value instanceof Calendar date) {
            return date.toInstant().toString();
        }
        return value instanceof Enum<?> ? String.valueOf(get(value, "Value")) : value.toString();
    }
}
