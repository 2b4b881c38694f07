import adopted.*;
import java.math.BigDecimal;
import java.net.URL;
import java.text.SimpleDateFormat;
import java.util.Calendar;

/** The rpc/encoded service, called with code that WSDL2Java generates from its WSDL. */
class ServiceOrders extends ServiceCheck {
    static int placed;

    public static void main(String[] arguments) throws Exception {
        OrdersRpc_PortType port = new OrdersRpcServiceLocator().getOrdersRpc(new URL(arguments[0]));
        Order order = port.getOrder(1);
        check("read", () -> new Object[] {
            order.getId(), order.getTotal(), order.getNote(), wall(order.getPlaced()), order.getShipped(),
            order.getLines().length, order.getLines()[0].getQuantity(), order.getLines()[1].getPrice(),
            order.getLabels().length, order.getLabels()[1], order.getCustomer().getName()});
        check("polymorphism", () -> new Object[] {
            order.getCustomer().getClass().getSimpleName(), ((BusinessCustomer) order.getCustomer()).getVatId()});
        check("write", () -> {
            placed = port.placeOrder(orderToPlace());
            Order back = port.getOrder(placed);
            return new Object[] {((BusinessCustomer) back.getCustomer()).getVatId(), back.getTotal(),
                back.getLines()[1].getArticle(), back.getLabels()[1]};
        });
        check("fault", () -> {
            try {
                port.getOrder(404);
                return new Object[0];
            } catch (OrderNotFound fault) {
                return new Object[] {fault.getOrderId(), fault.getHint()};
            }
        });
        check("one-way", () -> {
            port.cancelOrder(placed);
            // Axis sends it in a separate thread and does not wait
            for (int round = 0; round < 50 && port.getOrder(placed).getNote() == null; round++) Thread.sleep(100);
            return new Object[] {port.getOrder(placed).getNote()};
        });
    }

    static Order orderToPlace() {
        BusinessCustomer customer = new BusinessCustomer();
        customer.setName("\u00d6 & Co");
        customer.setVatId("AT9");
        Order order = new Order();
        order.setCustomer(customer);
        order.setLabels(new String[] {"one", "two"});
        order.setLines(new Line[] {line(3, "Screws", "3.25"), line(1, "Rope", "0.50")});
        order.setTotal(new BigDecimal("10.25"));
        return order;
    }

    static Line line(int quantity, String article, String price) {
        Line line = new Line();
        line.setQuantity(quantity);
        line.setArticle(article);
        line.setPrice(new BigDecimal(price));
        return line;
    }

    static String wall(Calendar date) {
        return new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss").format(date.getTime());
    }
}
