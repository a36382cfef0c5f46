package cli

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/cli/exitcode"
)

// TestOverview checks that the overview says in about ten lines whether the broker is well, and
// what is wrong.
func TestOverview(t *testing.T) {
	api := newFakeAPI(t, map[string]string{
		"overview": `{"product_name":"Fiveways","product_version":"1.2.3","rabbitmq_version":"3.10.8","object_totals":{"queues":1234,"exchanges":8,"connections":3,"channels":3,"consumers":1},
			"queue_totals":{"messages_ready":1234567,"messages_unacknowledged":12},"message_stats":{"publish_details":{"rate":300.4}}}`,
		"attention": `{"matters":[{"kind":"alarm","severity":"critical","text":"Publishers are blocked."},{"kind":"growing","severity":"warning","vhost":"shop","name":"dead","text":"It grows."},
			{"kind":"login","severity":"warning","name":"ann","text":"5 logins failed."},{"kind":"failing","severity":"warning","vhost":"/","name":"x","text":"It fails."}]}`,
		"nodes": `[{"name":"n1","running":true,"uptime":3600000,"mem_used":1048576,"mem_limit":2097152,"mem_alarm":false,"disk_free":1024,"disk_free_limit":2048,"disk_free_alarm":true},
			{"name":"n2","running":false}]`,
		"health/checks/local-alarms": "{}", "health/checks/virtual-hosts": "{}",
	})
	out, errs, code := command(t, "overview", "--url", api.URL)
	if code != exitcode.OK {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	want := `State      well: no alarms, all virtual hosts run
Attention  CRITICAL: Publishers are blocked.
Attention  dead in shop: It grows.
Attention  ann: 5 logins failed.
Attention  and 1 more; -o json has all
Messages   1,234,567 ready, 12 unacked
Rates      300/s in, 0/s out, 0/s acknowledged
Objects    1,234 queues, 8 exchanges, 3 connections, 3 channels, 1 consumer
Node       n1, up 1h0m, memory 1 MiB of 2 MiB, disk 1 KiB free (alarm below 2 KiB) ALARM
Node       n2 DOES NOT RUN
Version    Fiveways 1.2.3, for clients RabbitMQ 3.10.8
`
	if out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	if out, _, _ := command(t, "overview", "--url", api.URL, "-o", "json"); !strings.Contains(out, "It fails.") || !strings.Contains(out, `"queue_totals"`) {
		t.Errorf("in JSON something is missing:\n%s", out)
	}
	api.answer["attention"] = `{"matters":[]}`
	if out, _, _ := command(t, "overview", "--url", api.URL); !strings.Contains(out, "Attention  nothing needs any\n") {
		t.Errorf("nothing needs attention:\n%s", out)
	}
	delete(api.answer, "health/checks/local-alarms")
	delete(api.answer, "nodes")
	if out, _, _ := command(t, "overview", "--url", api.URL); !strings.Contains(out, "State      NOT WELL: ") || !strings.Contains(out, "Node       not shown: ") {
		t.Errorf("what is wrong is not shown:\n%s", out)
	}
}

// TestCompletionOfNames checks that arguments and flags are completed with the broker's objects,
// and that without a broker there are no completions and no error.
func TestCompletionOfNames(t *testing.T) {
	api := newFakeAPI(t, map[string]string{"queues/%2F": `[{"name":"alpha"},{"name":"beta"}]`, "queues/shop": `[{"name":"gamma"}]`, "exchanges/%2F": `[{"name":""},{"name":"events"}]`,
		"vhosts": `[{"name":"/"},{"name":"shop"}]`, "users": `[{"name":"ann"}]`})
	for line, want := range map[string]string{
		"queue show": "alpha beta :4", "queue purge --vhost shop": "gamma :4", "message move alpha": "alpha beta :4", "queue add": ":4", "queue show alpha": ":4",
		"exchange delete": "events :4", "binding add": "events :4", "binding add events": "alpha beta :4", "user delete": "ann :4", "user add": ":4", "vhost delete": "/ shop :4",
		"vhost trace shop": "on off :4", "queue list --vhost": "/ shop :4", "queue list --output": "table json :4", "node list --sort": "name running memory mem_alarm disk_free disk_free_alarm files uptime :4", "definitions import": ":0",
	} {
		words := append([]string{"__complete"}, strings.Fields(line)...)
		words = append(words[:2], append([]string{"--url", api.URL}, words[2:]...)...)
		if out, _, code := command(t, append(words, "")...); code != exitcode.OK || strings.Join(strings.Fields(out), " ") != want {
			t.Errorf("%s: exit code %d, %q, want %q", line, code, out, want)
		}
	}
	if out, _, code := command(t, "__complete", "queue", "show", "--data", t.TempDir(), ""); code != exitcode.OK || out != ":4\n" {
		t.Errorf("without a broker: exit code %d, %q", code, out)
	}
}
