import java.math.BigDecimal;
import java.util.List;
import javax.xml.namespace.QName;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.cxf.binding.soap.SoapHeader;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.headers.Header;
import org.apache.cxf.jaxws.endpoint.dynamic.JaxWsDynamicClientFactory;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** The adopted .asmx service, by CXF's dynamic client: classes generated at run time, read by reflection. */
class ServiceOrders extends ServiceCheck {
    private static final String NAMESPACE = "http://orders.example/";
    private static Client client;
    private static int placed;

    private static Object get(int id) throws Exception {
        return client.invoke("GetOrder", id, null)[0];
    }

    public static void main(String[] arguments) throws Exception {
        QName port = new QName(NAMESPACE, arguments[1].equals("1.1") ? "OrdersSoap" : "OrdersSoap12");
        client = JaxWsDynamicClientFactory.newInstance()
                .createClient(arguments[0], new QName(NAMESPACE, "Orders"), port);
        client.getRequestContext().put(Header.HEADER_LIST, List.of(session()));
        // the second result is the reply's header block
        Object[] reply = client.invoke("GetOrder", 1, null);
        Object order = reply[0];
        check("read", () -> Members.all(order, "id", "total", "status.value", "placed", "shipped", "line.#",
                "line.0.quantity", "line.1.price", "card.last4", "invoice", "customer.name", "customer.phone.value",
                "customer.phone.kind"));
        check("polymorphism", () -> new Object[] {
            Members.at(order, "customer").getClass().getSimpleName(), Members.at(order, "customer.vatId")});
        check("list", () -> Members.all(order, "labels.string.#", "labels.string.0", "labels.string.1"));
        check("header", () -> Members.all(reply[1], "callsLeft"));
        check("any", () -> new Object[] {((Element) Members.at(order, "any")).getTextContent()});
        check("write", () -> {
            placed = (Integer) client.invoke("PlaceOrder", orderToPlace())[0];
            return Members.all(get(placed), "customer.name", "customer.phone.kind", "customer.vatId", "shipped", "total",
                    "line.1.article", "invoice", "card");
        });
        check("fault", () -> {
            try {
                get(404);
                return new Object[0];
            } catch (Exception fault) {
                return Members.all(fault, "faultInfo.orderId", "faultInfo.hint");
            }
        });
        check("empty reply", () -> {
            client.invoke("CancelOrder", placed);
            return Members.all(get(placed), "status.value");
        });
        System.exit(0);
    }

    private static SoapHeader session() throws Exception {
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument();
        Element header = document.createElementNS(NAMESPACE, "SessionHeader");
        for (String[] member : new String[][] {{"session", "abc"}, {"branch", "north"}})
            header.appendChild(document.createElementNS(NAMESPACE, member[0])).setTextContent(member[1]);
        return new SoapHeader(new QName(NAMESPACE, "SessionHeader"), header);
    }

    private static Object made(String type, Object... members) throws Exception {
        return Members.make("example.orders." + type, members);
    }

    private static Object orderToPlace() throws Exception {
        Object phone = made("Phone", "value", "555", "kind", "mobile");
        Object status = Members.enumValue("example.orders.OrderStatus", "Shipped");
        return made("Order", "version", "2",
                "customer", made("BusinessCustomer", "name", "\u00d6 & Co", "vatId", "AT9", "phone", phone),
                "placed", date("2020-02-29T12:00:00"), "total", new BigDecimal("10.25"), "status", status,
                "line", List.of(
                        made("Line", "quantity", 3, "article", "Screws", "price", new BigDecimal("3.25")),
                        made("Line", "quantity", 1, "article", "Rope", "price", new BigDecimal("0.50"))),
                "labels", made("ArrayOfString", "string", List.of("one", "two")), "invoice", "I-1");
    }
}
