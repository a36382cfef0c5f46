package catalog

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestNameBytes pins the bytes of names, which are on disk.
func TestNameBytes(t *testing.T) {
	for n, want := range map[string]string{
		"":               `""`,
		"orders":         `"orders"`,
		"Käse\x00\u2028": `"Käse\u0000\u2028"`,
		"\ufffd":         `"�"`,
		"<a&b>":          `"\u003ca\u0026b\u003e"`,
		"a\xff":          `{"base64":"Yf8="}`,
		"\xed\xa0\x80":   `{"base64":"7aCA"}`, // half of a surrogate pair
	} {
		got, err := json.Marshal(name(n))
		if err != nil || string(got) != want {
			t.Errorf("%q is written as %s, %v, want %s", n, got, err, want)
		}
		var again name
		if err := json.Unmarshal(got, &again); err != nil || string(again) != n {
			t.Errorf("%q comes back as %q, %v", n, again, err)
		}
	}
	for _, bad := range []string{`{"base64":"*"}`, `{"base64":5}`, `5`, `["a"]`} {
		if json.Unmarshal([]byte(bad), new(name)) == nil {
			t.Errorf("%s is read as a name", bad)
		}
	}
}

// TestPolicyKeepsBytes checks that texts of a policy, which clients choose, keep their bytes, and
// that a policy recorded before a member existed keeps its meaning.
func TestPolicyKeepsBytes(t *testing.T) {
	p := DefaultQueuePolicy()
	for v, i := reflect.ValueOf(&p).Elem(), 0; i < v.NumField(); i++ {
		if f := v.Field(i); f.Kind() == reflect.String {
			f.SetString("\xff" + v.Type().Field(i).Name)
		}
	}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again QueuePolicy
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if again != p {
		t.Errorf("%s\nis read as %+v", b, again)
	}
	if err := json.Unmarshal([]byte(`{"MaxLength":3,"DeadLetter":true,"DeadLetterExchange":"dead"}`), &again); err != nil {
		t.Fatal(err)
	}
	want := DefaultQueuePolicy()
	want.MaxLength, want.DeadLetter, want.DeadLetterExchange = 3, true, "dead"
	if again != want {
		t.Errorf("an old policy is read as %+v", again)
	}
}
