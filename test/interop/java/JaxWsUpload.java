import documents.Document;
import documents.Documents;
import documents.IDocuments;
import jakarta.xml.ws.soap.MTOMFeature;
import java.net.URL;

/** Stores and reads a document with MTOM, using the classes of wsimport or of CXF's wsdl2java. */
public final class JaxWsUpload {
    private JaxWsUpload() {}

    public static void main(String[] args) throws Exception {
        Documents service = new Documents(new URL(args[0]));
        MTOMFeature mtom = new MTOMFeature();
        IDocuments api = args[1].equals("1.1") ? service.getSoap11(mtom) : service.getSoap12(mtom);
        Document document = new Document();
        document.setName("report.pdf");
        document.setContent(Upload.bytes(40_000));
        document.setThumbnail(Upload.bytes(300));
        Document stored = api.storeDocument(document);
        Upload.print(stored.getName(), stored.getContent(), stored.getThumbnail());
    }
}
