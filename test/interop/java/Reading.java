import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Calendar;
import java.util.List;
import javax.xml.datatype.XMLGregorianCalendar;

/** Reads values of generated beans through their getters, by a path such as SearchRecords.SearchRecord.1.Status. */
final class Reading {
    private Reading() {}

    /** The value at the path as text, null where it or anything on the way is null. The step # is a list's length. */
    static String text(Object reply, String path) {
        Object value = reply;
        for (String step : path.split("\\.")) {
            if (step.equals("#")) {
                return String.valueOf(value == null ? 0 : list(value).size());
            }
            if (value == null) {
                return null;
            }
            value = unwrapped(isList(value) ? item(list(value), step) : get(value, step));
        }
        return value == null ? null : lexical(value);
    }

    /** A list's item. Axis leaves out the step of the item element, so a name stays at the list. */
    private static Object item(List<?> list, String step) {
        return Character.isDigit(step.charAt(0)) ? list.get(Integer.parseInt(step)) : list;
    }

    /** What the bean's getter gives, whatever its case: each generator makes its own of a small first letter. */
    private static Object get(Object bean, String name) {
        List<String> getters = List.of(("get" + name).toLowerCase(), ("is" + name).toLowerCase(), name.toLowerCase());
        for (Method method : bean.getClass().getMethods()) {
            if (method.getParameterCount() == 0 && getters.contains(method.getName().toLowerCase())) {
                return invoke(bean, method);
            }
        }
        throw new IllegalStateException(bean + ": expected a getter of " + name + ", got none");
    }

    private static Object invoke(Object bean, Method method) {
        try {
            return method.invoke(bean);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(method + " of " + bean, e);
        }
    }

    /** What a JAXBElement holds, of javax or jakarta; anything else itself. */
    private static Object unwrapped(Object value) {
        return value != null && value.getClass().getSimpleName().equals("JAXBElement") ? get(value, "Value") : value;
    }

    private static boolean isList(Object value) {
        return value instanceof List || value instanceof Object[];
    }

    private static List<?> list(Object value) {
        return value instanceof Object[] items ? Arrays.asList(items) : (List<?>) value;
    }

    private static String lexical(Object value) {
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
