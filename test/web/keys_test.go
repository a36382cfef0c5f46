package web

import (
	"strings"
	"testing"
)

func TestKeys(t *testing.T) {
	s := openShop(t)
	long := strings.Repeat("x", 10_000)
	s.api("PUT", "keys/config%2Flong", `{"value": "`+long+`"}`)
	s.api("PUT", "keys/%ff%00raw", `{"value": "bytes"}`)
	p := openAt(t, s.at)
	p.login()
	p.show("#/keys")
	p.press("config/shop")
	p.readsIn("pre", `"currency": "NOK"`)
	p.fill("Change the value", "Value", `{"open": false}`)
	p.press("Change")
	p.readsIn("pre", `"open": false`)
	p.shot("key")

	// A long value is edited as a whole, although the list has only its beginning.
	p.press("config/long")
	p.sees(field("Change the value", "Value") + `?.value.length === 10000`)
	p.press("Close")

	p.press("Set a key")
	p.fill("Set a key", "Key", "config/new")
	p.fill("Set a key", "Value", "17")
	p.press("Set")
	p.readsIn("td", "config/new")
	p.do(evaluate(`document.querySelector("input[type=search]").focus()`))
	p.typed("config/n")
	p.sees(`document.querySelectorAll("tbody tr").length === 1`)
	p.press("Delete …")
	p.press("Delete", "Delete config/new?")
	p.reads("No key has this prefix.")

	// A key that is not text is found by its bytes.
	p.show("#/keys")
	p.press("/wByYXc=")
	p.sees(field("Change the value", "Value") + `?.value === "bytes"`)

	var after struct{ Value string }
	s.get("keys/config%2Fshop", &after)
	if after.Value != `{"open": false}` {
		t.Errorf("the value is %q", after.Value)
	}
}
