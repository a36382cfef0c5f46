package brokerapi

import "testing"

func TestPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"not found": "not found",
		"Validation failed\n\n[{<<\"max-lenght\">>,5}] are not recognised policy settings\n": "Validation failed: max-lenght: 5 are not recognised policy settings",
		`pattern should be a binary but was [<<"a">>,#{<<"b">> => 1}]`:                       `pattern should be a binary but was 'a',{'b': 1}`,
	} {
		if got := plainWords(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
