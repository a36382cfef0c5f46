package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestUsersAndPermissions(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.show("#/users")
	p.press("New user")
	p.fill("New user", "Name", "clerk")
	p.fill("New user", "Password", "secret-of-clerk")
	p.fill("New user", "Tags", "management")
	p.press("Create user")
	p.reads("This user has no access to a virtual host yet.")
	p.fill("Grant a permission", "May create and delete", "^clerk\\.")
	p.press("Grant", "Grant a permission")
	p.readsIn("td", "^clerk\\.")
	p.press("Routing key limits")
	p.choose("Limit routing keys", "Virtual host", "staging")
	p.fill("Limit routing keys", "Routing keys to publish", "^order\\.")
	p.press("Grant", "Limit routing keys")
	p.readsIn("td", "^order\\.")
	p.fill("Change user", "Tags", "monitoring")
	p.press("Change", "Change user")
	p.reads("Changed.")
	p.shot("user")

	var user struct{ Tags []string }
	s.get("users/clerk", &user)
	if strings.Join(user.Tags, " ") != "monitoring" {
		t.Errorf("the user has the tags %v", user.Tags)
	}

	// The clerk may view much and create its own objects. The page says what is not permitted.
	clerk := openAt(t, s.at)
	clerk.loginAs("clerk", "secret-of-clerk")
	clerk.show("#/queues?new=clerk.notes")
	clerk.press("Create queue")
	clerk.readsIn("h1", "clerk.notes")
	clerk.expectRefusals(1)
	clerk.show("#/queues?new=orders.stolen")
	clerk.press("Create queue")
	clerk.readsIn("[role=alert]", "Access refused")
	if places := ask[string](clerk, `document.querySelector("#navigation").innerText`); strings.Contains(places, "Users") {
		t.Errorf("the navigation of a user without the tag administrator is %s", places)
	}

	p.press("Take away …", "Permissions")
	p.press("Remove", "Remove this permission?")
	p.reads("This user has no access to a virtual host yet.")
	p.press("Delete …")
	p.press("Delete user", "Delete user clerk?")
	p.sees(`document.querySelector("h1").innerText === "Users"`)
	p.sees(`![...document.querySelectorAll("td")].some((td) => td.innerText === "clerk")`)
}

func TestVirtualHosts(t *testing.T) {
	p := open(t)
	p.login()
	p.show("#/vhosts")
	p.press("New virtual host")
	p.fill("New virtual host", "Name", "trial/run")
	p.fill("New virtual host", "Description", "for a day")
	p.press("Create virtual host")
	p.readsIn("h1", "trial/run")
	p.readsIn("dd", "for a day")
	p.press("Its queues")
	p.sees(`document.querySelector("[aria-label='Virtual host']").value === "trial/run"`)
	p.show("#/queues?new=within")
	p.press("Create queue")
	p.readsIn("h1", "within")
	p.show("#/vhosts/trial%2Frun")
	p.press("Delete …")
	p.press("Delete virtual host", "Delete virtual host trial/run?")
	p.sees(`document.querySelector("h1").innerText === "Virtual hosts"`)
}

// TestDefinitionsGoIntoAFileAndOutOfOne exports the definitions to a file, and imports them into
// another broker.
func TestDefinitionsGoIntoAFileAndOutOfOne(t *testing.T) {
	p := openAt(t, openShop(t).at)
	p.login()
	p.show("#/definitions")
	p.sees(`document.querySelector("h1")?.innerText === "Definitions"`)
	p.do(evaluate(`(() => { const make = URL.createObjectURL; URL.createObjectURL = (b) => { globalThis.saved = b; return make.call(URL, b); }; })()`))
	p.press("Save", "Save to a file")
	p.reads("Saved.")
	text := ask[string](p, `saved.text()`)
	file := filepath.Join(t.TempDir(), "definitions.json")
	must(t, os.WriteFile(file, []byte(text), 0o600))

	other := open(t)
	other.login()
	other.show("#/definitions")
	other.sees(`document.querySelector("input[type=file]") !== null`)
	other.do(chromedp.SetUploadFiles("input[type=file]", []string{file}))
	other.press("Load", "Load from a file")
	other.reads("Loaded: the definitions of the file are in place.")
	other.show("#/queues")
	other.readsIn("td", "orders.dead")
	other.show("#/users")
	other.readsIn("td", "ann")

	must(t, os.WriteFile(file, []byte(`{"queues": [{"name": 7}]}`), 0o600))
	other.expectRefusals(1)
	other.show("#/definitions")
	other.sees(`document.querySelector("input[type=file]") !== null`)
	other.do(chromedp.SetUploadFiles("input[type=file]", []string{file}))
	other.press("Load", "Load from a file")
	other.sees(`document.querySelector(".toasts .bad") !== null`)
}
