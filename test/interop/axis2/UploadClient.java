import documents.Document;
import documents.DocumentsStub;
import documents.StoreDocument;
import javax.activation.DataHandler;
import org.apache.axiom.attachments.ByteArrayDataSource;
import org.apache.axiom.soap.SOAP11Constants;
import org.apache.axiom.soap.SOAP12Constants;
import org.apache.axis2.Constants;
import org.apache.axis2.client.Options;

/** Stores and reads a document with MTOM, using the stub and ADB beans of WSDL2Java. */
public final class UploadClient {
    private UploadClient() {}

    public static void main(String[] args) throws Exception {
        DocumentsStub api = new DocumentsStub(args[0]);
        Options options = api._getServiceClient().getOptions();
        options.setProperty(Constants.Configuration.ENABLE_MTOM, "true");
        options.setSoapVersionURI(args[1].equals("1.1")
                ? SOAP11Constants.SOAP_ENVELOPE_NAMESPACE_URI
                : SOAP12Constants.SOAP_ENVELOPE_NAMESPACE_URI);
        Document document = new Document();
        document.setName("report.pdf");
        document.setContent(handler(Upload.bytes(40_000)));
        document.setThumbnail(handler(Upload.bytes(300)));
        StoreDocument call = new StoreDocument();
        call.setBody(document);
        Document stored = api.storeDocument(call).getResult();
        Upload.print(stored.getName(), bytes(stored.getContent()), bytes(stored.getThumbnail()));
    }

    private static DataHandler handler(byte[] bytes) {
        return new DataHandler(new ByteArrayDataSource(bytes, "application/octet-stream"));
    }

    private static byte[] bytes(DataHandler handler) throws Exception {
        return handler.getInputStream().readAllBytes();
    }
}
