package routing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fiveways.dev/fiveways/internal/core/message"
)

// twin is naive routing: a slice of bindings, all of which are checked for every message.
type twin struct {
	exchanges map[string]ExchangeSpec
	bindings  []Binding
}

func (w *twin) clone() *twin {
	c := &twin{map[string]ExchangeSpec{}, slices.Clone(w.bindings)}
	for name, spec := range w.exchanges {
		c.exchanges[name] = spec
	}
	return c
}

func sameBinding(a, b Binding) bool {
	return a.Source == b.Source && a.ToQueue == b.ToQueue && a.ToExchange == b.ToExchange && a.Key == b.Key &&
		fmt.Sprint(sortedArgs(a)) == fmt.Sprint(sortedArgs(b))
}

func sortedArgs(b Binding) []string {
	var all []string
	for _, f := range b.Args {
		all = append(all, fmt.Sprintf("%q %T %v", f.Name, f.Value, f.Value))
	}
	slices.Sort(all)
	return all
}

func (w *twin) bind(b Binding) bool {
	if slices.ContainsFunc(w.bindings, func(have Binding) bool { return sameBinding(have, b) }) {
		return false
	}
	w.bindings = append(w.bindings, b)
	return true
}

func (w *twin) remove(gone func(Binding) bool) int {
	before := len(w.bindings)
	w.bindings = slices.DeleteFunc(slices.Clone(w.bindings), gone)
	return before - len(w.bindings)
}

func (w *twin) route(exchange string, key string, headers message.Table) []QueueID {
	var queues []QueueID
	visited := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		spec, ok := w.exchanges[name]
		if !ok || visited[name] {
			return
		}
		visited[name] = true
		matched := false
		for _, b := range w.bindings {
			if b.Source != name || !naiveMatch(spec.Type, b, key, headers) || !naiveSelects(b, exchange, key, headers) {
				continue
			}
			matched = true
			if b.ToExchange != "" {
				visit(b.ToExchange)
			} else if !slices.Contains(queues, b.ToQueue) {
				queues = append(queues, b.ToQueue)
			}
		}
		if !matched {
			visit(spec.Alternate)
		}
	}
	visit(exchange)
	slices.Sort(queues)
	return queues
}

func naiveMatch(kind string, b Binding, key string, headers message.Table) bool {
	switch kind {
	case TypeDirect:
		return b.Key == key
	case TypeTopic:
		return naiveTopic(patternWords(b.Key), patternWords(key))
	case TypeHeaders:
		return naiveHeaders(b.Args, headers)
	}
	return true
}

// naiveSelectors maps selectors of bindings to Go functions with the same meaning.
var naiveSelectors = map[string]func(exchange, key string, headers message.Table) bool{
	"p = 1": func(_, _ string, headers message.Table) bool {
		p, _ := headers.Get("p")
		i, ok := message.Int(p)
		return ok && i == 1
	},
	"q IS NOT NULL OR exchange = 'd'": func(exchange, _ string, headers message.Table) bool {
		_, ok := headers.Get("q")
		return ok || exchange == "d"
	},
	"routing_key NOT LIKE '%b%'": func(_, key string, _ message.Table) bool { return !strings.Contains(key, "b") },
}

func naiveSelects(b Binding, exchange, key string, headers message.Table) bool {
	text, ok := b.Args.Get("x-selector")
	return !ok || naiveSelectors[text.(string)](exchange, key, headers)
}

func naiveTopic(pattern, words []string) bool {
	switch {
	case len(pattern) == 0:
		return len(words) == 0
	case pattern[0] == "#":
		return naiveTopic(pattern[1:], words) || len(words) > 0 && naiveTopic(pattern, words[1:])
	case len(words) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == words[0]) && naiveTopic(pattern[1:], words[1:])
}

func naiveHeaders(args, headers message.Table) bool {
	mode, _ := args.Get("x-match")
	if mode == nil {
		mode = "all"
	}
	hits, conditions := 0, 0
	for _, want := range args {
		if want.Name == "x-match" || want.Name == "x-selector" || strings.HasPrefix(want.Name, "x-") && !strings.HasSuffix(mode.(string), "-with-x") {
			continue
		}
		conditions++
		if have, ok := headers.Get(want.Name); ok && (want.Value == nil || fmt.Sprint(want.Value) == fmt.Sprint(have)) {
			hits++
		}
	}
	if strings.HasPrefix(mode.(string), "any") {
		return hits > 0
	}
	return hits == conditions
}

// The generators draw from few values, so that bindings often collide, match and repeat.
var (
	genWord     = rapid.SampledFrom([]string{"a", "b", "", "*", "#"})
	genPattern  = rapid.Map(rapid.SliceOfN(genWord, 0, 5), func(w []string) string { return strings.Join(w, ".") })
	genKey      = rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 6), func(w []string) string { return strings.Join(w, ".") })
	genExchange = rapid.SampledFrom([]string{"d", "f", "t", "h", "d2", "t2"})
	genMode     = rapid.SampledFrom([]string{"", "all", "any", "all-with-x", "any-with-x"})
	genSelector = rapid.SampledFrom(slices.Sorted(maps.Keys(naiveSelectors)))
	genQueue    = rapid.Map(rapid.IntRange(1, 5), func(i int) QueueID { return QueueID(i) })
)

