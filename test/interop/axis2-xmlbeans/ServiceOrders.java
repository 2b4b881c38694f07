import adopted.OrderNotFoundFault;
import adopted.OrdersStub;
import example.orders.*;
import java.math.BigDecimal;
import javax.xml.namespace.QName;
import org.apache.axiom.om.OMElement;
import org.apache.axiom.soap.SOAP11Constants;
import org.apache.axiom.soap.SOAP12Constants;
import org.apache.xmlbeans.SimpleValue;
import org.apache.xmlbeans.XmlDateTime;

/** The adopted .asmx service, by the stub and the XMLBeans that WSDL2Java generates. */
class ServiceOrders extends ServiceCheck {
    static final String NAMESPACE = "http://orders.example/";
    static final SessionHeaderDocument session = SessionHeaderDocument.Factory.newInstance();
    static OrdersStub stub;
    static int placed;

    static Order get(int id) throws Exception {
        GetOrderDocument request = GetOrderDocument.Factory.newInstance();
        request.addNewGetOrder().setOrderId(id);
        return stub.getOrder(request, session).getGetOrderResponse().getGetOrderResult();
    }

    public static void main(String[] arguments) throws Exception {
        stub = new OrdersStub(arguments[0]);
        stub._getServiceClient().getOptions().setSoapVersionURI(arguments[1].equals("1.1")
            ? SOAP11Constants.SOAP_ENVELOPE_NAMESPACE_URI : SOAP12Constants.SOAP_ENVELOPE_NAMESPACE_URI);
        SessionHeader header = session.addNewSessionHeader();
        header.setSession("abc");
        header.setBranch("north");
        Order order = get(1);
        OMElement quota = stub._getServiceClient().getLastOperationContext().getMessageContext("In").getEnvelope()
            .getHeader().getFirstChildWithName(new QName(NAMESPACE, "QuotaHeader"));
        String callsLeft = quota.getFirstChildWithName(new QName(NAMESPACE, "callsLeft")).getText();
        check("read", () -> new Object[] {
            order.getId(), order.getTotal(), order.getStatus(), order.xgetPlaced().getStringValue(),
            order.isNilShipped() ? null : order.getShipped(), order.sizeOfLineArray(), order.getLineArray(0).getQuantity(),
            order.getLineArray(1).getPrice(), order.getCard().getLast4(), order.getInvoice(),
            order.getCustomer().getName(), order.getCustomer().getPhone().getStringValue(),
            order.getCustomer().getPhone().getKind()});
        check("polymorphism", () -> new Object[] {
            order.getCustomer().schemaType().getName().getLocalPart(), ((BusinessCustomer) order.getCustomer()).getVatId()});
        check("list", () -> {
            ArrayOfString labels = order.getLabels();
            return new Object[] {labels.sizeOfStringArray(), labels.getStringArray(0),
                labels.isNilStringArray(1) ? null : labels.getStringArray(1)};
        });
        check("header", () -> new Object[] {callsLeft});
        check("any", () -> new Object[] {
            ((SimpleValue) order.selectChildren("urn:extra", "crate")[0]).getStringValue()});
        check("write", () -> {
            PlaceOrderDocument request = PlaceOrderDocument.Factory.newInstance();
            fill(request.addNewPlaceOrder().addNewOrder());
            placed = stub.placeOrder(request, session).getPlaceOrderResponse().getPlaceOrderResult();
            Order back = get(placed);
            return new Object[] {
                back.getCustomer().getName(), back.getCustomer().getPhone().getKind(),
                ((BusinessCustomer) back.getCustomer()).getVatId(), back.isNilShipped() ? null : back.getShipped(),
                back.getTotal(), back.getLineArray(1).getArticle(), back.getInvoice(), back.getCard()};
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
            CancelOrderDocument request = CancelOrderDocument.Factory.newInstance();
            request.addNewCancelOrder().setOrderId(placed);
            stub.cancelOrder(request, session);
            return new Object[] {get(placed).getStatus()};
        });
        System.exit(0);
    }

    static void fill(Order order) {
        BusinessCustomer customer = (BusinessCustomer) order.addNewCustomer().changeType(BusinessCustomer.type);
        customer.setName("\u00d6 & Co");
        customer.setVatId("AT9");
        Phone phone = customer.addNewPhone();
        phone.setStringValue("555");
        phone.setKind("mobile");
        order.setId(0);
        order.setVersion("2");
        order.xsetPlaced(XmlDateTime.Factory.newValue("2020-02-29T12:00:00"));
        order.setNilShipped();
        order.setTotal(new BigDecimal("10.25"));
        order.setStatus(OrderStatus.SHIPPED);
        fill(order.addNewLine(), 3, "Screws", "3.25");
        fill(order.addNewLine(), 1, "Rope", "0.50");
        order.addNewLabels().setStringArray(new String[] {"one", "two"});
        order.setInvoice("I-1");
    }

    static void fill(Line line, int quantity, String article, String price) {
        line.setQuantity(quantity);
        line.setArticle(article);
        line.setPrice(new BigDecimal(price));
    }
}
