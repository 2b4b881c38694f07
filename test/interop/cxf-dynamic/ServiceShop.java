import java.util.List;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.jaxws.endpoint.dynamic.JaxWsDynamicClientFactory;

/** The service of an OpenAPI document, by CXF's dynamic client: classes generated at run time, read by reflection. */
class ServiceShop extends ServiceCheck {
    static Object member(Object record, String getter) throws Exception {
        return record.getClass().getMethod(getter).invoke(record);
    }

    static Object[] members(Object record, String... getters) throws Exception {
        Object[] values = new Object[getters.length];
        for (int index = 0; index < getters.length; index++) values[index] = member(record, getters[index]);
        return values;
    }

    public static void main(String[] arguments) throws Exception {
        Client client = JaxWsDynamicClientFactory.newInstance().createClient(arguments[0]);
        Object item = client.invoke("getItem", 1)[0];
        check("read", () -> {
            List<?> tags = (List<?>) member(member(item, "getTags"), "getString");
            Object[] values = members(item, "getName", "getPrice", "getWeight", "getStock", "getAdded", "getExpires",
                "getRating", "isReturnable", "getNote", "getTags", "getTags");
            values[9] = tags.size();
            values[10] = tags.get(1);
            return values;
        });
        check("change", () -> {
            item.getClass().getMethod("setName", String.class).invoke(item, "\u00d6 & Co");
            client.invoke("putItem", 1, item);
            return members(client.invoke("getItem", 1)[0], "getName", "getPrice", "getWeight", "getRating");
        });
        check("fault", () -> {
            try {
                client.invoke("getItem", 404);
                return new Object[0];
            } catch (Exception fault) {
                return new Object[] {member(member(fault, "getFaultInfo"), "getStatus")};
            }
        });
        System.exit(0);
    }
}