func drawFields(t *rapid.T, void bool) message.Table {
	values := []any{"1", int32(1), int64(1), "2"}
	if void {
		values = append(values, nil)
	}
	var table message.Table
	for _, name := range []string{"p", "q", "x-r"} {
		if rapid.Bool().Draw(t, "has "+name) {
			// The twin compares printed values; quotes distinguish text from numbers.
			v := rapid.SampledFrom(values).Draw(t, name)
			if s, ok := v.(string); ok {
				v = "'" + s + "'"
			}
			table = append(table, message.Field{Name: name, Value: v})
		}
	}
	return table
}

func drawBinding(t *rapid.T) Binding {
	b := Binding{Source: genExchange.Draw(t, "source"), Key: genPattern.Draw(t, "pattern")}
	if rapid.IntRange(0, 3).Draw(t, "to") == 0 {
		b.ToExchange = genExchange.Draw(t, "exchange")
	} else {
		b.ToQueue = genQueue.Draw(t, "queue")
	}
	if b.Source == "h" || rapid.IntRange(0, 4).Draw(t, "args") == 0 {
		b.Args = drawFields(t, true)
		if mode := genMode.Draw(t, "x-match"); mode != "" {
			b.Args = append(b.Args, message.Field{Name: "x-match", Value: mode})
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "select") == 0 {
		b.Args = append(b.Args, message.Field{Name: "x-selector", Value: genSelector.Draw(t, "x-selector")})
	}
	return b
}

var twinSpecs = []ExchangeSpec{
	{Name: "d", Type: TypeDirect, Alternate: "t"}, {Name: "f", Type: TypeFanout}, {Name: "t", Type: TypeTopic},
	{Name: "h", Type: TypeHeaders, Alternate: "d2"}, {Name: "d2", Type: TypeDirect, Alternate: "h"}, {Name: "t2", Type: TypeTopic, Alternate: "f"},
}

func requireSame(t *rapid.T, table *Table, w *twin, r *Route) {
	exchange, key, headers := genExchange.Draw(t, "publish to"), genKey.Draw(t, "key"), drawFields(t, false)
	if _, ok := table.Exchange(exchange); !ok {
		return
	}
	m := withHeaders(headers)
	m.Key = []byte(key)
	if err := table.Route(exchange, &m, r); err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(r.Queues)
	slices.Sort(got)
	if want := w.route(exchange, key, headers); !slices.Equal(got, want) {
		t.Fatalf("route %q to %s: got %v, want %v", key, exchange, got, want)
	}
}

func TestTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table, w := New(), &twin{exchanges: map[string]ExchangeSpec{}}
		var oldTable *Table
		var oldTwin *twin
		var r Route
		declareSpec := func(spec ExchangeSpec) {
			next, err := table.DeclareExchange(spec)
			if err != nil {
				rt.Fatal(err)
			}
			table, w.exchanges[spec.Name] = next, spec
		}
		for _, spec := range twinSpecs {
			declareSpec(spec)
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 10).Draw(rt, "op") {
			case 0:
				table = table.Public()
				oldTable, oldTwin = table, w.clone()
			case 10:
				table = table.Private()
			case 1:
				id := genQueue.Draw(rt, "queue")
				next, removed := table.RemoveQueue(queueName(id), id)
				if n := w.remove(func(b Binding) bool { return b.ToQueue == id }); n != len(removed) {
					rt.Fatalf("removed %d bindings of queue %d, want %d", len(removed), id, n)
				}
				table = next
			case 2:
				spec := rapid.SampledFrom(twinSpecs).Draw(rt, "exchange")
				if _, ok := w.exchanges[spec.Name]; !ok {
					declareSpec(spec)
					break
				}
				next, removed, err := table.DeleteExchange(spec.Name)
				n := w.remove(func(b Binding) bool { return b.Source == spec.Name || b.ToExchange == spec.Name })
				if err != nil || n != len(removed) {
					rt.Fatalf("deleted %q with %d bindings, want %d (%v)", spec.Name, len(removed), n, err)
				}
				table = next
				delete(w.exchanges, spec.Name)
			case 3, 4:
				if len(w.bindings) == 0 {
					break
				}
				b := rapid.SampledFrom(w.bindings).Draw(rt, "binding")
				next, removed := table.Unbind(b)
				if n := w.remove(func(have Binding) bool { return sameBinding(have, b) }); !removed || n != 1 {
					rt.Fatalf("unbind %+v: %v, %d", b, removed, n)
				}
				table = next
			default:
				b := drawBinding(rt)
				_, from := w.exchanges[b.Source]
				_, to := w.exchanges[b.ToExchange]
				if !from || (b.ToExchange != "" && !to) {
					break
				}
				next, added, err := table.Bind(b)
				if want := w.bind(b); err != nil || added != want {
					rt.Fatalf("bind %+v: %v, want %v (%v)", b, added, want, err)
				}
				table = next
			}
			requireSame(rt, table, w, &r)
			if oldTable != nil {
				requireSame(rt, oldTable, oldTwin, &r)
			}
		}
		checkInvariants(t, table)
	})
}
