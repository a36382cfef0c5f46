package conformance

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/seeded"
)

// grammar has the choices for each word in braces; common ones occur more often. # is the number of
// the sequence, so that each sequence has queues of its own.
var grammar = map[string][]string{
	"statement": {
		"{post}", "{post}", "{post}", "{post}", "{post}", "{post}",
		"select mbus4.post('a#', {data}, iid=>'i{digit}-#')", "select mbus4.post('a#', {data}, iid=>'i{digit}-#')",
		"select mbus4.post_{known}({data}, properties=>{properties})",
		"select data, properties from mbus4.consume('{queue}')", "select data, properties from mbus4.consume('{queue}')",
		"select data, properties from mbus4.consume('{queue}', '{consumer}')", "select data, properties from mbus4.consume('{queue}', '{consumer}')",
		"select data from mbus4.consume_{known}_by_{reader}()", "select data from mbus4.consume_{known}_by_{reader}()",
		"select data from mbus4.consumen_{known}_by_{reader}({count})", "select data from mbus4.consumen_{known}_by_{reader}({count})",
		"select data from mbus4.dyn_consume('{queue}', {condition}, '{consumer}')",
		"select data, properties from mbus4.messages('{queue}', '{consumer}') order by data::text, properties::text",
		"select mbus4.create_queue('{queue}', {consumers})", "select mbus4.create_queue('{queue}', {consumers})",
		"select mbus4.drop_queue('{queue}')",
		"select mbus4.create_consumer('{queue}', '{name}', {selector})", "select mbus4.create_consumer('{queue}', '{name}', {selector}, true)",
		"select mbus4.drop_consumer('{dropped}', '{queue}')",
		"select mbus4.create_trigger('{some}', '{some}', {selector})", "select mbus4.drop_trigger('{some}', '{some}')",
		"select mbus4.create_view('{queue}', '{consumer}')", "select mbus4.create_run_function('{queue}')",
		"select mbus4.is_msg_exists({iid})", "select (mbus4.peek({iid})).data", "select (mbus4.take({iid})).data",
		"select mbus4.estimated_messages('{queue}') is not null", "select mbus4.clear_queue_{known}()",
		"select mbus4.post_dmq({data})", "select data from mbus4.consume('dmq')",
		"begin", "begin", "commit", "commit", "rollback", "savepoint s", "rollback to s",
	},
	"post": {"select mbus4.post('{queue}', {data}, headers=>{headers}, properties=>{properties}, delayed_until=>{delayed}, expires=>{expires})"},

	"queue":      {"a#", "a#", "a#", "a#", "b#", "b#", "b#", "nope", "A#", "bad name", ""},
	"some":       {"a#", "a#", "b#", "b#", "nope", "A#"},
	"known":      {"a#", "b#"},
	"consumer":   {"default", "default", "c1", "c1", "c2", "nobody"},
	"reader":     {"default", "c1"},
	"dropped":    {"c1", "c1", "c2", "nobody"}, // not default, which the broker keeps
	"name":       {"c1", "c2", "default", "Bad", ""},
	"selector":   {"{condition}", "{condition}", "{condition}", "'nonsense('", "'1'"},
	"condition":  {"null", "'true'", "$$(t.data->'a')='1'$$", "$$t.properties->'p' is not null$$", "$$(t.data->'n')::int>2$$", "$$t.headers ? 'h'$$", "'1=1'"},
	"data":       {"'a=>1'", "'a=>2'", "'n=>5'", "'n=>1, a=>1'", "''", "null", "hstore('k', 'v v')", "'b=>NULL'"},
	"properties": {"null", "null", "'p=>1'", "'p=>NULL'", "'broadcast=>1'", "''"},
	"headers":    {"null", "null", "'h=>1'", "'consume_after=>{}'", "'seenby=>{}'", "''", "'h=>NULL, x=>2'"},
	"delayed":    {"null", "null", "null", "'2000-01-01'", "'2099-01-01'", "'infinity'", "'2099-01-01 10:00:00.123456'", "localtimestamp - interval '10 minutes'"},
	"expires":    {"null", "null", "null", "null", "'2099-01-01'", "'infinity'"},
	"iid":        {"null", "'i1-#'", "'i2-#'", "'i3-#'", "'zz'"},
	"digit":      {"1", "2", "3", "4", "5"},
	"count":      {"1", "2", "10", "0", "-1", "null"},
	"consumers":  {"1", "1", "8", "0", "-1", "200", "null"},
}

