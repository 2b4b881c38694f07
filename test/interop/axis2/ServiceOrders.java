import adopted.*;
import java.math.BigDecimal;
import java.text.SimpleDateFormat;
import java.util.Calendar;
import java.util.GregorianCalendar;
import javax.xml.namespace.QName;
import org.apache.axiom.om.OMElement;
import org.apache.axiom.soap.SOAP11Constants;
import org.apache.axiom.soap.SOAP12Constants;

/** The wrapped .asmx service, by the stub and the ADB beans that WSDL2Java generates. */
class ServiceOrders extends ServiceCheck {
    static final String NAMESPACE = "http://orders.example/";
    static final SessionHeaderE session = new SessionHeaderE();
    static OrdersStub stub;
    static int placed;

    static Order get(int id) throws Exception {
        GetOrder request = new GetOrder();
        request.setOrderId(id);
        return stub.getOrder(request, session).getGetOrderResult();
    }

    public static void main(String[] arguments) throws Exception {
        stub = new OrdersStub(arguments[0]);
        stub._getServiceClient().getOptions().setSoapVersionURI(arguments[1].equals("1.1")
            ? SOAP11Constants.SOAP_ENVELOPE_NAMESPACE_URI : SOAP12Constants.SOAP_ENVELOPE_NAMESPACE_URI);
        SessionHeader header = new SessionHeader();
        header.setSession("abc");
        header.setBranch("north");
        session.setSessionHeader(header);
        Order order = get(1);
        OMElement quota = stub._getServiceClient().getLastOperationContext().getMessageContext("In").getEnvelope()
            .getHeader().getFirstChildWithName(new QName(NAMESPACE, "QuotaHeader"));
        String callsLeft = quota.getFirstChildWithName(new QName(NAMESPACE, "callsLeft")).getText();
        check("read", () -> new Object[] {
            order.getId(), order.getTotal(), order.getStatus().getValue(), wall(order.getPlaced()), order.getShipped(),
            order.getLine().length, order.getLine()[0].getQuantity(), order.getLine()[1].getPrice(),
            order.getOrderChoice_type0().getCard().getLast4(), order.getOrderChoice_type0().getInvoice(),
            order.getCustomer().getName(), order.getCustomer().getPhone().getString(),
            order.getCustomer().getPhone().getKind()});
        check("polymorphism", () -> new Object[] {
            order.getCustomer().getClass().getSimpleName(), ((BusinessCustomer) order.getCustomer()).getVatId()});
        check("list", () -> {
            String[] labels = order.getLabels().getString();
            return new Object[] {labels.length, labels[0], labels[1]};
        });
        check("header", () -> new Object[] {callsLeft});
        check("any", () -> new Object[] {order.getExtraElement().getText()});
        check("write", () -> {
            PlaceOrder request = new PlaceOrder();
            request.setOrder(orderToPlace());
            placed = stub.placeOrder(request, session).getPlaceOrderResult();
            Order back = get(placed);
            return new Object[] {
                back.getCustomer().getName(), back.getCustomer().getPhone().getKind(),
                ((BusinessCustomer) back.getCustomer()).getVatId(), back.getShipped(), back.getTotal(),
                back.getLine()[1].getArticle(), back.getOrderChoice_type0().getInvoice(),
                back.getOrderChoice_type0().getCard()};
        });
        check("fault", () -> {
            try {
                get(404);
                return new Object[0];
            } catch (OrderNotFoundFault fault) {
                OrderNotFound detail = fault.getFaultMessage().getOrderNotFound();
                return new Object[] {detail.getOrderId(), detail.getHint()};
            }
        });
        check("empty reply", () -> {
            CancelOrder request = new CancelOrder();
            request.setOrderId(placed);
            stub.cancelOrder(request, session);
            return new Object[] {get(placed).getStatus().getValue()};
        });
        System.exit(0);
    }

    static Order orderToPlace() {
        BusinessCustomer customer = new BusinessCustomer();
        customer.setName("\u00d6 & Co");
        customer.setVatId("AT9");
        Phone phone = new Phone();
        phone.setString("555");
        phone.setKind("mobile");
        customer.setPhone(phone);
        ArrayOfString labels = new ArrayOfString();
        labels.setString(new String[] {"one", "two"});
        OrderChoice_type0 choice = new OrderChoice_type0();
        choice.setInvoice("I-1");
        Order order = new Order();
        order.setVersion("2");
        order.setCustomer(customer);
        order.setPlaced(new GregorianCalendar(2020, 1, 29, 12, 0, 0));
        order.setTotal(new BigDecimal("10.25"));
        order.setStatus(OrderStatus.Shipped);
        order.setLine(new Line[] {line(3, "Screws", "3.25"), line(1, "Rope", "0.50")});
        order.setLabels(labels);
        order.setOrderChoice_type0(choice);
        return order;
    }

    static Line line(int quantity, String article, String price) {
        Line line = new Line();
        line.setQuantity(quantity);
        line.setArticle(article);
        line.setPrice(new BigDecimal(price));
        return line;
    }

    static String wall(Calendar date) {
        return new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss").format(date.getTime());
    }
}
