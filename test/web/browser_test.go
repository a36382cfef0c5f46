package web

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"fiveways.dev/fiveways/test/brokertest"
)

// patience is the timeout for something to appear on a page, unless a test sets its own.
const patience = 20 * time.Second

var chromium struct {
	context.Context // of the browser that all tests share; nil if there is none
	stop            func()
}

// TestMain prefers the browser without windows: it takes a third of the CPU.
func TestMain(m *testing.M) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			launch(path)
			break
		}
	}
	defer func() {
		if chromium.stop != nil {
			chromium.stop()
		}
	}()
	brokertest.Main(m)
}

// launch starts the browser. For root it runs without its sandbox, which root cannot use.
func launch(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("force-prefers-reduced-motion", true), chromedp.WindowSize(1360, 900))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(alloc)
	chromium.Context, chromium.stop = ctx, func() { stop(); stopAlloc() }
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "web: Chromium does not start:", err)
		chromium.Context = nil
	}
}

// page is a tab with its own storage, and the problems that occurred in it.
type page struct {
	t        *testing.T
	ctx      context.Context
	base     string
	patience time.Duration // timeout for something to appear

	mu       sync.Mutex
	troubles []string // guarded by mu
	refused  int      // 4xx answers that the test expects; guarded by mu
	wanted   []string // parts of complaints that the test provokes; guarded by mu
}

// open starts a broker with every protocol and shows its page in a new tab.
func open(t *testing.T) *page {
	t.Helper()
	b := brokertest.Run(t, "--http", "127.0.0.1:0", "--redis", "127.0.0.1:0", "--etcd", "127.0.0.1:0", "--sql", "127.0.0.1:0")
	return openAt(t, "http://"+b.HTTPAddr())
}

func openAt(t *testing.T, base string) *page {
	t.Helper()
	if chromium.Context == nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no Chromium: .ci/install installs it")
		}
		t.Skip("no Chromium here (Debian: apt install chromium-headless-shell)")
	}
	ctx, cancel := chromedp.NewContext(chromium.Context, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &page{t: t, ctx: ctx, base: base, patience: patience}
	if err := chromedp.Listen(ctx, p.watch); err != nil { // opens the tab as well
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.report)
	p.do(chromedp.Navigate(base + "/"))
	return p
}

// watch records events that must not happen.
func (p *page) watch(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.troubles = append(p.troubles, "a script failed: "+thrown(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.troubles = append(p.troubles, fmt.Sprintf("the console says %s: %s", e.Type, e.Args[0].Value))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && p.refused > 0 && e.Entry.Source == log.EntrySourceNetwork {
			p.refused--
		} else if e.Entry.Level == log.EntryLevelError && !p.isWanted(e.Entry.Text) {
			p.troubles = append(p.troubles, "the browser complains: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "blob" && u.Scheme != "data" && !strings.HasPrefix(e.Request.URL, p.base+"/") {
			p.troubles = append(p.troubles, "a request leaves this host: "+e.Request.URL)
		}
	}
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception != nil {
		return d.Text + " " + d.Exception.Description
	}
	return fmt.Sprintf("%s at %s:%d", d.Text, d.URL, d.LineNumber)
}

func (p *page) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, trouble := range p.troubles {
		p.t.Error(trouble)
	}
}

// expectRefusals announces that n answers will be errors. The browser complains about each.
func (p *page) expectRefusals(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused += n
}

// tolerate announces that the browser will complain with these words.
func (p *page) tolerate(words ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = append(p.wanted, words...)
}

func (p *page) isWanted(complaint string) bool {
	return slices.ContainsFunc(p.wanted, func(w string) bool { return strings.Contains(complaint, w) })
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, p.patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.shot("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
		p.t.Fatalf("%v; the page says: %s", err, p.text())
	}
}

// ask evaluates JavaScript and returns its value, or that of a promise.
func ask[T any](p *page, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// evaluate runs JavaScript for its effect.
func evaluate(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](script)
}

// text returns the text of the page.
func (p *page) text() string {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// sees waits until a condition in JavaScript is true.
func (p *page) sees(condition string) {
	p.t.Helper()
	p.do(chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(p.patience)))
}

// reads waits until the page contains a text.
func (p *page) reads(text string) {
	p.t.Helper()
	p.sees(fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

// readsIn waits until the element of a selector contains a text.
func (p *page) readsIn(selector, text string) {
	p.t.Helper()
	p.sees(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%q))`, selector, text))
}

// press clicks the button or link with a label. If in is given, it looks in the form, section or
// dialog of that name.
func (p *page) press(label string, in ...string) {
	p.t.Helper()
	scope := ""
	p.sees(`!document.body.innerText.includes("Loading …")`)
	if len(in) > 0 {
		scope = fmt.Sprintf(`//*[@aria-label='%[1]s' or ./header/h2[text()='%[1]s'] or self::dialog[.//h2[text()='%[1]s']]]`, in[0])
	}
	path := fmt.Sprintf(`%[1]s//*[self::button or self::a or self::summary][normalize-space()='%[2]s' or @aria-label='%[2]s']`, scope, label)
	button := fmt.Sprintf(`document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE).singleNodeValue`, path)
	p.sees(button + `?.checkVisibility({ visibilityProperty: true }) && !` + button + `.disabled`)
	p.do(evaluate(button + `.click()`)) // not by position, which may change meanwhile
}

// field returns JavaScript for a field of a form, both found by their labels.
func field(form, label string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('form[aria-label=%[1]q] label')].find((l) => l.textContent === %[2]q)?.control`, form, label)
}

// fill replaces the content of a field of a form.
func (p *page) fill(form, label, value string) {
	p.t.Helper()
	f := field(form, label)
	p.sees(f + `?.checkVisibility({ visibilityProperty: true })`)
	p.do(evaluate(fmt.Sprintf(`(() => { const f = %s; f.focus(); f.select(); })()`, f)), chromedp.KeyEvent(value))
}

// typed types at the focus.
func (p *page) typed(text string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(text))
}

// choose selects an option in a field of a form.
func (p *page) choose(form, label, option string) {
	p.t.Helper()
	f := field(form, label)
	p.sees(fmt.Sprintf(`[...%s?.options ?? []].some((o) => o.value === %q)`, f, option))
	p.do(evaluate(fmt.Sprintf(`(() => { const f = %s; f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); })()`, f, option)))
}

// show shows a view of the page, such as #/queues.
func (p *page) show(place string) {
	p.t.Helper()
	p.do(evaluate(fmt.Sprintf("location.hash = %q", place)))
}

// login logs in as guest.
func (p *page) login() {
	p.t.Helper()
	p.loginAs("guest", "guest")
}

func (p *page) loginAs(user, password string) {
	p.t.Helper()
	p.fill("Log in", "User", user)
	p.fill("Log in", "Password", password)
	p.press("Log in", "Log in")
	p.sees(`document.querySelector("#navigation") !== null`)
}

// sized resizes the window.
func (p *page) sized(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// shot saves a screenshot of the page.
func (p *page) shot(name string) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll("screenshots", 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join("screenshots", name+".png"), png, 0o644)
	}
	if err != nil {
		p.t.Logf("no screenshot %s: %v", name, err)
	}
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
