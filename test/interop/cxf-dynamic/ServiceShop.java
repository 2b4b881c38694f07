import javax.xml.namespace.QName;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.jaxws.endpoint.dynamic.JaxWsDynamicClientFactory;

/** The service of an OpenAPI document, by CXF's dynamic client: classes generated at run time, read by reflection. */
class ServiceShop extends ServiceCheck {
    public static void main(String[] arguments) throws Exception {
        QName port = new QName("urn:Shop", arguments[1].equals("1.1") ? "Soap11" : "Soap12");
        Client client = JaxWsDynamicClientFactory.newInstance()
                .createClient(arguments[0], new QName("urn:Shop", "Shop"), port);
        Object item = client.invoke("getItem", 1)[0];
        check("read", () -> Members.all(item, "name", "price", "weight", "stock", "added", "expires", "rating",
                "returnable", "note", "tags.string.#", "tags.string.1"));
        check("change", () -> {
            Members.set(item, "name", "\u00d6 & Co");
            client.invoke("putItem", 1, item);
            return Members.all(client.invoke("getItem", 1)[0], "name", "price", "weight", "rating");
        });
        check("fault", () -> {
            try {
                client.invoke("getItem", 404);
                return new Object[0];
            } catch (Exception fault) {
                return Members.all(fault, "faultInfo.status");
            }
        });
        System.exit(0);
    }
}
