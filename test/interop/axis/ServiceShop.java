import adopted.*;
import java.net.URL;

/** The service of an OpenAPI document, called with code that WSDL2Java generates from its WSDL. */
class ServiceShop extends ServiceCheck {
    public static void main(String[] arguments) throws Exception {
        URL address = new URL(arguments[0]);
        ShopLocator service = new ShopLocator();
        IShop port = arguments[1].equals("1.1") ? service.getSoap11(address) : new Soap12BindingStub(address, service);
        Item item = port.getItem(1);
        check("read", () -> new Object[] {
            item.getName(), item.getPrice(), item.getWeight(), item.getStock(), item.getAdded().toInstant(),
            item.getExpires(), item.getRating(), item.getReturnable(), item.getNote(), item.getTags().length,
            item.getTags()[1]});
        check("change", () -> {
            item.setName("\u00d6 & Co");
            port.putItem(1, item);
            Item back = port.getItem(1);
            return new Object[] {back.getName(), back.getPrice(), back.getWeight(), back.getRating()};
        });
        check("fault", () -> {
            try {
                port.getItem(404);
                return new Object[0];
            } catch (FaultDetail detail) {
                return new Object[] {detail.getStatus()};
            }
        });
    }
}
