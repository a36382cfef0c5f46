package routing

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
)

func TestDirect(t *testing.T) {
	table := New()
	for i, key := range []string{"a", "b", "a", ""} {
		table = bind(t, table, Binding{Source: "amq.direct", ToQueue: QueueID(i + 1), Key: key})
	}
	table = bind(t, table, Binding{Source: "amq.direct", ToQueue: 1, Key: "a", Args: message.Table{{Name: "x", Value: true}}})
	requireRoute(t, table, "amq.direct", keyed("a"), 1, 3)
	requireRoute(t, table, "amq.direct", keyed(""), 4)
	requireRoute(t, table, "amq.direct", keyed("A"))
	requireRoute(t, table, "amq.direct", Message{Key: []byte("a"), Also: [][]byte{[]byte("b"), []byte("a")}}, 1, 2, 3)

	table = unbind(t, table, Binding{Source: "amq.direct", ToQueue: 1, Key: "a"})
	requireRoute(t, table, "amq.direct", keyed("a"), 1, 3) // the binding with an argument remains
	table = unbind(t, table, Binding{Source: "amq.direct", ToQueue: 1, Key: "a", Args: message.Table{{Name: "x", Value: true}}})
	requireRoute(t, table, "amq.direct", keyed("a"), 3)
}

func TestFanoutSharesItsQueues(t *testing.T) {
	table := New()
	for _, id := range ids(1, 1000) {
		table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: id})
	}
	var one, two Route
	m := keyed("anything")
	if err := errors.Join(table.Route("amq.fanout", &m, &one), table.Route("amq.fanout", &m, &two)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one.Queues, ids(1, 1000)) {
		t.Fatalf("got %d queues in another order", len(one.Queues))
	}
	if &one.Queues[0] != &two.Queues[0] {
		t.Errorf("the queues were copied")
	}
	table = bind(t, table, Binding{Source: "amq.fanout", ToQueue: 5, Key: "again"})
	table = unbind(t, table, Binding{Source: "amq.fanout", ToQueue: 5})
	requireRoute(t, table, "amq.fanout", m, ids(1, 1000)...)
	table = unbind(t, table, Binding{Source: "amq.fanout", ToQueue: 5, Key: "again"})
	requireRoute(t, table, "amq.fanout", m, append(ids(1, 4), ids(6, 1000)...)...)
}

func TestTopic(t *testing.T) {
	patterns := []string{"a.b", "a.*", "*.b", "a.#", "#.b", "#", "", "*", "a..b", "#.#", "a.*.#", "#.a.#.b.#", "*.#.*", "a.b*", "."}
	cases := []struct {
		key  string
		want []string
	}{
		{"", []string{"", "#", "#.#"}},
		{"a", []string{"*", "a.#", "#", "#.#"}},
		{"b", []string{"*", "#.b", "#", "#.#"}},
		{"a.b", []string{"a.b", "a.*", "*.b", "a.#", "#.b", "#", "#.#", "a.*.#", "#.a.#.b.#", "*.#.*"}},
		{"a..b", []string{"a..b", "a.#", "#.b", "#", "#.#", "a.*.#", "#.a.#.b.#", "*.#.*"}},
		{".", []string{".", "#", "#.#", "*.#.*"}},
		{"x.a.y.b.z", []string{"#", "#.#", "#.a.#.b.#", "*.#.*"}},
		{"a.", []string{"a.*", "a.#", "#", "#.#", "a.*.#", "*.#.*"}},
		{"a.b*", []string{"a.b*", "a.*", "a.#", "#", "#.#", "a.*.#", "*.#.*"}},
	}
	table := New()
	for i, p := range patterns {
		table = bind(t, table, Binding{Source: "amq.topic", ToQueue: QueueID(i + 1), Key: p})
	}
	for _, c := range cases {
		var want []QueueID
		for _, p := range c.want {
			want = append(want, QueueID(slices.Index(patterns, p)+1))
		}
		slices.Sort(want)
		requireRoute(t, table, "amq.topic", keyed(c.key), want...)
	}
}

func TestTopicManyHashesStayCheap(t *testing.T) {
	pattern, key := "#", "a"
	for range 60 {
		pattern += ".a.#"
		key += ".a"
	}
	table := bind(t, New(), Binding{Source: "amq.topic", ToQueue: 1, Key: pattern + ".b"})
	requireRoute(t, table, "amq.topic", keyed(key)) // trying all splits would never end
	requireRoute(t, table, "amq.topic", keyed(key+".b"), 1)
}

