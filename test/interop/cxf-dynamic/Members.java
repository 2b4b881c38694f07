import java.lang.reflect.Method;
import java.util.List;

/** Members of the classes that the dynamic client generates at run time. */
final class Members {
    private Members() {}

    /**
     * Returns the value at a path of names and indexes. `#` is the number of items, `value` an enumeration's text. Null if
     * the path ends early.
     */
    static Object at(Object record, String path) throws Exception {
        Object value = record;
        for (String step : path.split("\\.")) {
            if (value == null) return null;
            if (step.equals("#")) value = ((List<?>) value).size();
            else if (step.matches("\\d+")) value = ((List<?>) value).get(Integer.parseInt(step));
            else value = getter(value, step).invoke(value);
        }
        return value;
    }

    /** Returns the values at several paths. */
    static Object[] all(Object record, String... paths) throws Exception {
        Object[] values = new Object[paths.length];
        for (int index = 0; index < paths.length; index++) values[index] = at(record, paths[index]);
        return values;
    }

    /** Creates an object of a generated class with members by name. An array has only a getter. */
    static Object make(String type, Object... members) throws Exception {
        Object made = Thread.currentThread().getContextClassLoader().loadClass(type).getDeclaredConstructor().newInstance();
        for (int index = 0; index < members.length; index += 2) set(made, (String) members[index], members[index + 1]);
        return made;
    }

    /** Returns a value of a generated enumeration. */
    static Object enumValue(String type, String value) throws Exception {
        return Thread.currentThread().getContextClassLoader().loadClass(type).getMethod("fromValue", String.class).invoke(null, value);
    }

    @SuppressWarnings("unchecked")
    static void set(Object record, String name, Object value) throws Exception {
        if (value instanceof List<?> items) {
            ((List<Object>) at(record, name)).addAll(items);
            return;
        }
        for (Method method : record.getClass().getMethods())
            if (method.getName().equalsIgnoreCase("set" + name)) method.invoke(record, value);
    }

    private static Method getter(Object record, String name) {
        for (Method method : record.getClass().getMethods())
            if (method.getParameterCount() == 0 && method.getName().matches("(?i)(get|is|)" + name)) return method;
        throw new IllegalArgumentException("expected a member " + name + ", got none");
    }
}
