import adopted.*;
import jakarta.xml.bind.JAXBElement;

/** The calls of the adopted .asmx service, with the classes that xjc generates. */
final class ServiceOrderCalls extends ServiceCheck {
    /** A reply: its body, and the element of its header block. */
    record Reply(Object body, Object header) {}

    /** A call of a stack: takes the request's object and a header block, and returns the reply. */
    interface Caller {
        Reply call(String action, Object request, JAXBElement<SessionHeader> header) throws Exception;
    }

    /** Returns the detail of the stack's exception for a fault. */
    interface Detail {
        OrderNotFound of(Exception fault) throws Exception;
    }

    private final Caller caller;
    private final JAXBElement<SessionHeader> session = new ObjectFactory().createSessionHeader(OrderBeans.session());
    private int placed;

    private ServiceOrderCalls(Caller caller) {
        this.caller = caller;
    }

    static void run(Caller caller, Detail detail) throws Exception {
        ServiceOrderCalls calls = new ServiceOrderCalls(caller);
        Reply first = calls.get(1);
        OrderBeans.checkFirst(orderOf(first));
        check("header", () -> new Object[] {((QuotaHeader) valueOf(first.header())).getCallsLeft()});
        check("write", () -> {
            PlaceOrder request = new PlaceOrder();
            request.setOrder(OrderBeans.orderToPlace());
            calls.placed = ((PlaceOrderResponse) calls.call("PlaceOrder", request).body()).getPlaceOrderResult();
            return OrderBeans.placed(orderOf(calls.get(calls.placed)));
        });
        check("fault", () -> {
            try {
                calls.get(404);
                return new Object[0];
            } catch (Exception fault) {
                OrderNotFound found = detail.of(fault);
                return new Object[] {found.getOrderId(), found.getHint()};
            }
        });
        check("empty reply", () -> {
            CancelOrder request = new CancelOrder();
            request.setOrderId(calls.placed);
            calls.call("CancelOrder", request);
            return new Object[] {orderOf(calls.get(calls.placed)).getStatus().value()};
        });
    }

    /** Returns the value of an element for which xjc generates a class or a factory method. */
    static Object valueOf(Object element) {
        return element instanceof JAXBElement<?> named ? named.getValue() : element;
    }

    private Reply call(String operation, Object request) throws Exception {
        return caller.call("http://orders.example/" + operation, request, session);
    }

    private Reply get(int id) throws Exception {
        GetOrder request = new GetOrder();
        request.setOrderId(id);
        return call("GetOrder", request);
    }

    private static Order orderOf(Reply reply) {
        return ((GetOrderResponse) reply.body()).getGetOrderResult();
    }
}
