import adopted.*;

/** The calls of the service of an OpenAPI document, with the classes that xjc generates. */
final class ServiceItems extends ServiceCheck {
    /** A call of a stack: takes the request's object and returns the reply's object. */
    interface Caller {
        Object call(String operation, Object request) throws Exception;
    }

    /** Returns the `status` in the detail of the stack's exception for a fault. */
    interface Status {
        Object of(Exception fault) throws Exception;
    }

    private ServiceItems() {}

    static void run(Caller caller, Status status) throws Exception {
        Item item = get(caller, 1);
        check("read", () -> new Object[] {
            item.getName(), item.getPrice(), item.getWeight(), item.getStock(), item.getAdded(), item.getExpires(),
            item.getRating(), item.isReturnable(), item.getNote(), item.getTags().getString().size(),
            item.getTags().getString().get(1)});
        check("change", () -> {
            item.setName("\u00d6 & Co");
            PutItem request = new PutItem();
            request.setId(1);
            request.setBody(item);
            caller.call("putItem", request);
            Item back = get(caller, 1);
            return new Object[] {back.getName(), back.getPrice(), back.getWeight(), back.getRating()};
        });
        check("fault", () -> {
            try {
                get(caller, 404);
                return new Object[0];
            } catch (Exception fault) {
                return new Object[] {status.of(fault)};
            }
        });
    }

    private static Item get(Caller caller, int id) throws Exception {
        GetItem request = new GetItem();
        request.setId(id);
        return ((GetItemResponse) caller.call("getItem", request)).getResult();
    }
}
