import adopted.*;
import java.net.URL;
import javax.xml.ws.Holder;

/** The wrapped .asmx service, called with code that wsimport generates from its WSDL. */
class ServiceOrders extends ServiceCheck {
    static OrdersSoap port;
    static final SessionHeader session = OrderBeans.session();
    static final Holder<QuotaHeader> quota = new Holder<>();
    static int placed;

    static Order get(int id) throws Exception {
        return port.getOrder(id, null, session, quota);
    }

    public static void main(String[] arguments) throws Exception {
        Orders service = new Orders(new URL(arguments[0]));
        port = arguments[1].equals("1.1") ? service.getOrdersSoap() : service.getOrdersSoap12();
        OrderBeans.checkFirst(get(1));
        check("header", () -> new Object[] {quota.value.getCallsLeft()});
        check("write", () -> {
            placed = port.placeOrder(OrderBeans.orderToPlace(), session);
            return OrderBeans.placed(get(placed));
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
}
