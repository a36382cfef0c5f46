package policies

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// value returns a policy with a definition, and with other members in place of the defaults.
func value(definition string, members ...string) json.RawMessage {
	fields := map[string]json.RawMessage{"pattern": json.RawMessage(`"^q"`), "definition": json.RawMessage(definition), "priority": json.RawMessage("0")}
	for _, m := range members {
		name, v, _ := strings.Cut(m, "=")
		fields[name] = json.RawMessage(v)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return text
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		value json.RawMessage
		want  []string
	}{
		{value(`{"max-length":1}`), nil},
		{value(`{"max-length":1}`, "priority=1.5", `apply-to="quorum_queues"`), nil},
		{value(`{"max-length":9999999999999999999999}`), nil},
		{value(`{}`), []string{"no policy provided"}},
		{value(`[]`), []string{"definition must be a dictionary: []"}},
		{value(`{"x":1,"y":"a"}`), []string{`[{<<"x">>,1},{<<"y">>,<<"a">>}] are not recognised policy settings`}},
		{value(`{"u":true,"v":{"k":1},"w":[1,"a"],"x":null,"z":1.5}`),
			[]string{`[{<<"u">>,true},{<<"v">>,#{<<"k">> => 1}},{<<"w">>,[1,<<"a">>]},{<<"x">>,null},{<<"z">>,1.5}] are not recognised policy settings`}},
		{value(`{"max-length":-1}`, `apply-to="y"`, `pattern="("`, `priority="x"`), []string{
			"-1 is not a valid maximum length", "apply-to 'y' unrecognised; should be 'queues', 'exchanges' or 'all'",
			"pattern should be regular expression but is invalid: missing closing ): `(`", `priority should be a number, actually was <<"x">>`,
		}},
		{value(`{"max-length":1}`, "pattern=5", "priority=null", "apply-to=null"), []string{
			"apply-to 'null' unrecognised; should be 'queues', 'exchanges' or 'all'", "pattern should be a binary but was 5", "priority should be a number, actually was null",
		}},
		{json.RawMessage(`{}`), []string{`Key "definition" not found in p`, `Key "pattern" not found in p`, `Key "priority" not found in p`}},
		{json.RawMessage(`[1]`), []string{"p should be an object"}},
		{value(`{"x":1,"federation-upstream":5,"ha-mode":"x","max-length":-1}`), []string{"-1 is not a valid maximum length"}},
		{value(`{"x":1,"federation-upstream":5,"ha-mode":"x"}`), []string{"5 is not a valid federation upstream name"}},
		{value(`{"x":1,"ha-mode":"x"}`), []string{`<<"x">> is not a valid ha-mode value`}},
	} {
		if got := Check("p", false, c.value); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.value, got, c.want)
		}
	}
}

// Each setting has accepted values, and a rejected one with the error text after it.
func TestSettings(t *testing.T) {
	for name, c := range map[string]struct{ good, bad, refusal string }{
		"message-ttl":                   {`0 315360000001`, `-1`, "-1 is not a valid message TTL"},
		"expires":                       {`1`, `0`, "0 is not a valid queue expiry"},
		"max-length":                    {`0 1`, `1.5`, "1.5 is not a valid maximum length"},
		"max-length-bytes":              {`0`, `""`, "<<>> is not a valid maximum length in bytes"},
		"overflow":                      {`"drop-head" "reject-publish" "reject-publish-dlx"`, `"x"`, `<<"x">> is not a valid overflow value`},
		"dead-letter-exchange":          {`"" "x"`, `5`, "5 is not a valid dead letter exchange name"},
		"dead-letter-routing-key":       {`"" "x"`, `true`, "true is not a valid dead letter routing key"},
		"dead-letter-strategy":          {`"at-most-once" "at-least-once"`, `"x"`, `<<"x">> is not a valid dead letter strategy`},
		"delivery-limit":                {`0`, `-1`, "-1 is not a valid delivery limit"},
		"max-in-memory-length":          {`0`, `-1`, "-1 is not a valid maximum memory in bytes"},
		"max-in-memory-bytes":           {`0`, `-1`, "-1 is not a valid maximum memory in bytes"},
		"queue-mode":                    {`"lazy" "default"`, `"x"`, `<<"x">> is not a valid queue-mode value`},
		"queue-version":                 {`1 2`, `3`, "3 is not a valid queue-version value"},
		"alternate-exchange":            {`"x"`, `[1]`, "[1] is not a valid alternate exchange name"},
		"max-age":                       {`"1D" "5Y" "7s"`, `"1X"`, `<<"1X">> is not a valid max age`},
		"stream-max-segment-size-bytes": {`0 3000000000`, `3000000001`, "3000000001 is not a valid segment size"},
		"queue-leader-locator":          {`"client-local" "balanced"`, `"x"`, `<<"x">> is not a valid queue leader locator value`},
		"initial-cluster-size":          {`3`, `-1`, "-1 is not a valid cluster size"},
		"federation-upstream":           {`"x"`, `1`, "1 is not a valid federation upstream name"},
		"federation-upstream-set":       {`"all"`, `1`, "1 is not a valid federation upstream set name"},
		"federation-upstream-pattern":   {`"^a"`, `1`, "1 is not a valid federation upstream pattern name"},
		"ha-mode":                       {`"all"`, `"x"`, `<<"x">> is not a valid ha-mode value`},
		"ha-params":                     {``, `1`, "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"},
		"ha-sync-mode":                  {``, `"manual"`, "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"},
		"ha-sync-batch-size":            {``, `1`, "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"},
		"ha-promote-on-shutdown":        {``, `"always"`, "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"},
		"ha-promote-on-failure":         {``, `"always"`, "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"},
		"queue-master-locator":          {`"min-masters"`, `"x"`, `<<"x">> invalid queue-master-locator value`},
		"consumer-timeout":              {`1000`, `0`, "0 is not a valid consumer timeout"},
		"stream-filter-size-bytes":      {`16`, `-1`, "-1 is not a valid filter size"},
		"target-group-size":             {`3`, `0`, "0 is not a valid qq target count value"},
		"sync":                          {`"always" "batch" "os"`, `"never"`, `<<"never">> is not a valid sync value`},
		"delayed-retry-type":            {`"disabled" "all" "failed" "returned"`, `"x"`, `<<"x">> is not a valid delayed retry type`},
		"delayed-retry-min":             {`0`, `-1`, "-1 is not a valid delayed retry time"},
		"delayed-retry-max":             {`0`, `-1`, "-1 is not a valid delayed retry time"},
		"max-publish-rate":              {`1`, `0`, "0 is not a valid publish rate"},
		"max-publish-bytes-rate":        {`1`, `0`, "0 is not a valid publish rate in bytes"},
	} {
		for _, good := range strings.Fields(c.good) {
			if wrong := Check("p", false, value(`{"`+name+`":`+good+`}`)); wrong != nil {
				t.Errorf("%s %s: %q", name, good, wrong)
			}
		}
		if got := strings.Join(Check("p", false, value(`{"`+name+`":`+c.bad+`}`)), "\n"); got != c.refusal {
			t.Errorf("%s %s:\n got %s\nwant %s", name, c.bad, got, c.refusal)
		}
	}
	for name := range keys {
		if wrong := Check("p", false, value(`{"`+name+`":{}}`)); wrong == nil {
			t.Errorf("%s may be an object", name)
		}
	}
}

