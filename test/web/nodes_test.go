package web

import "testing"

// The view of a node draws what it uses, of as much of the past as there is.
func TestNode(t *testing.T) {
	s := openShop(t)
	s.trade()
	p := openAt(t, s.at)
	p.login()
	p.show("#/nodes")
	p.press("fiveways")
	p.readsIn(".tile", "Open files")
	p.readsIn("dt", "Resident")
	p.sees(coloured("Network", 1) + ` > 20`)
	p.sees(coloured("Writes of the log", 2) + ` > 20`)
	if ranges := ask[string](p, `document.querySelector("[aria-label='Time range of charts']").innerText`); ranges != "last minute" {
		t.Errorf("after some seconds the ranges are %q", ranges)
	}
	p.show("#/connections")
	p.readsIn("td.name", "till-1")
	p.sees(`[...document.querySelectorAll("td.number")].some((td) => /^[1-9].*B[/]s$/.test(td.innerText))`)
	p.press(ask[string](p, `document.querySelector("td.name a").innerText`))
	p.sees(coloured("Bytes per second", 1) + ` > 20`)
}

// A shovel is set, moves messages, and is deleted; all of that is in the audit log.
func TestShovelsAndAuditLog(t *testing.T) {
	s := openShop(t)
	p := openAt(t, s.at)
	p.login()
	p.show("#/shovels")
	p.reads("There is no shovel.")
	p.press("New shovel")
	p.fill("New shovel", "Name", "to-archive")
	p.fill("New shovel", "From queue", "orders")
	p.fill("New shovel", "To broker", "amqp://")
	p.fill("New shovel", "To queue", "archive")
	p.press("Set shovel")
	p.readsIn("td .chip.good", "running")
	p.typed("") // the fields keep what was typed; the row is read anew
	p.do(evaluate(`document.activeElement.blur()`))
	p.typed("r")
	p.sees(`[...document.querySelectorAll("td.number")].some((td) => td.innerText === "12")`)
	p.shot("shovels")
	p.press("Delete …")
	p.press("Delete shovel", "Delete shovel to-archive?")
	p.reads("There is no shovel.")

	p.show("#/audit")
	p.sees(`[...document.querySelectorAll("tbody tr")].some((r) => r.innerText.includes("/api/parameters/shovel/%2F/to-archive") && r.innerText.includes("guest") && r.innerText.includes("done"))`)
	p.do(evaluate(`document.querySelector("input[type=search]").focus()`))
	p.typed("DELETE")
	p.sees(`document.querySelectorAll("tbody tr").length === 1`)
	p.shot("audit")
}