func TestTopicForgetsWhatIsUnbound(t *testing.T) {
	table := New()
	keys := []string{"a.b.c", "a.*.c", "a.#", "#", "", "a.b"}
	for _, k := range keys {
		table = bind(t, table, Binding{Source: "amq.topic", ToQueue: 1, Key: k})
	}
	for _, k := range keys {
		table = unbind(t, table, Binding{Source: "amq.topic", ToQueue: 1, Key: k})
	}
	if x, _ := table.Exchange("amq.topic"); x.matcher != (topic{}) {
		t.Errorf("the trie is not empty: %+v", x.matcher)
	}
}

func TestHeaders(t *testing.T) {
	match := func(mode string, args ...message.Field) message.Table {
		if mode == "" {
			return args
		}
		return append(message.Table{{Name: "x-match", Value: mode}}, args...)
	}
	f := func(name string, value any) message.Field { return message.Field{Name: name, Value: value} }
	nested := message.Table{f("k", "v")}
	cases := []struct {
		name    string
		args    message.Table
		headers message.Table
		want    bool
	}{
		{"all by default", match("", f("a", "1"), f("b", "2")), message.Table{f("b", "2"), f("a", "1"), f("c", "3")}, true},
		{"all, one missing", match("all", f("a", "1"), f("b", "2")), message.Table{f("a", "1")}, false},
		{"all, one differs", match("all", f("a", "1"), f("b", "2")), message.Table{f("a", "1"), f("b", "3")}, false},
		{"any, one holds", match("any", f("a", "1"), f("b", "2")), message.Table{f("b", "2")}, true},
		{"any, none holds", match("any", f("a", "1"), f("b", "2")), message.Table{f("b", "1")}, false},
		{"no arguments", nil, nil, true},
		{"all, no conditions", match("all"), message.Table{f("a", "1")}, true},
		{"any, no conditions", match("any"), message.Table{f("a", "1")}, false},
		{"x- ignored in all", match("all", f("a", "1"), f("x-b", "2")), message.Table{f("a", "1")}, true},
		{"x- ignored in any", match("any", f("a", "1"), f("x-b", "2")), message.Table{f("x-b", "2")}, false},
		{"all-with-x misses", match("all-with-x", f("a", "1"), f("x-b", "2")), message.Table{f("a", "1")}, false},
		{"all-with-x holds", match("all-with-x", f("a", "1"), f("x-b", "2")), message.Table{f("a", "1"), f("x-b", "2")}, true},
		{"any-with-x holds", match("any-with-x", f("a", "1"), f("x-b", "2")), message.Table{f("x-b", "2")}, true},
		{"void means exists", match("all", f("a", nil)), message.Table{f("a", int32(5))}, true},
		{"void, missing", match("all", f("a", nil)), message.Table{f("b", "1")}, false},
		{"a void header is not a value", match("all", f("a", "1")), message.Table{f("a", nil)}, false},
		{"int widths", match("all", f("a", int32(5))), message.Table{f("a", int64(5))}, true},
		{"unsigned and timestamp", match("all", f("a", uint8(5))), message.Table{f("a", message.Timestamp(5))}, true},
		{"whole float", match("all", f("a", int32(5))), message.Table{f("a", float64(5))}, true},
		{"float widths", match("all", f("a", float32(0.5))), message.Table{f("a", float64(0.5))}, true},
		{"number is not text", match("all", f("a", "5")), message.Table{f("a", int32(5))}, false},
		{"bool is not text", match("all", f("a", true)), message.Table{f("a", "true")}, false},
		{"text and bytes", match("all", f("a", "5")), message.Table{f("a", message.Bytes("5"))}, true},
		{"tables", match("all", f("a", nested)), message.Table{f("a", message.Table{f("k", "v")})}, true},
		{"other tables", match("all", f("a", nested)), message.Table{f("a", message.Table{f("k", "w")})}, false},
		{"decimals", match("all", f("a", message.Decimal{Scale: 1, Value: 5})), message.Table{f("a", message.Decimal{Scale: 1, Value: 5})}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			table := bind(t, New(), Binding{Source: "amq.headers", ToQueue: 1, Args: c.args})
			want := []QueueID{}
			if c.want {
				want = append(want, 1)
			}
			requireRoute(t, table, "amq.headers", withHeaders(c.headers), want...)
			requireRoute(t, unbind(t, table, Binding{Source: "amq.headers", ToQueue: 1, Args: c.args}), "amq.headers", withHeaders(c.headers))
		})
	}
}

