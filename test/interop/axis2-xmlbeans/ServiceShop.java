import adopted.ServiceFault;
import adopted.ShopStub;
import org.apache.axiom.soap.SOAP11Constants;
import org.apache.axiom.soap.SOAP12Constants;
import shop.GetItemDocument;
import shop.Item;
import shop.PutItemDocument;

/** The service of an OpenAPI document, by the stub and the XMLBeans that WSDL2Java generates. */
class ServiceShop extends ServiceCheck {
    static ShopStub stub;

    static Item get(int id) throws Exception {
        GetItemDocument request = GetItemDocument.Factory.newInstance();
        request.addNewGetItem().setId(id);
        return stub.getItem(request).getGetItemResponse().getResult();
    }

    public static void main(String[] arguments) throws Exception {
        stub = new ShopStub(arguments[0]);
        stub._getServiceClient().getOptions().setSoapVersionURI(arguments[1].equals("1.1")
            ? SOAP11Constants.SOAP_ENVELOPE_NAMESPACE_URI : SOAP12Constants.SOAP_ENVELOPE_NAMESPACE_URI);
        Item item = get(1);
        check("read", () -> new Object[] {
            item.getName(), item.getPrice(), item.getWeight(), item.getStock(), item.getAdded().toInstant(),
            item.isSetExpires() ? item.getExpires() : null, item.isSetRating() ? item.getRating() : null,
            item.getReturnable(), item.isSetNote() ? item.getNote() : null, item.getTags().sizeOfStringArray(),
            item.getTags().getStringArray(1)});
        check("change", () -> {
            item.setName("\u00d6 & Co");
            PutItemDocument request = PutItemDocument.Factory.newInstance();
            request.addNewPutItem().setId(1);
            request.getPutItem().setBody(item);
            stub.putItem(request);
            Item back = get(1);
            return new Object[] {
                back.getName(), back.getPrice(), back.getWeight(), back.isSetRating() ? back.getRating() : null};
        });
        check("fault", () -> {
            try {
                get(404);
                return new Object[0];
            } catch (ServiceFault fault) {
                return new Object[] {fault.getFaultMessage().getFaultDetail().getStatus()};
            }
        });
        System.exit(0);
    }
}
