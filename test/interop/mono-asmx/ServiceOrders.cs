using System;
using System.Web.Services.Protocols;
using Adopted;

/// <summary>The wrapped .asmx service, called with the proxy that wsdl generates.</summary>
static class ServiceOrders
{
    static void Main(string[] arguments)
    {
        var client = new Orders { Url = arguments[0] };
        client.SessionHeaderValue = new SessionHeader { session = "abc", branch = "north" };
        var order = client.GetOrder(1, null);
        ServiceCheck.Check("read", () => new object[] {
            order.id, order.Total, order.Status, order.Placed, order.Shipped, order.Line.Length, order.Line[0].quantity,
            order.Line[1].Price, ((Card)order.Item).Last4, order.Item as string, order.Customer.Name,
            order.Customer.Phone.Value, order.Customer.Phone.kind });
        ServiceCheck.Check("polymorphism", () => new object[] {
            order.Customer.GetType().Name, ((BusinessCustomer)order.Customer).VatId });
        ServiceCheck.Check("list", () => new object[] { order.Labels.Length, order.Labels[0], order.Labels[1] });
        ServiceCheck.Check("header", () => new object[] { client.QuotaHeaderValue.callsLeft });
        ServiceCheck.Check("any", () => new object[] { order.Any.InnerText });
        var placed = 0;
        ServiceCheck.Check("write", () => {
            placed = client.PlaceOrder(OrderToPlace());
            var back = client.GetOrder(placed, null);
            return new object[] { back.Customer.Name, back.Customer.Phone.kind, ((BusinessCustomer)back.Customer).VatId,
                back.Shipped, back.Total, back.Line[1].Article, back.Item as string, back.Item as Card };
        });
        ServiceCheck.Check("fault", () => {
            try
            {
                client.GetOrder(404, null);
                return new object[0];
            }
            catch (SoapException fault)
            {
                return new object[] { ServiceCheck.InDetail(fault, "orderId"), ServiceCheck.InDetail(fault, "hint") };
            }
        });
        ServiceCheck.Check("empty reply", () => {
            client.CancelOrder(placed);
            return new object[] { client.GetOrder(placed, null).Status };
        });
    }

    static Order OrderToPlace()
    {
        return new Order {
            version = "2",
            Customer = new BusinessCustomer {
                Name = "\u00d6 & Co", Phone = new Phone { kind = "mobile", Value = "555" }, VatId = "AT9" },
            Placed = new DateTime(2020, 2, 29, 12, 0, 0),
            Total = 10.25m,
            Status = OrderStatus.Shipped,
            Line = new[] {
                new Line { quantity = 3, Article = "Screws", Price = 3.25m },
                new Line { quantity = 1, Article = "Rope", Price = 0.50m } },
            Labels = new[] { "one", "two" },
            Item = "I-1" };
    }
}
