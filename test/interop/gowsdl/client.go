// Makes the checks with gowsdl and the types that it generates. gowsdl supports only SOAP 1.1.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/hooklift/gowsdl/soap"

	"interop/screening"
)

type check struct {
	Operation string    `json:"operation"`
	Situation string    `json:"situation"`
	Got       []*string `json:"got,omitempty"`
	Error     string    `json:"error,omitempty"`

	input [][2]string
	read  []string
}

func main() {
	checks, err := readChecks(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, check := range checks {
		if err := check.make(); err != nil {
			check.Error = err.Error()
		}
		line, _ := json.Marshal(check)
		fmt.Println(string(line))
	}
}

// readChecks returns the rows of flat-checks.ts by check, in order.
func readChecks(path string) ([]*check, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var checks []*check
	rows := bufio.NewScanner(file)
	for rows.Scan() {
		row := strings.Split(rows.Text(), "\t")
		last := len(checks) - 1
		if last < 0 || checks[last].Operation != row[0] || checks[last].Situation != row[1] {
			checks = append(checks, &check{Operation: row[0], Situation: row[1]})
			last++
		}
		switch row[2] {
		case "read":
			checks[last].read = append(checks[last].read, row[3])
		case "null": // gowsdl writes no nil
		default:
			checks[last].input = append(checks[last].input, [2]string{row[3], row[4]})
		}
	}
	return checks, rows.Err()
}

func (c *check) make() error {
	address := os.Getenv("ENDPOINT")
	if c.Situation == "fault" {
		address = os.Getenv("FAULT_ENDPOINT")
	}
	var options []soap.Option
	if os.Getenv("MTOM") != "" {
		options = append(options, soap.WithMTOM())
	}
	client := soap.NewClient(address, options...)
	secured := os.Getenv("SECURITY") != ""
	if secured {
		client.AddHeader(soap.NewWSSSecurityHeader("demo", "demo-key", "UsernameToken-1", "1"))
	}
	service := screening.NewIScreeningApi(client)
	call := reflect.ValueOf(service).MethodByName(c.Operation)
	request := reflect.New(call.Type().In(0).Elem())
	if !secured {
		set(request, "Authentication.ApiUserId", "demo")
		set(request, "Authentication.ApiUserKey", "demo-key")
	}
	for _, input := range c.input {
		set(request, input[0], input[1])
	}
	results := call.Call([]reflect.Value{request})
	if err, failed := results[1].Interface().(error); failed {
		return err
	}
	data := results[0].Elem().FieldByName("Data")
	for _, path := range c.read {
		c.Got = append(c.Got, printed(at(data, path)))
	}
	return nil
}

// member is a struct's field; gowsdl prefixes the name `string` with an A.
func member(record reflect.Value, name string) reflect.Value {
	if name == "string" {
		name = "Astring"
	}
	return record.FieldByName(name)
}

// set sets a value at a path, and creates missing objects of the path.
func set(into reflect.Value, path string, text string) {
	if into.Kind() == reflect.Pointer {
		if into.IsNil() {
			into.Set(reflect.New(into.Type().Elem()))
		}
		set(into.Elem(), path, text)
		return
	}
	if path != "" {
		step, rest, _ := strings.Cut(path, ".")
		switch {
		case step == "#": // an array that exists
		case into.Kind() == reflect.Slice:
			into.Set(reflect.Append(into, reflect.New(into.Type().Elem()).Elem()))
			set(into.Index(into.Len()-1), rest, text)
		default:
			set(member(into, step), rest, text)
		}
		return
	}
	switch into.Kind() {
	case reflect.String:
		into.SetString(text)
	case reflect.Bool:
		into.SetBool(text == "true")
	case reflect.Int32, reflect.Int64:
		number, _ := strconv.ParseInt(text, 10, 64)
		into.SetInt(number)
	case reflect.Struct:
		zoned := len(text) > len("2006-01-02T15:04:05")
		if !zoned {
			text += "Z"
		}
		date, _ := time.Parse(time.RFC3339, text)
		into.Set(reflect.ValueOf(soap.CreateXsdDateTime(date, zoned)))
	}
}

// at returns the value at a path; an invalid value if the path ends early.
func at(value reflect.Value, path string) reflect.Value {
	for value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	if path == "?" {
		return reflect.ValueOf(presence(value))
	}
	if path == "" || !value.IsValid() {
		return value
	}
	step, rest, _ := strings.Cut(path, ".")
	if step == "#" {
		return reflect.ValueOf(value.Len())
	}
	if value.Kind() == reflect.Slice {
		index, _ := strconv.Atoi(step)
		return at(value.Index(index), rest)
	}
	return at(member(value, step), rest)
}

// presence returns the state of a member; a nil text is read as an empty text.
func presence(value reflect.Value) string {
	switch {
	case !value.IsValid():
		return "absent"
	case value.IsZero():
		return "nil"
	}
	return "value"
}

func printed(value reflect.Value) *string {
	if !value.IsValid() {
		return nil
	}
	text := fmt.Sprint(value)
	switch inner := value.Interface().(type) {
	case []byte:
		// the library leaves decoding base64 to its caller
		decoded, _ := base64.StdEncoding.DecodeString(string(inner))
		text = fmt.Sprintf("%s %d", decoded[:4], len(decoded))
	case soap.XSDDateTime:
		text = dateText(inner)
	case float64:
		text = strconv.FormatFloat(inner, 'f', -1, 64)
	}
	return &text
}

// dateText formats a date; gowsdl reads a date without a zone in the process's zone.
func dateText(date soap.XSDDateTime) string {
	wall := date
	wall.StripTz()
	if date == wall {
		return date.ToGoTime().Format("2006-01-02T15:04:05")
	}
	return date.ToGoTime().Format(time.RFC3339)
}
