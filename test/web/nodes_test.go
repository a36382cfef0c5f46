package web

import (
	"crypto/tls"
	"os/exec"
	"path/filepath"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestNode checks that the view of a node draws its resources over the available history, and that
// connections have their rates and TLS parameters.
func TestNode(t *testing.T) {
	certs := filepath.Join(t.TempDir(), "certs")
	if out, err := exec.Command(brokertest.Binary(t), "tls", "self-signed", "--out", certs).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := openShop(t, "--tls-cert", filepath.Join(certs, "server.pem"), "--tls-key", filepath.Join(certs, "server-key.pem"))
	s.trade()
	secure, err := amqp.DialTLS("amqps://guest:guest@"+s.Addr()+"/%2f", &tls.Config{InsecureSkipVerify: true})
	must(t, err)
	defer secure.Close()
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
	p.sees(`[...document.querySelectorAll("td .chip.good")].some((e) => /^TLS 1.3, [a-z]/.test(e.innerText))`)
	p.shot("connections-tls")
	p.press(ask[string](p, `[...document.querySelectorAll("tr")].find((r) => r.innerText.includes("till-1")).querySelector("a").innerText`))
	p.sees(coloured("Bytes per second", 1) + ` > 20`)
}

// TestShovelsAndAuditLog checks that a shovel is created, moves messages and is deleted, and that
// the audit log has all of that.
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
	p.typed("") // the fields keep the input while the row is refreshed
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
