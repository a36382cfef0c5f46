package semaphoresql_test

import (
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestParameters: a driver sends a number for a bigint parameter; a client with a text id adds a
// cast.
func TestParameters(t *testing.T) {
	n := newNode(t, vfs.NewMem())
	defer n.close()
	s := n.session("guest")
	for text, want := range map[string]string{
		"select semaphore.enqueue($1, $2, $3)":                   "text bigint double precision",
		"select semaphore.enqueue($1, $2::text, $3)":             "text text double precision",
		"select semaphore.release($1, $2)":                       "text bigint",
		"select semaphore.enqueue_all($1, $2, $3)":               "text bigint[] double precision[]",
		"select semaphore.enqueue_all($1, $2::text[], $3)":       "text text[] double precision[]",
		"select 1 from markup.semaphore_task where status = $1":  "markup.semaphore_status",
		"update markup.semaphore set active = $1 where key = $2": "integer text",
	} {
		p, err := s.sql.Prepare(text, nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var types []string
		for _, param := range p.Params {
			types = append(types, param.String())
		}
		if got := strings.Join(types, " "); got != want {
			t.Errorf("%s takes %s, want %s", text, got, want)
		}
	}
}
