import adopted.*;
import org.apache.axiom.soap.SOAP11Constants;
import org.apache.axiom.soap.SOAP12Constants;

/** The service of an OpenAPI document, by the stub and the ADB beans that WSDL2Java generates. */
class ServiceShop extends ServiceCheck {
    static ShopStub stub;

    static Item get(int id) throws Exception {
        GetItem request = new GetItem();
        request.setId(id);
        return stub.getItem(request).getResult();
    }

    public static void main(String[] arguments) throws Exception {
        stub = new ShopStub(arguments[0]);
        stub._getServiceClient().getOptions().setSoapVersionURI(arguments[1].equals("1.1")
            ? SOAP11Constants.SOAP_ENVELOPE_NAMESPACE_URI : SOAP12Constants.SOAP_ENVELOPE_NAMESPACE_URI);
        Item item = get(1);
        check("read", () -> new Object[] {
            item.getName(), item.getPrice(), item.getWeight(), item.getStock(), item.getAdded().toInstant(),
            item.getExpires(), Double.isNaN(item.getRating()) ? null : item.getRating(), item.getReturnable(),
            item.getNote(), item.getTags().getString().length, item.getTags().getString()[1]});
        check("change", () -> {
            item.setName("\u00d6 & Co");
            PutItem request = new PutItem();
            request.setId(1);
            request.setBody(item);
            stub.putItem(request);
            Item back = get(1);
            return new Object[] {
                back.getName(), back.getPrice(), back.getWeight(), Double.isNaN(back.getRating()) ? null : back.getRating()};
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