func TestMirrorsAndUpstreams(t *testing.T) {
	for definition, want := range map[string]string{
		`{"ha-mode":"exactly","ha-params":2,"ha-sync-mode":"automatic","ha-sync-batch-size":10}`:                            "",
		`{"ha-mode":"nodes","ha-params":["a","b"],"ha-promote-on-shutdown":"always","ha-promote-on-failure":"when-synced"}`: "",
		`{"ha-mode":"exactly"}`:                                       "ha-mode=\"exactly\" takes an integer, none given",
		`{"ha-mode":"exactly","ha-params":"x"}`:                       `ha-mode="exactly" takes an integer, <<"x">> given`,
		`{"ha-mode":"nodes"}`:                                         `ha-mode="nodes" takes a list, none given`,
		`{"ha-mode":"nodes","ha-params":[]}`:                          `ha-mode="nodes" list must be non-empty`,
		`{"ha-mode":"nodes","ha-params":[1]}`:                         `ha-mode="nodes" takes a list of strings, [1] was not a string`,
		`{"ha-mode":"all","ha-params":1}`:                             `ha-mode="all" does not take parameters`,
		`{"ha-mode":"all","ha-sync-mode":"x"}`:                        `ha-sync-mode must be "manual" or "automatic", got <<"x">>`,
		`{"ha-mode":"all","ha-sync-batch-size":0}`:                    "ha-sync-batch-size takes an integer greater than 0, 0 given",
		`{"federation-upstream-pattern":"("}`:                         "could not compile pattern ( to a regular expression. Error: missing closing ): `(`",
		`{"federation-upstream":"a","federation-upstream-set":"all"}`: "cannot specify federation-upstream, federation-upstream-set or federation-upstream-pattern together",
	} {
		if got := strings.Join(Check("p", false, value(definition)), "\n"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", definition, got, want)
		}
	}
}

// Operator policies limit numbers, and little else.
func TestOperatorSettings(t *testing.T) {
	var may []string
	for name := range keys {
		for _, v := range []string{`1`, `"drop-head"`, `"x"`} {
			if Check("o", true, value(`{"`+name+`":`+v+`}`)) == nil {
				may = append(may, name)
				break
			}
		}
	}
	slices.Sort(may)
	want := []string{
		"consumer-timeout", "delivery-limit", "expires", "max-in-memory-bytes", "max-in-memory-length", "max-length", "max-length-bytes", "max-publish-bytes-rate",
		"max-publish-rate", "message-ttl", "overflow", "queue-version", "target-group-size",
	}
	if !slices.Equal(may, want) {
		t.Errorf("operators may say\n%q, want\n%q", may, want)
	}
	if got := Check("o", true, value(`{"max-length":1,"dead-letter-exchange":"x"}`)); len(got) != 1 || got[0] != `[{<<"dead-letter-exchange">>,<<"x">>}] are not recognised policy settings` {
		t.Errorf("got %q", got)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"pattern":"^q","definition":{"max-length":1,"overflow":"drop-head"},"priority":0,"apply-to":"queues"}`), "q1")
	f.Add([]byte(`{"pattern":"(","definition":{"ha-mode":"nodes","ha-params":[1]},"priority":"x"}`), "q")
	f.Fuzz(func(t *testing.T, in []byte, queue string) {
		Check("p", true, in)
		wrong := Check("p", false, in)
		r := compiled(Component, string(in))
		if ruling := r.Queue(queue, nil, declaredNothing); wrong != nil && ruling.Policy != "" {
			t.Errorf("a policy counts of which %q is wrong", wrong)
		}
		r.Exchange(queue)
	})
}
