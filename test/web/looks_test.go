package web

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// views are all views of the page that the shop has data for.
var views = []string{
	"overview", "queues", "queues/%2F/orders", "queues/%2F/orders?tab=messages", "queues/%2F/orders?tab=scheduled", "queues/%2F/orders?tab=bindings",
	"queues/%2F/orders?tab=manage", "exchanges", "exchanges/%2F/shop", "topology", "jobs", "connections", "channels", "jobs/%2F/mails", "semaphores", "semaphores/%2F/crawlers", "keys", "users", "users/ann",
	"vhosts", "vhosts/%2F", "policies", "definitions", "nodes", "nodes/fiveways", "shovels", "audit", "jobs/%2F/mails?tab=retry", "jobs/%2F/mails?tab=dead",
}

// name returns a file name for a view.
func name(view string) string {
	return strings.NewReplacer("/", "-", "%2F", "default", "?tab=", "-").Replace(view)
}

// counted counts the requests in flight.
const counted = `(() => {
	if (globalThis.underWay !== undefined) return;
	globalThis.underWay = 0;
	const ask = globalThis.fetch;
	globalThis.fetch = (...of) => { underWay++; return ask(...of).finally(() => underWay--); };
})()`

// drawn waits until the page has drawn its view and the answers to all its requests.
const drawn = `(async () => {
	const frames = async () => { for (let i = 0; i < 3; i++) await new Promise((r) => requestAnimationFrame(() => setTimeout(r))); };
	let waited;
	do { waited = underWay > 0; await frames(); } while (waited || underWay > 0);
	return true;
})()`

// showView shows a view and waits until it is complete.
func (p *page) showView(view string) {
	p.t.Helper()
	p.do(evaluate(counted))
	p.show("#/" + view)
	ask[bool](p, drawn)
	p.sees(`document.querySelector("main h1") !== null && !document.querySelector("main").innerText.includes("Loading")`)
}

// scrolled are the tables that are wider than their place.
const scrolled = `[...document.querySelectorAll(".scroll")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.ariaLabel)`

func TestViewsInDarkAndLightAndOnAPhone(t *testing.T) {
	s := openShop(t)
	s.trade()
	p := openAt(t, s.at)
	p.login()
	for _, view := range views {
		p.showView(view)
		if over := ask[[]string](p, scrolled); len(over) > 0 {
			t.Errorf("%s: a part is seen only when scrolled to: %q", view, over)
		}
		p.shot(name(view))
	}
	before := ask[string](p, `getComputedStyle(document.body.parentElement).backgroundColor`)
	p.press("Dark")
	p.sees(fmt.Sprintf(`getComputedStyle(document.body.parentElement).backgroundColor !== %q`, before))
	for _, view := range views[:4] {
		p.showView(view)
		p.shot(name(view) + "-dark")
	}
	p.sized(360, 740)
	for _, view := range views {
		p.showView(view)
		if wide := ask[int](p, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s is %d pixels wide on a phone", view, wide)
		}
		p.shot(name(view) + "-phone")
	}
}

// TestKeyboard creates a queue and finds it again with the keyboard alone.
func TestKeyboard(t *testing.T) {
	p := open(t)
	p.sees(`document.querySelector("form[aria-label='Log in']") !== null`)
	p.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("guest"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("guest"), chromedp.KeyEvent(kb.Enter))
	p.sees(`document.querySelector("#navigation") !== null`)
	p.do(chromedp.KeyEvent(kb.Tab))
	if at := ask[string](p, `document.activeElement.innerText`); at != "Skip to the content" {
		t.Errorf("the first stop is %q", at)
	}
	p.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent("gq"))
	p.reads("There is no queue yet")
	for ask[string](p, `document.activeElement.tagName`) != "SUMMARY" {
		p.do(chromedp.KeyEvent(kb.Tab))
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.sees(`document.querySelector("form[aria-label='New queue'] input")?.checkVisibility({ visibilityProperty: true })`)
	p.do(chromedp.KeyEvent(kb.Tab))
	p.sees(`document.activeElement.tagName === "INPUT"`)
	p.do(chromedp.KeyEvent("by-hand"), chromedp.KeyEvent(kb.Enter))
	p.readsIn("h1", "by-hand")
	p.do(chromedp.KeyEvent("gq"))
	p.readsIn("td", "by-hand")
	p.do(chromedp.KeyEvent("/"), chromedp.KeyEvent("nothing"))
	p.reads("No name matches")
	p.do(chromedp.KeyEvent(kb.Escape), evaluate(`document.activeElement.blur()`), chromedp.KeyEvent("?"))
	p.readsIn("dialog[open]", "virtual hosts")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.sees(`document.querySelector("dialog") === null`)
}

