import adopted.*;
import java.net.URL;

/** The service of an OpenAPI document, called with code that wsimport generates from its WSDL. */
class ServiceShop extends ServiceCheck {
    public static void main(String[] arguments) throws Exception {
        Shop service = new Shop(new URL(arguments[0]));
        IShop port = arguments[1].equals("1.1") ? service.getSoap11() : service.getSoap12();
        Item item = port.getItem(1);
        check("read", () -> new Object[] {
            item.getName(), item.getPrice(), item.getWeight(), item.getStock(), item.getAdded(), item.getExpires(),
            item.getRating(), item.isReturnable(), item.getNote(), item.getTags().getString().size(),
            item.getTags().getString().get(1)});
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
            } catch (ServiceFault fault) {
                return new Object[] {fault.getFaultInfo().getStatus()};
            }
        });
    }
}
