import documents.Document;
import documents.StoreDocument;
import documents.StoreDocumentResponse;
import jakarta.xml.soap.MessageFactory;
import jakarta.xml.soap.SOAPConstants;
import org.springframework.oxm.jaxb.Jaxb2Marshaller;
import org.springframework.ws.client.core.WebServiceTemplate;
import org.springframework.ws.soap.client.core.SoapActionCallback;
import org.springframework.ws.soap.saaj.SaajSoapMessageFactory;

/** Stores and reads a document with MTOM, using a WebServiceTemplate and the classes of xjc. */
public final class UploadClient {
    private UploadClient() {}

    public static void main(String[] args) throws Exception {
        WebServiceTemplate template = new WebServiceTemplate(new SaajSoapMessageFactory(MessageFactory.newInstance(
                args[1].equals("1.1") ? SOAPConstants.SOAP_1_1_PROTOCOL : SOAPConstants.SOAP_1_2_PROTOCOL)));
        Jaxb2Marshaller marshaller = new Jaxb2Marshaller();
        marshaller.setContextPath("documents");
        marshaller.setMtomEnabled(true);
        marshaller.afterPropertiesSet();
        template.setMarshaller(marshaller);
        template.setUnmarshaller(marshaller);
        Document document = new Document();
        document.setName("report.pdf");
        document.setContent(Upload.bytes(40_000));
        document.setThumbnail(Upload.bytes(300));
        StoreDocument call = new StoreDocument();
        call.setBody(document);
        StoreDocumentResponse reply = (StoreDocumentResponse)
                template.marshalSendAndReceive(args[0], call, new SoapActionCallback("StoreDocument"));
        Document stored = reply.getResult();
        Upload.print(stored.getName(), stored.getContent(), stored.getThumbnail());
    }
}