// TestAccessible runs axe-core, which finds problems for people with screen readers or weak
// eyesight.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("no axe-core: npm install --prefix test/web")
	}
	p := openAt(t, openShop(t).at)
	p.login()
	p.do(evaluate(string(axe)))
	check := func(theme, rules string) {
		for _, view := range views {
			p.showView(view)
			found := ask[[]string](p, fmt.Sprintf(`axe.run(document, {runOnly: %s})
				.then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html + " " + n.failureSummary).join("\n")))`, rules))
			for _, f := range found {
				t.Errorf("%s, %s: %s", theme, view, f)
			}
		}
	}
	check("light", `["wcag2a", "wcag2aa", "wcag21aa"]`)
	p.press("Dark")
	check("dark", `["color-contrast"]`) // nothing else depends on the theme
}

// TestFocus checks that every stop of the Tab key is visible, in the order of the page, and that
// Escape returns the focus to where the dialog was opened.
func TestFocus(t *testing.T) {
	p := openAt(t, openShop(t).at)
	p.login()
	p.showView("queues/%2F/orders?tab=manage")
	p.do(evaluate(`document.activeElement.blur()`))
	seen := map[string]bool{}
	for range 80 {
		p.do(chromedp.KeyEvent(kb.Tab))
		at := ask[struct {
			Name    string
			Outline string
			After   bool // the previous focus
		}](p, `(() => { const e = document.activeElement; const s = getComputedStyle(e);
			const after = !globalThis.before || Boolean(before.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING);
			globalThis.before = e;
			return { name: e.tagName + " " + (e.innerText || e.ariaLabel || e.labels?.[0]?.innerText || ""), outline: s.outlineStyle, after }; })()`)
		if strings.HasPrefix(at.Name, "BODY") {
			break
		}
		if at.Outline == "none" {
			t.Errorf("nobody sees that the focus is at %s", at.Name)
		}
		if !at.After {
			t.Errorf("the focus goes back to %s", at.Name)
		}
		seen[at.Name] = true
	}
	for _, stop := range []string{"A Overview", "A Queues", "BUTTON Redrive", "BUTTON Purge …", "BUTTON Delete queue …"} {
		if !seen[stop] {
			t.Errorf("the Tab key never comes to %s", stop)
		}
	}
	p.do(evaluate(`[...document.querySelectorAll("button")].find((b) => b.innerText === "Purge …").focus()`), chromedp.KeyEvent(kb.Enter))
	p.sees(`document.querySelector("dialog[open]") !== null`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.sees(`document.querySelector("dialog") === null && document.activeElement.innerText === "Purge …"`)
}

// TestTopologyIsDrawn checks that the drawing shows all bindings, that its nodes link to what they
// stand for, and that it can be moved and zoomed.
func TestTopologyIsDrawn(t *testing.T) {
	p := openAt(t, openShop(t).at)
	p.login()
	p.show("#/topology")
	p.sees(`document.querySelectorAll(".graph .node").length === 7 && document.querySelectorAll(".graph .edge path").length === 5`)
	apart := ask[bool](p, `(() => {
		const boxes = [...document.querySelectorAll(".graph .node rect")].map((r) => r.getBoundingClientRect());
		return boxes.every((a, i) => boxes.every((b, j) => i === j || a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top));
	})()`)
	if !apart {
		t.Error("nodes of the drawing lie on each other")
	}
	before := ask[string](p, `document.querySelector(".graph svg").getAttribute("viewBox")`)
	p.press("Larger")
	p.sees(fmt.Sprintf(`document.querySelector(".graph svg").getAttribute("viewBox") !== %q`, before))
	p.press("Whole")
	p.sees(fmt.Sprintf(`document.querySelector(".graph svg").getAttribute("viewBox") === %q`, before))
	p.do(evaluate(`document.querySelector("input[type=search]").focus()`), chromedp.KeyEvent("dead"))
	p.sees(`document.querySelectorAll(".graph .node").length === 2`)
	p.do(evaluate(`document.querySelector("[aria-label='queue orders.dead']").dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`))
	p.readsIn("h1", "orders.dead")
}
