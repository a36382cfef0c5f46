package openapi

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

type inner struct {
	ID int `json:"id"`
}

type outer struct {
	inner
	Text    string          `json:"text,omitempty"`
	Maybe   *string         `json:"maybe"`
	Rarely  *bool           `json:"rarely,omitempty"`
	When    time.Time       `json:"when"`
	Raw     json.RawMessage `json:"raw"`
	Counts  map[string]int8 `json:"counts"`
	Others  []outer         `json:"others"`
	Own     rest.Table      `json:"own"`
	Hidden  string          `json:"-"`
	private string
}

// A schema follows from the fields of a type and their tags.
func TestSchemaOfAType(t *testing.T) {
	const fields = `"properties":{"counts":{"additionalProperties":{"type":"integer"},"type":"object"},"id":{"type":"integer"},` +
		`"maybe":{"type":["string","null"]},"others":{"items":{"$ref":"#/components/schemas/NAME"},"type":"array"},"own":{"type":"object"},"rarely":RARELY,` +
		`"raw":{},"text":{"type":"string"},"when":{"format":"date-time","type":"string"}}`
	s := newSchemas()
	for _, tc := range []struct {
		use                  use
		name, rarely, needed string
	}{
		{answered, "openapi.Outer", `{"type":"boolean"}`, `,"required":["counts","id","maybe","others","own","raw","when"]`},
		{read, "openapi.OuterInput", `{"type":["boolean","null"]}`, ""},
	} {
		ref, err := s.of(outer{private: "not told"}, tc.use)
		if err != nil {
			t.Fatal(err)
		}
		if want := "#/components/schemas/" + tc.name; ref["$ref"] != want {
			t.Errorf("it is called %v, want %s", ref, want)
		}
		got, want := s.components[tc.name], any(nil)
		text := strings.NewReplacer("NAME", tc.name, "RARELY", tc.rarely).Replace("{" + fields + tc.needed + `,"type":"object"}`)
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(plain(t, got), want) {
			t.Errorf("got  %v\nwant %v", plain(t, got), want)
		}
	}
}

// plain returns a value as decoded from JSON, with required fields sorted.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if required, ok := out.(map[string]any)["required"].([]any); ok {
		slices.SortFunc(required, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
	}
	return out
}

type special struct{ A int }

func (special) MarshalJSON() ([]byte, error) { return []byte(`"a"`), nil }

// A type that does not describe its custom JSON form, or has none, causes an error that tells where
// it is.
func TestUnknownForms(t *testing.T) {
	for _, tc := range []struct {
		value any
		want  string
	}{
		{struct {
			Field special `json:"field"`
		}{}, "field: openapi.special has a form in JSON of its own: give it a method JSONSchema() map[string]any"},
		{[]chan int{}, "chan int has no form in JSON"},
	} {
		s := newSchemas()
		if _, err := s.of(tc.value, answered); err == nil || err.Error() != tc.want {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
	_, err := Document("1", []rest.Route{{Pattern: "GET /api/x", About: rest.About{Out: special{}}}})
	if err == nil || !strings.HasPrefix(err.Error(), "openapi: GET /api/x: ") {
		t.Errorf("the document says %v", err)
	}
}
