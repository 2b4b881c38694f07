using System;
using System.Web.Services.Protocols;
using Adopted;

/// <summary>The rpc/encoded service, called with the proxy that wsdl generates.</summary>
static class ServiceOrdersRpc
{
    static void Main(string[] arguments)
    {
        var client = new OrdersRpcService { Url = arguments[0] };
        var order = client.getOrder(1);
        ServiceCheck.Check("read", () => new object[] {
            order.id, order.total, order.note, order.placed.Value.ToUniversalTime(), order.shipped, order.lines.Length,
            order.lines[0].quantity, order.lines[1].price, order.labels.Length, order.labels[1], order.customer.name });
        ServiceCheck.Check("polymorphism", () => new object[] {
            order.customer.GetType().Name, ((BusinessCustomer)order.customer).vatId });
        var placed = 0;
        ServiceCheck.Check("write", () => {
            placed = client.placeOrder(new Order {
                customer = new BusinessCustomer { name = "\u00d6 & Co", vatId = "AT9" },
                labels = new[] { "one", "two" },
                lines = new[] {
                    new Line { article = "Screws", price = 3.25m, quantity = 3 },
                    new Line { article = "Rope", price = 0.50m, quantity = 1 } },
                total = 10.25m });
            var back = client.getOrder(placed);
            return new object[] { ((BusinessCustomer)back.customer).vatId, back.total, back.lines[1].article, back.labels[1] };
        });
        ServiceCheck.Check("fault", () => {
            try
            {
                client.getOrder(404);
                return new object[0];
            }
            catch (SoapException fault)
            {
                return new object[] { ServiceCheck.InDetail(fault, "orderId"), ServiceCheck.InDetail(fault, "hint") };
            }
        });
        ServiceCheck.Check("one-way", () => {
            client.cancelOrder(placed);
            return new object[] { client.getOrder(placed).note };
        });
    }
}
