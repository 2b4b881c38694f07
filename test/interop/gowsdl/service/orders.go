// The adopted .asmx service, called with the types that gowsdl generates.
package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"os"

	"github.com/hooklift/gowsdl/soap"

	"interop/orders"
)

// sessionHeader sets the element's name, which the generated type lacks.
type sessionHeader struct {
	XMLName xml.Name `xml:"http://orders.example/ SessionHeader"`
	orders.SessionHeader
}

func main() {
	client := soap.NewClient(os.Args[1])
	client.AddHeader(sessionHeader{SessionHeader: orders.SessionHeader{Session: "abc", Branch: "north"}})
	api := orders.NewOrdersSoap(client)
	get := func(id int32) (*orders.Order, error) {
		reply, err := api.GetOrder(&orders.GetOrder{OrderId: id})
		if err != nil {
			return nil, err
		}
		return reply.GetOrderResult, nil
	}
	order, err := get(1)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	check("list", func() ([]*string, error) {
		labels := order.Labels.Astring
		return []*string{text(len(labels)), labels[0], textOrNone(*labels[1])}, nil
	})
	check("any", func() ([]*string, error) {
		return []*string{&order.Items[0]}, nil
	})
	check("fault", func() ([]*string, error) {
		_, err := get(404)
		if err == nil {
			return nil, errors.New("expected a fault")
		}
		hint := inDetail(err, "hint")
		if hint == nil {
			return nil, err
		}
		return []*string{inDetail(err, "orderId"), text(html.UnescapeString(*hint))}, nil
	})
	check("empty reply", func() ([]*string, error) {
		if _, err := api.CancelOrder(&orders.CancelOrder{OrderId: 1}); err != nil {
			return nil, err
		}
		back, err := get(1)
		if err != nil {
			return nil, err
		}
		return []*string{text(*back.Status)}, nil
	})
}
