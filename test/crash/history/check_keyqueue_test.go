package history

import (
	"strings"
	"testing"
)

// TestCheckKeyQueue checks the history of a correct run, and histories with one mistake each.
func TestCheckKeyQueue(t *testing.T) {
	acts := map[string]QueueAct{}
	for n, name := range queueActNames {
		acts[name] = QueueAct(n)
	}
	for name, c := range map[string]struct{ history, breach string }{
		"good":                     {"put a; answered a; got a x 1; acking a x; acked a x", ""},
		"lost":                     {"put a; answered a", "lost"},
		"not answered, lost":       {"put a; killed", ""},
		"not answered, there":      {"put a; killed; got a x 1; acked a x", ""},
		"nobody put it":            {"got a x 1; acked a x", "never put"},
		"two at a time":            {"put a; answered a; got a x 1; got a y 1; acked a y", "while x has it"},
		"left, then another":       {"put a; answered a; got a x 1; left - x; got a y 1; acked a y", ""},
		"another one left":         {"put a; answered a; got a x 1; left - z; got a y 1; acked a y", "while x has it"},
		"killed, another":          {"put a; answered a; got a x 1; killed; got a y 1; acked a y", ""},
		"told twice":               {"put a; answered a; got a x 1; got a x 1; acked a x", ""},
		"again after all":          {"put a; answered a; got a x 1; acked a x; killed; got a y 1; acked a y", "after it was acknowledged"},
		"ack without answer":       {"put a; answered a; got a x 1; acking a x; killed; got a y 1; acked a y", ""},
		"kept":                     {"put a; answered a; got a x 1", "never acknowledged"},
		"another place":            {"put a; answered a; got a x 1; left - x; got a y 2; acked a y", "had place 1"},
		"one place for two":        {"put a; answered a; put b; answered b; got a x 1; got b x 1; acked a x; acked b x", "both have place"},
		"told and lost":            {"put a; got a x 1; killed", "a consumer was told"},
		"told, deleted and killed": {"put a; got a x 1; acking a x; killed", ""},
		"told, left and lost":      {"put a; got a x 1; left - x", "a consumer was told"},
		"the place of a lost one":  {"put a; got a x 1; acking a x; killed; put b; answered b; got b x 1; acked b x", "both have place"},
		"a place that went back":   {"put a; got a x 2; acking a x; killed; put b; answered b; got b x 1; acked b x", "when place 2 was given"},
		"in order":                 {"put a; answered a; put b; answered b; got a x 1; got b x 2; acked a x; acked b x", ""},
		"out of order":             {"put a; answered a; put b; answered b; got b x 2; got a x 1; acked a x; acked b x", "after b"},
		"late, given back": {
			"put a; answered a; put b; answered b; got a y 1; got b x 2; left - y; got a x 1; gone - y; acked a x; acked b x", "",
		},
		"late, given back long before": {
			"left - y; gone - y; put a; answered a; put b; answered b; got b x 2; got a x 1; acked a x; acked b x", "after b",
		},
		"late, given to one that had left": {
			"left - y; put a; answered a; put b; answered b; got b x 2; gone - y; got a x 1; acked a x; acked b x", "",
		},
		"places against time": {"put b; answered b; put a; answered a; got b x 2; killed; got b x 2; left - x; gone - x; got a x 1; acked a x; acked b x", "stands before"},
	} {
		var events []QueueEvent
		for _, part := range strings.Split(c.history, "; ") {
			words := append(strings.Fields(part), "", "", "")
			e := QueueEvent{Act: acts[words[0]], Msg: words[1], Consumer: words[2]}
			if words[3] != "" {
				e.Place = int64(words[3][0] - '0')
			}
			events = append(events, e)
		}
		breaches := strings.Join(CheckKeyQueue(events), "; ")
		if (c.breach == "") != (breaches == "") || !strings.Contains(breaches, c.breach) {
			t.Errorf("%s: %q", name, breaches)
		}
	}
}
