import adopted.*;
import java.math.BigDecimal;
import java.net.URL;
import java.util.List;
import javax.xml.bind.JAXBElement;

/** The bare service with several namespaces, called with code that wsimport generates from its WSDL. */
class ServiceCatalogue extends ServiceCheck {
    static final ObjectFactory factory = new ObjectFactory();
    static CataloguePort port;
    static final Tenant tenant = new Tenant();

    static FindReply find(JAXBElement<? extends Criterion> criterion) {
        FindRequest request = new FindRequest();
        request.setLimit(5);
        request.getCriterion().add(criterion);
        return port.find(request, tenant);
    }

    static FindReply cheap() {
        ByPrice criterion = new ByPrice();
        criterion.setAtMost(new BigDecimal("20"));
        return find(factory.createByPrice(criterion));
    }

    static List<Item> named(String title) {
        ByTitle criterion = new ByTitle();
        criterion.setContains(title);
        return find(factory.createByTitle(criterion)).getItem();
    }

    static void add() throws Exception {
        Disc disc = new Disc();
        disc.setSku("d9");
        disc.setTitle("Storm & Calm");
        Money price = new Money();
        price.setValue(new BigDecimal("7.05"));
        price.setCurrency("CHF");
        disc.setPrice(price);
        disc.getKeyword().add("k1");
        disc.setTracks(3);
        AddRequest request = new AddRequest();
        request.setItem(disc);
        port.add(request, tenant);
    }

    public static void main(String[] arguments) throws Exception {
        port = new CatalogueService(new URL(arguments[0])).getCatalogueSoap();
        tenant.setName("acme");
        check("read", () -> {
            FindReply found = cheap();
            Item first = found.getItem().get(0);
            Item second = found.getItem().get(1);
            return new Object[] {found.isMore(), found.getItem().size(), first.getPublished(),
                first.getPrice().getValue(), first.getPrice().getCurrency(), first.getKeyword().size(),
                second.getPublished(), second.getFree(), second.getPrice()};
        });
        check("polymorphism", () -> {
            List<Item> items = cheap().getItem();
            return new Object[] {"Book " + ((Book) items.get(0)).getPages(), "Disc " + ((Disc) items.get(1)).getTracks()};
        });
        check("write", () -> {
            add();
            Disc back = (Disc) named("Storm").get(0);
            return new Object[] {back.getSku(), back.getTracks(), back.getPrice().getValue(), back.getPrice().getCurrency()};
        });
        check("fault", () -> {
            try {
                add();
                return new Object[0];
            } catch (DuplicateFault fault) {
                return new Object[] {fault.getFaultInfo().getSku(), fault.getFaultInfo().getTitle()};
            }
        });
        check("one-way", () -> {
            Removal removal = new Removal();
            removal.setSku("d9");
            port.remove(removal);
            return new Object[] {named("Storm").size()};
        });
    }
}
