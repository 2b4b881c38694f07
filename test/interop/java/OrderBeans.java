import adopted.*;
import java.math.BigDecimal;
import org.w3c.dom.Element;

/** Orders of the adopted .asmx service as classes that xjc generates: the order that is read and the one that is placed. */
final class OrderBeans extends ServiceCheck {
    private OrderBeans() {}

    /** Prints the checks that read order 1. */
    static void checkFirst(Order order) {
        check("read", () -> new Object[] {
            order.getId(), order.getTotal(), order.getStatus().value(), order.getPlaced(), order.getShipped(),
            order.getLine().size(), order.getLine().get(0).getQuantity(), order.getLine().get(1).getPrice(),
            order.getCard().getLast4(), order.getInvoice(), order.getCustomer().getName(),
            order.getCustomer().getPhone().getValue(), order.getCustomer().getPhone().getKind()});
        check("polymorphism", () -> new Object[] {
            order.getCustomer().getClass().getSimpleName(), ((BusinessCustomer) order.getCustomer()).getVatId()});
        check("list", () -> new Object[] {
            order.getLabels().getString().size(), order.getLabels().getString().get(0), order.getLabels().getString().get(1)});
        check("any", () -> new Object[] {((Element) order.getAny()).getTextContent()});
    }

    /** The values of a placed order. */
    static Object[] placed(Order back) {
        BusinessCustomer customer = (BusinessCustomer) back.getCustomer();
        return new Object[] {customer.getName(), customer.getPhone().getKind(), customer.getVatId(),
            back.getShipped(), back.getTotal(), back.getLine().get(1).getArticle(), back.getInvoice(), back.getCard()};
    }

    static SessionHeader session() {
        SessionHeader session = new SessionHeader();
        session.setSession("abc");
        session.setBranch("north");
        return session;
    }

    static Order orderToPlace() throws Exception {
        BusinessCustomer customer = new BusinessCustomer();
        customer.setName("\u00d6 & Co");
        customer.setVatId("AT9");
        Phone phone = new Phone();
        phone.setValue("555");
        phone.setKind("mobile");
        customer.setPhone(phone);
        Order order = new Order();
        order.setVersion("2");
        order.setCustomer(customer);
        order.setPlaced(date("2020-02-29T12:00:00"));
        order.setTotal(new BigDecimal("10.25"));
        order.setStatus(OrderStatus.SHIPPED);
        order.getLine().add(line(3, "Screws", "3.25"));
        order.getLine().add(line(1, "Rope", "0.50"));
        ArrayOfString labels = new ArrayOfString();
        labels.getString().add("one");
        labels.getString().add("two");
        order.setLabels(labels);
        order.setInvoice("I-1");
        return order;
    }

    private static Line line(int quantity, String article, String price) {
        Line line = new Line();
        line.setQuantity(quantity);
        line.setArticle(article);
        line.setPrice(new BigDecimal(price));
        return line;
    }
}
