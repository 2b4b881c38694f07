import java.util.List;

/** The service of an OpenAPI document, by a Camel route. */
class ServiceShop {
    public static void main(String[] arguments) throws Exception {
        ServiceRoute route = new ServiceRoute(arguments[0], arguments[1]);
        ServiceItems.run(
                (operation, request) -> route.call(operation, request, List.of()).getMessage().getBody(),
                fault -> ServiceRoute.inDetail(fault, "status"));
        System.exit(0); // Camel's own threads would go on
    }
}
