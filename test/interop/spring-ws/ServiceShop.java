import adopted.FaultDetail;
import jakarta.xml.bind.JAXBElement;
import org.springframework.ws.soap.client.core.SoapActionCallback;

/** The service of an OpenAPI document, by a WebServiceTemplate. */
class ServiceShop {
    public static void main(String[] arguments) throws Exception {
        ServiceTemplate service = new ServiceTemplate(arguments[0], arguments[1]);
        ServiceItems.run(
                (operation, request) -> service.template.marshalSendAndReceive(request, new SoapActionCallback(operation)),
                fault -> ((FaultDetail) ((JAXBElement<?>) service.detailOf(fault)).getValue()).getStatus());
    }
}
