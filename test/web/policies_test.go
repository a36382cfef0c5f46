package web

import "testing"

// TestPolicies sets a policy, sees it on its queue, limits it with an operator policy, changes and
// deletes it.
func TestPolicies(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.show("#/policies")
	p.press("New policy")
	p.fill("Set policy", "Name", "short")
	p.fill("Set policy", "Names that match", "^(invoices|audit)$")
	p.fill("Set policy", "Priority", "1")
	p.fill("Set policy", "Max length", "1000")
	p.choose("Set policy", "When a queue is full", "reject-publish")
	p.press("Set policy")
	p.reads("The policy short is set.")
	p.readsIn("td", "overflow: reject-publish")
	p.press("New operator policy")
	p.fill("Set operator policy", "Name", "bound")
	p.fill("Set operator policy", "Names that match", "^invoices$")
	p.fill("Set operator policy", "Priority", "1")
	p.fill("Set operator policy", "Max length", "50")
	p.press("Set operator policy")
	p.reads("The operator policy bound is set.")
	p.shot("policies-set")

	p.show("#/queues/%2F/invoices")
	p.readsIn(".chip", "policy short")
	p.readsIn("dd", "bound")
	p.sees(facts + `["by policy: max-length"] === "50" && ` + facts + `["by policy: overflow"] === "reject-publish"`)

	p.show("#/policies")
	p.press("short")
	p.fill("Set policy", "Max length", "40")
	p.press("More settings", "Set policy")
	p.fill("Set policy", "Other settings", `{"queue-mode": "lazy"}`)
	p.press("Set policy")
	p.readsIn("td", "queue-mode: lazy")
	p.show("#/queues/%2F/invoices")
	p.sees(facts + `["by policy: max-length"] === "40"`)

	p.show("#/policies")
	p.expectRefusals(1)
	p.press("short")
	p.fill("Set policy", "Names that match", "(")
	p.press("Set policy")
	p.readsIn("[role=alert]", "Validation failed")
	row := `[...document.querySelectorAll("tr")].find((r) => r.innerText.startsWith("short"))`
	p.do(evaluate(row + `.querySelector("button.danger").click()`))
	p.press("Delete", "Delete policy short?")
	p.sees(`!` + row)
	p.show("#/queues/%2F/invoices")
	p.readsIn(".chip", "policy bounded")
	p.sees(facts + `["by policy: max-length"] === "50"`)
}

// facts is JavaScript for the names and values that the page shows.
const facts = `Object.fromEntries([...document.querySelectorAll("dt")].map((d) => [d.innerText, d.nextElementSibling.innerText]))`

// TestLimits sets and clears the limits of a user and of a virtual host on their pages.
func TestLimits(t *testing.T) {
	p := openAt(t, openShop(t).at)
	p.login()
	for _, view := range []string{"users/ann", "vhosts/staging"} {
		p.showView(view)
		p.choose("Set a limit", "Limit", "max-connections")
		p.fill("Set a limit", "Value", "7")
		p.press("Set", "Set a limit")
		p.readsIn(".card", "max-connections\n7")
		p.press("Remove")
		p.reads("The limit is removed.")
		p.sees(`![...document.querySelectorAll("button")].some((b) => b.innerText === "Remove")`)
	}
}
