import adopted.OrderNotFound;
import java.util.List;
import org.apache.camel.Exchange;
import org.apache.camel.dataformat.soap.SoapDataFormat;

/** The adopted .asmx service, by a Camel route. */
class ServiceOrders {
    public static void main(String[] arguments) throws Exception {
        ServiceRoute route = new ServiceRoute(arguments[0], arguments[1]);
        ServiceOrderCalls.run(
                (action, request, header) -> {
                    Exchange reply = route.call(action, request, List.of(header));
                    List<?> headers =
                            reply.getMessage().getHeader(SoapDataFormat.SOAP_UNMARSHALLED_HEADER_LIST, List.class);
                    return new ServiceOrderCalls.Reply(
                            reply.getMessage().getBody(), headers.isEmpty() ? null : headers.get(0));
                },
                fault -> {
                    OrderNotFound detail = new OrderNotFound();
                    detail.setOrderId(Integer.parseInt(ServiceRoute.inDetail(fault, "orderId")));
                    detail.setHint(ServiceRoute.inDetail(fault, "hint"));
                    return detail;
                });
        System.exit(0); // Camel's own threads would go on
    }
}
