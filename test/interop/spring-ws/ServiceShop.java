import adopted.FaultDetail;
import jakarta.xml.bind.JAXBElement;
import org.springframework.oxm.jaxb.Jaxb2Marshaller;
import org.springframework.ws.client.core.WebServiceTemplate;
import org.springframework.ws.soap.SoapFaultDetailElement;
import org.springframework.ws.soap.client.SoapFaultClientException;
import org.springframework.ws.soap.client.core.SoapActionCallback;

/** The service of an OpenAPI document, by a WebServiceTemplate. */
class ServiceShop {
    public static void main(String[] arguments) throws Exception {
        Jaxb2Marshaller marshaller = new Jaxb2Marshaller();
        marshaller.setContextPath("adopted");
        marshaller.afterPropertiesSet();
        WebServiceTemplate template = new WebServiceTemplate(marshaller);
        template.setDefaultUri(arguments[0]);
        ServiceItems.run(
                (operation, request) -> template.marshalSendAndReceive(request, new SoapActionCallback(operation)),
                fault -> {
                    SoapFaultDetailElement entry =
                            ((SoapFaultClientException) fault).getSoapFault().getFaultDetail().getDetailEntries().next();
                    Object detail = marshaller.unmarshal(entry.getSource());
                    return ((FaultDetail) ((JAXBElement<?>) detail).getValue()).getStatus();
                });
    }
}
