package oracle

import (
	"slices"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	expected, err := expectedDifferences()
	if err != nil {
		t.Fatal(err)
	}
	d := &duel{expected: expected}
	const (
		refused = `channel.close reply-code=406 reply-text="PRECONDITION_FAILED - invalid arg 'x-queue-type' for queue 'q' in vhost '/': \"unsupported queue type 'odd'\"" class-id=50 method-id=10`
		newer   = `channel.close reply-code=406 reply-text="PRECONDITION_FAILED - unsupported queue type 'odd'" class-id=50 method-id=10`
	)
	for _, test := range []struct {
		name             string
		rabbit, fiveways [][]string
		same             bool
		line             int
	}{
		{"alike", [][]string{{"a"}, nil, {"b"}}, [][]string{{"a"}, {}, {"b"}}, true, 3},
		{"one more", [][]string{{"a"}, {"b"}}, [][]string{{"a"}, {"b", "c"}}, false, 1},
		{"another order", [][]string{{"a", "b"}, nil}, [][]string{{"b", "a"}, nil}, false, 0},
		{"meant, and the rest does not count", [][]string{{"a"}, {refused}, {"b"}}, [][]string{{"a"}, {newer}, {"c"}}, true, 1},
		{"meant the other way round", [][]string{{newer}, nil, nil}, [][]string{{refused}, nil, nil}, false, 0},
	} {
		v := d.judge([]string{"1", "2", "3"}, test.rabbit, test.fiveways)
		if v.same != test.same || v.line != test.line {
			t.Errorf("%s: got %+v", test.name, v)
		}
	}
}

func TestFree(t *testing.T) {
	const reply = `basic.deliver consumer-tag="r" delivery-tag=%s exchange="" routing-key="amq.rabbitmq.reply-to.*" body="m"`
	const other = `basic.deliver consumer-tag="r" delivery-tag=7 exchange="" routing-key="q" body="m"`
	got := free([]string{strings.Replace(reply, "%s", "7", 1), other})
	if want := []string{strings.Replace(reply, "%s", "*", 1), other}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestLineWords(t *testing.T) {
	got := lineWords(`A2: publish key="a b" headers={A=[1,{b="} c"}] d=5} mandatory`)
	want := []string{"A2:", "publish", `key="a b"`, `headers={A=[1,{b="} c"}] d=5}`, "mandatory"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
