// The service of an OpenAPI document, called with the types that gowsdl generates.
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/hooklift/gowsdl/soap"

	"interop/shop"
)

// orNone returns nil for the zero value, which gowsdl returns for an absent member.
func orNone(number float64) *string {
	if number == 0 {
		return nil
	}
	return text(strconv.FormatFloat(number, 'g', -1, 64))
}

func main() {
	api := shop.NewIShop(soap.NewClient(os.Args[1]))
	get := func(id int32) (*shop.Item, error) {
		reply, err := api.GetItem(&shop.GetItem{Id: id})
		if err != nil {
			return nil, err
		}
		return reply.Result, nil
	}
	item, err := get(1)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	check("read", func() ([]*string, error) {
		var expires *string
		if item.Expires.ToGoTime().Year() > 1 {
			expires = text(item.Expires.ToGoTime())
		}
		tags := item.Tags.Astring
		return []*string{
			&item.Name, text(item.Price), text(item.Weight), text(item.Stock),
			text(item.Added.ToGoTime().Format("2006-01-02T15:04:05Z07:00")), expires, orNone(item.Rating),
			text(item.Returnable), textOrNone(item.Note), text(len(tags)), tags[1],
		}, nil
	})
	check("change", func() ([]*string, error) {
		item.Name = "Ö & Co"
		if _, err := api.PutItem(&shop.PutItem{Id: 1, Body: item}); err != nil {
			return nil, err
		}
		back, err := get(1)
		if err != nil {
			return nil, err
		}
		return []*string{&back.Name, text(back.Price), text(back.Weight), orNone(back.Rating)}, nil
	})
	check("fault", func() ([]*string, error) {
		_, err := get(404)
		if err == nil {
			return nil, errors.New("expected a fault")
		}
		return []*string{inDetail(err, "status")}, nil
	})
}
