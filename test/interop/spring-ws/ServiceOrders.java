import adopted.OrderNotFound;
import org.springframework.ws.client.core.WebServiceMessageCallback;
import org.springframework.ws.client.core.WebServiceMessageExtractor;
import org.springframework.ws.soap.SoapHeader;
import org.springframework.ws.soap.SoapMessage;
import org.springframework.ws.support.MarshallingUtils;

/** The adopted .asmx service, by a WebServiceTemplate. */
class ServiceOrders {
    public static void main(String[] arguments) throws Exception {
        ServiceTemplate service = new ServiceTemplate(arguments[0], arguments[1]);
        ServiceOrderCalls.run(
                (action, request, header) -> {
                    WebServiceMessageCallback send = message -> {
                        MarshallingUtils.marshal(service.marshaller, request, message);
                        ((SoapMessage) message).setSoapAction(action);
                        service.marshaller.marshal(header, ((SoapMessage) message).getSoapHeader().getResult());
                    };
                    WebServiceMessageExtractor<ServiceOrderCalls.Reply> receive = message -> {
                        SoapHeader received = ((SoapMessage) message).getSoapHeader();
                        return new ServiceOrderCalls.Reply(
                                MarshallingUtils.unmarshal(service.marshaller, message),
                                received == null ? null : service.marshaller.unmarshal(
                                        received.examineAllHeaderElements().next().getSource()));
                    };
                    return service.template.sendAndReceive(send, receive);
                },
                fault -> (OrderNotFound) ServiceOrderCalls.valueOf(service.detailOf(fault)));
    }
}
