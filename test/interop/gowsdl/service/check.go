// The output of the programs for services, with the types that gowsdl generates.
package main

import (
	"encoding/json"
	"fmt"
	"regexp"
)

func check(situation string, read func() ([]*string, error)) {
	line := map[string]any{"situation": situation}
	if got, err := read(); err != nil {
		line["error"] = err.Error()
	} else {
		line["got"] = got
	}
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func text(value any) *string {
	printed := fmt.Sprint(value)
	return &printed
}

// textOrNone returns nil for an empty text, which gowsdl returns for an absent member.
func textOrNone(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

// inDetail returns the text of an element in the text of a fault; nil if there is none.
func inDetail(fault error, name string) *string {
	found := regexp.MustCompile("[<:]" + name + ">([^<]*)</").FindStringSubmatch(fault.Error())
	if found == nil {
		return nil
	}
	return &found[1]
}