func TestHeadersUnsetOrBroken(t *testing.T) {
	table := bind(t, New(), Binding{Source: "amq.headers", ToQueue: 1, Args: message.Table{{Name: "a", Value: nil}}})
	table = bind(t, table, Binding{Source: "amq.headers", ToQueue: 2})
	requireRoute(t, table, "amq.headers", Message{}, 2)
	requireRoute(t, table, "amq.headers", Message{Headers: []byte{9, 'a'}}, 2)
}

func TestRefusedBindings(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "hash", Type: TypeHash})
	cases := []struct {
		b    Binding
		text string
	}{
		{Binding{Source: "amq.match", Args: message.Table{{Name: "x-match", Value: "some"}}},
			`Invalid x-match field value <<"some">>; expected all, any, all-with-x, or any-with-x`},
		{Binding{Source: "amq.match", Args: message.Table{{Name: "x-match", Value: int32(1)}}},
			`Invalid x-match field type signedint (value 1); expected longstr`},
		{Binding{Source: "hash", Key: "ten"}, `The binding key must be an integer: <<"ten">>`},
		{Binding{Source: "hash", Key: "9999999999"}, `The binding key must be an integer: <<"9999999999">>`},
		{Binding{Source: "hash", Key: "0"}, `The binding key must be greater than 0`},
	}
	for _, c := range cases {
		c.b.ToQueue = 1
		_, _, err := table.Bind(c.b)
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, ErrInvalidBinding) || e.Text != c.text {
			t.Errorf("%+v: %v, want %s", c.b, err, c.text)
		}
	}
}

// spread counts which queues n messages are routed to; every message must reach exactly one.
func spread(t *testing.T, table *Table, n int, message func(i int) Message) map[QueueID]int {
	t.Helper()
	got := map[QueueID]int{}
	for i := range n {
		queues := routed(t, table, "x", message(i))
		if len(queues) != 1 {
			t.Fatalf("message %d went to %v", i, queues)
		}
		got[queues[0]]++
	}
	return got
}

func numbered(i int) Message { return keyed("key-" + strconv.Itoa(i)) }

func requireShare(t *testing.T, got map[QueueID]int, id QueueID, want int) {
	t.Helper()
	if got[id] < want*8/10 || got[id] > want*12/10 {
		t.Errorf("queue %d got %d messages, want about %d: %v", id, got[id], want, got)
	}
}

func TestConsistentHash(t *testing.T) {
	empty := declare(t, New(), ExchangeSpec{Name: "x", Type: TypeHash})
	requireRoute(t, empty, "x", keyed("a"))
	table := bind(t, empty, Binding{Source: "x", ToQueue: 1, Key: "1"})
	table = bind(t, table, Binding{Source: "x", ToQueue: 2, Key: "3"})
	got := spread(t, table, 8000, numbered)
	requireShare(t, got, 1, 2000)
	requireShare(t, got, 2, 6000)

	second := bind(t, table, Binding{Source: "x", ToQueue: 1, Key: "2"}) // one binding per queue counts
	if got2 := spread(t, second, 8000, numbered); got2[1] != got[1] {
		t.Errorf("a second binding changed the share from %d to %d", got[1], got2[1])
	}
	heavier := unbind(t, second, Binding{Source: "x", ToQueue: 1, Key: "1"})
	requireShare(t, spread(t, heavier, 8000, numbered), 1, 3200)
	requireShare(t, spread(t, unbind(t, heavier, Binding{Source: "x", ToQueue: 1, Key: "2"}), 8000, numbered), 2, 8000)
}