var word = regexp.MustCompile(`\{(\w+)\}`)

// random returns a random statement of a sequence.
func random(rng *rand.Rand, sequence uint64) string {
	text := "{statement}"
	for word.MatchString(text) {
		text = word.ReplaceAllStringFunc(text, func(w string) string {
			choices := grammar[w[1:len(w)-1]]
			return choices[rng.IntN(len(choices))]
		})
	}
	return strings.ReplaceAll(text, "#", fmt.Sprint(sequence))
}

// atOnce matches statements that do not belong to a transaction here.
var atOnce = regexp.MustCompile("mbus4.(create|drop)_queue")

// TestRandom sends random statements to the broker and to a PostgreSQL with the native schema, from
// two sessions. Both answer the same, except to what is left out: a selector of dyn_consume that is
// wrong, whose error shows the statement around it, an empty name of a trigger, dropping the
// consumer default, and creating or dropping queues during a transaction, which takes effect at
// once. MBUS is the number of sequences, and MBUS_SEED selects them.
func TestRandom(t *testing.T) {
	broker, native := servers(t)
	sequences, rng := seeded.Cases(t, "MBUS", 20, 11)
	for i := range sequences {
		ours := newSide(t, broker)
		theirs := newSide(t, native)
		theirs.do(0, "set statement_timeout = '500ms'") // a statement that waits for the other session
		theirs.do(1, "set statement_timeout = '500ms'")
		for _, q := range []string{"a", "b"} {
			create := fmt.Sprintf("select mbus4.create_queue('%s%d', 8)", q, i)
			ours.do(0, create)
			theirs.do(0, create)
		}
		compareSequence(t, rng, i, ours, theirs)
		ours.close()
		theirs.close()
	}
}

// compareSequence sends statements until the answers differ or PostgreSQL has to wait.
func compareSequence(t *testing.T, rng *rand.Rand, sequence uint64, ours, theirs *side) {
	t.Helper()
	var history []string
	for range 30 {
		session := max(0, rng.IntN(4)-2) // the first one three times in four
		text := random(rng, sequence)
		if theirs.inTransaction() && atOnce.MatchString(text) {
			continue
		}
		want := theirs.do(session, text)
		if strings.HasPrefix(want[len(want)-1], "ERROR 57014") {
			return
		}
		got := ours.do(session, text)
		history = append(history, fmt.Sprintf("session %d: %s\n\t%s", session, text, strings.Join(want, "\n\t")))
		if !slices.Equal(got, want) {
			t.Errorf("sequence %d:\n%s\nours:\n\t%s", sequence, strings.Join(history, "\n"), strings.Join(got, "\n\t"))
			return
		}
	}
}

// side is two sessions of a server.
type side struct {
	t        *testing.T
	sessions [2]*session
	mask     *mask
}

func newSide(t *testing.T, dsn string) *side {
	t.Helper()
	s := &side{t: t, mask: newMask()}
	for i := range s.sessions {
		var err error
		s.sessions[i], err = openSession(t.Context(), dsn, false)
		must(t, err)
		s.do(i, "set timezone = 'UTC'")
	}
	return s
}

// do returns the masked answer to a statement.
func (s *side) do(session int, text string) []string {
	answer := s.sessions[session].run(s.t.Context(), text)
	for i := range answer {
		answer[i] = s.mask.apply(answer[i])
	}
	return answer
}

func (s *side) inTransaction() bool {
	return slices.ContainsFunc(s.sessions[:], func(s *session) bool { return s.conn.TxStatus() == 'T' })
}

func (s *side) close() {
	for _, session := range s.sessions {
		session.close()
	}
}
