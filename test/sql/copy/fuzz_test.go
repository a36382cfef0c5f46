package copy

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// FuzzIn checks that whatever a client sends results in rows or an SQL error.
func FuzzIn(f *testing.F) {
	for i, text := range formats {
		for _, data := range in[text] {
			f.Add(uint8(i), []byte(data), uint8(7))
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, data []byte, cut uint8) {
		at := min(int(cut), len(data))
		c := &client{trial: trial{text: formats[int(format)%len(formats)], in: []string{string(data[:at]), string(data[at:])}}}
		session := newSession(&shelf{}, c)
		defer session.Close()
		var e *pgerror.Error
		if err := run(session, c); err != nil && !errors.As(err, &e) {
			t.Fatalf("%q: %v", data, err)
		} else if err != nil && e.Code == pgerror.InternalError {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

var formats = []string{
	"copy t from stdin", "copy t from stdin csv", "copy t from stdin (format binary)", "copy t from stdin (format csv, header match)", "copy t from stdin (encoding 'sjis')",
}
