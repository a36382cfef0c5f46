package oracle

import (
	"errors"
	"flag"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

var rewrite = flag.Bool("rewrite", false, "record the answers of RabbitMQ anew")

func TestMain(m *testing.M) { brokertest.Main(m) }

// atOnce is the number of cases that run concurrently. Most of their time is waiting.
const atOnce = 12

// outcome is what a broker answered to one case.
type outcome struct {
	answers []string
	err     error
}

// playAll plays the cases and returns their outcomes in the same order.
func playAll(addr string, cases []*testCase) []outcome {
	outcomes := make([]outcome, len(cases))
	work := make(chan int)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for i := range work {
				outcomes[i].answers, outcomes[i].err = play(addr, i, cases[i].script)
			}
		})
	}
	for i := range cases {
		work <- i
	}
	close(work)
	wg.Wait()
	return outcomes
}

func allCases(t *testing.T) ([]*file, []*testCase) {
	t.Helper()
	files, err := readFiles("testdata")
	if err != nil {
		t.Fatal(err)
	}
	var cases []*testCase
	for _, f := range files {
		cases = append(cases, f.cases...)
	}
	return files, cases
}

// compare reports each case whose answers differ from want.
func compare(t *testing.T, cases []*testCase, outcomes []outcome, want func(*testCase) []string) {
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := outcomes[i]
			if got.err != nil {
				t.Fatal(got.err)
			}
			if !slices.Equal(got.answers, want(c)) {
				t.Errorf("%s\n---- want\n%s\n---- got\n%s", strings.Join(c.script, "\n"), strings.Join(want(c), "\n"), strings.Join(got.answers, "\n"))
			}
		})
	}
}

func TestFiveways(t *testing.T) {
	_, cases := allCases(t)
	b := brokertest.Run(t, "--http", "127.0.0.1:0")
	if err := traceHere(b.HTTPAddr()); err != nil {
		t.Fatal(err)
	}
	compare(t, cases, playAll(b.Addr(), cases), (*testCase).want)
}

// traced are the virtual hosts that scripts about the firehose log in to. Scripts that listen to
// the default exchange, which all scripts use, have a virtual host for themselves.
var traced = []string{"traced", "traced1", "traced2"}

// traceThere returns the command that creates them in RabbitMQ and turns their firehose on.
func traceThere() string {
	return `lists:foreach(fun(V) -> rabbit_vhost:add(V, <<"oracle">>), rabbit_trace:start(V), ` +
		`rabbit_auth_backend_internal:set_permissions(<<"guest">>, V, <<".*">>, <<".*">>, <<".*">>, <<"oracle">>) end, ` +
		`[<<"` + strings.Join(traced, `">>, <<"`) + `">>]).`
}

// traceHere creates them in the Fiveways broker that serves HTTP at addr.
func traceHere(addr string) error {
	for _, vhost := range traced {
		r, err := http.NewRequest(http.MethodPut, "http://"+addr+"/api/vhosts/"+vhost, strings.NewReader(`{"tracing":true}`))
		if err != nil {
			return err
		}
		r.SetBasicAuth("guest", "guest")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		answer.Body.Close() //nolint:errcheck // it was not read
		if answer.StatusCode != http.StatusCreated {
			return errors.New(answer.Status)
		}
	}
	return nil
}

func TestRabbitMQ(t *testing.T) {
	files, cases := allCases(t)
	r, err := startRabbit(t.TempDir())
	if errors.Is(err, errNoRabbit) {
		t.Skip(err, "- TestFiveways compares with what one answered before")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.stop)
	if _, err := r.kit.Ctl(r.dir, r.port, "eval", traceThere()); err != nil {
		t.Fatal(err)
	}
	outcomes := playAll(r.addr, cases)
	if !*rewrite {
		playAgain(t, r.addr, cases, outcomes)
		compare(t, cases, outcomes, func(c *testCase) []string { return c.rabbit })
		return
	}
	for i, c := range cases {
		if outcomes[i].err != nil {
			t.Fatalf("%s: %v", c.name, outcomes[i].err)
		}
		c.rabbit = outcomes[i].answers
	}
	for _, f := range files {
		if err := f.write(); err != nil {
			t.Fatal(err)
		}
	}
}

// playAgain repeats, one by one, the cases that RabbitMQ answered differently from the recording.
// Its processes run concurrently, and on a busy machine it may report a count before an earlier
// message has reached its queue.
func playAgain(t *testing.T, addr string, cases []*testCase, outcomes []outcome) {
	for i, c := range cases {
		if outcomes[i].err != nil || slices.Equal(outcomes[i].answers, c.rabbit) {
			continue
		}
		t.Logf("%s is played again, for RabbitMQ answered\n%s", c.name, strings.Join(outcomes[i].answers, "\n"))
		outcomes[i].answers, outcomes[i].err = play(addr, len(cases)+i, c.script)
	}
}

// TestValues checks that values in scripts are formatted as they were parsed.
func TestValues(t *testing.T) {
	const line = `{s="a b" e="" i=-5 I=i:5 l=l:-5000000000 b=b:-1 B=B:2 h=s:-3 u=u:3 L=L:4 f=f:1.5 d=d:2.5 D=D:7 T=T:9 t=true v=void A=[1,"x",{}] F={deep={}}}`
	v, rest, err := value(line)
	if err != nil || rest != "" || show(v) != line {
		t.Errorf("got %s, rest %q, %v", show(v), rest, err)
	}
	for _, bad := range []string{`{a=1`, `[1`, `"a`, `Q:1`, `l:x`} {
		if v, _, err := value(bad); err == nil {
			t.Errorf("%s is taken for %s", bad, show(v))
		}
	}
}

// TestKnownDifferences checks that each listed difference still exists and has a reason.
func TestKnownDifferences(t *testing.T) {
	_, cases := allCases(t)
	for _, c := range cases {
		if c.ours != nil && c.reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
		if c.reason != "" && slices.Equal(c.rabbit, c.ours) {
			t.Errorf("%s: both answer alike", c.name)
		}
	}
}
