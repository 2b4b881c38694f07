import adopted.*;
import java.math.BigDecimal;
import java.net.URL;
import javax.xml.ws.Holder;

/** The wrapped .asmx service, by what wsimport makes of its WSDL. */
class ServiceOrders extends ServiceCheck {
    static OrdersSoap port;
    static final SessionHeader session = new SessionHeader();
    static final Holder<QuotaHeader> quota = new Holder<>();
    static int placed;

    static Order get(int id) throws Exception {
        return port.getOrder(id, null, session, quota);
    }

    public static void main(String[] arguments) throws Exception {
        port = new Orders(new URL(arguments[0])).getOrdersSoap();
        session.setSession("abc");
        session.setBranch("north");
        Order order = get(1);
        check("read", () -> new Object[] {
            order.getId(), order.getTotal(), order.getStatus().value(), order.getPlaced(), order.getShipped(),
            order.getLine().size(), order.getLine().get(0).getQuantity(), order.getLine().get(1).getPrice(),
            order.getCard().getLast4(), order.getInvoice(), order.getCustomer().getName(),
            order.getCustomer().getPhone().getValue(), order.getCustomer().getPhone().getKind()});
        check("polymorphism", () -> new Object[] {
            order.getCustomer().getClass().getSimpleName(), ((BusinessCustomer) order.getCustomer()).getVatId()});
        check("list", () -> new Object[] {
            order.getLabels().getString().size(), order.getLabels().getString().get(0), order.getLabels().getString().get(1)});
        check("header", () -> new Object[] {quota.value.getCallsLeft()});
        check("any", () -> new Object[] {((org.w3c.dom.Element) order.getAny()).getTextContent()});
        check("write", () -> {
            placed = port.placeOrder(orderToPlace(), session);
            Order back = get(placed);
            BusinessCustomer customer = (BusinessCustomer) back.getCustomer();
            return new Object[] {customer.getName(), customer.getPhone().getKind(), customer.getVatId(),
                back.getShipped(), back.getTotal(), back.getLine().get(1).getArticle(), back.getInvoice(), back.getCard()};
        });
        check("fault", () -> {
            try {
                get(404);
                return new Object[0];
            } catch (OrderNotFoundFault fault) {
                return new Object[] {fault.getFaultInfo().getOrderId(), fault.getFaultInfo().getHint()};
            }
        });
        check("empty reply", () -> {
            port.cancelOrder(placed, session);
            return new Object[] {get(placed).getStatus().value()};
        });
    }

    static Order orderToPlace() throws Exception {
        BusinessCustomer customer = new BusinessCustomer();
        customer.setName("\u00d6 & Co");
        customer.setVatId("AT9");
        Phone phone = new Phone();
        phone.setValue("555");
        phone.setKind("mobile");
        customer.setPhone(phone);
        Order order = new Order();
        order.setVersion("2");
        order.setCustomer(customer);
        order.setPlaced(date("2020-02-29T12:00:00"));
        order.setTotal(new BigDecimal("10.25"));
        order.setStatus(OrderStatus.SHIPPED);
        order.getLine().add(line(3, "Screws", "3.25"));
        order.getLine().add(line(1, "Rope", "0.50"));
        ArrayOfString labels = new ArrayOfString();
        labels.getString().add("one");
        labels.getString().add("two");
        order.setLabels(labels);
        order.setInvoice("I-1");
        return order;
    }

    static Line line(int quantity, String article, String price) {
        Line line = new Line();
        line.setQuantity(quantity);
        line.setArticle(article);
        line.setPrice(new BigDecimal(price));
        return line;
    }
}
