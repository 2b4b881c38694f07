import jakarta.xml.soap.MessageFactory;
import jakarta.xml.soap.SOAPConstants;
import org.springframework.oxm.jaxb.Jaxb2Marshaller;
import org.springframework.ws.client.core.WebServiceTemplate;
import org.springframework.ws.soap.SoapFaultDetailElement;
import org.springframework.ws.soap.client.SoapFaultClientException;
import org.springframework.ws.soap.saaj.SaajSoapMessageFactory;

/** A WebServiceTemplate for one SOAP version and the classes of the package `adopted`. */
final class ServiceTemplate {
    final Jaxb2Marshaller marshaller = new Jaxb2Marshaller();
    final WebServiceTemplate template;

    ServiceTemplate(String address, String version) throws Exception {
        marshaller.setContextPath("adopted");
        marshaller.afterPropertiesSet();
        template = new WebServiceTemplate(new SaajSoapMessageFactory(MessageFactory.newInstance(
                version.equals("1.1") ? SOAPConstants.SOAP_1_1_PROTOCOL : SOAPConstants.SOAP_1_2_PROTOCOL)));
        template.setMarshaller(marshaller);
        template.setUnmarshaller(marshaller);
        template.setDefaultUri(address);
    }

    /** Returns the first element in the detail of a fault as an object. */
    Object detailOf(Exception fault) throws Exception {
        SoapFaultDetailElement entry =
                ((SoapFaultClientException) fault).getSoapFault().getFaultDetail().getDetailEntries().next();
        return marshaller.unmarshal(entry.getSource());
    }
}