func TestConsistentHashMovesFewKeys(t *testing.T) {
	table := declare(t, New(), ExchangeSpec{Name: "x", Type: TypeHash})
	for _, id := range ids(1, 9) {
		table = bind(t, table, Binding{Source: "x", ToQueue: id, Key: "1"})
	}
	more := bind(t, table, Binding{Source: "x", ToQueue: 10, Key: "1"})
	moved := 0
	for i := range 2000 {
		was, is := routed(t, table, "x", numbered(i)), routed(t, more, "x", numbered(i))
		if !slices.Equal(was, is) {
			moved++
			if is[0] != 10 {
				t.Fatalf("message %d moved from %v to %v", i, was, is)
			}
		}
	}
	if moved < 120 || moved > 280 {
		t.Errorf("%d of 2000 keys moved, want about 200", moved)
	}
}

func TestHashDoesNotDependOnTheOrderOfBinding(t *testing.T) {
	one := declare(t, New(), ExchangeSpec{Name: "x", Type: TypeHash})
	two := one
	all := ids(1, 20)
	for _, id := range all {
		one = bind(t, one, Binding{Source: "x", ToQueue: id, Key: strconv.Itoa(int(id))})
	}
	slices.Reverse(all)
	for _, id := range all {
		two = bind(t, two, Binding{Source: "x", ToQueue: id, Key: strconv.Itoa(int(id))})
	}
	for i := range 500 {
		requireRoute(t, two, "x", numbered(i), routed(t, one, "x", numbered(i))...)
	}
}

func TestHashArguments(t *testing.T) {
	cases := []struct {
		name    string
		args    message.Table
		varying func(i int) Message
	}{
		{"header", message.Table{{Name: "hash-header", Value: "h"}}, func(i int) Message {
			return withHeaders(message.Table{{Name: "h", Value: int32(i)}})
		}},
		{"message_id", message.Table{{Name: "hash-property", Value: "message_id"}}, func(i int) Message {
			return Message{MessageID: strconv.AppendInt(nil, int64(i), 10)}
		}},
		{"correlation_id", message.Table{{Name: "hash-property", Value: "correlation_id"}}, func(i int) Message {
			return Message{CorrelationID: strconv.AppendInt(nil, int64(i), 10)}
		}},
		{"timestamp", message.Table{{Name: "hash-property", Value: "timestamp"}}, func(i int) Message {
			return Message{Timestamp: uint64(i)}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			table := declare(t, New(), ExchangeSpec{Name: "x", Type: TypeHash, Args: c.args})
			table = bind(t, table, Binding{Source: "x", ToQueue: 1, Key: "1"})
			table = bind(t, table, Binding{Source: "x", ToQueue: 2, Key: "1"})
			requireShare(t, spread(t, table, 2000, c.varying), 1, 1000)
			if got := spread(t, table, 100, numbered); len(got) != 1 {
				t.Errorf("the routing key took part: %v", got)
			}
		})
	}
}

// TestHashIsPinned pins the hash, which decides where keys go across restarts and versions and must
// never change.
func TestHashIsPinned(t *testing.T) {
	if got := hash([]byte("fiveways")); got != 0x96b11282a4b6d972 {
		t.Errorf("hash: %#x", got)
	}
	for _, c := range []struct{ key, buckets, want uint64 }{{0, 1, 0}, {0xdeadbeef, 1, 0}, {10863919174838991, 11, 6}, {256, 1024, 520}} {
		if got := jump(c.key, c.buckets); got != c.want {
			t.Errorf("jump(%d, %d) = %d, want %d", c.key, c.buckets, got, c.want)
		}
	}
}

func TestModulusHashAndRandom(t *testing.T) {
	for _, kind := range []string{TypeModulusHash, TypeRandom, TypeLocalRandom} {
		table := declare(t, New(), ExchangeSpec{Name: "x", Type: kind})
		requireRoute(t, table, "x", keyed("k"))
		for _, id := range ids(1, 4) {
			table = bind(t, table, Binding{Source: "x", ToQueue: id})
		}
		table = bind(t, table, Binding{Source: "x", ToQueue: 1, Key: "again"})
		got := spread(t, table, 4000, numbered)
		for _, id := range ids(1, 4) {
			requireShare(t, got, id, 1000)
		}
		same := spread(t, table, 200, func(int) Message { return keyed("k") })
		if (len(same) == 1) != (kind == TypeModulusHash) {
			t.Errorf("%s: one key went to %v", kind, same)
		}
		table = unbind(t, table, Binding{Source: "x", ToQueue: 2})
		if got := spread(t, table, 400, numbered); got[2] != 0 || len(got) != 3 {
			t.Errorf("%s after an unbind: %v", kind, got)
		}
	}
}
