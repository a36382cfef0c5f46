package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/postgres"
)

// encodingAnswers has PostgreSQL's answers for every client encoding; -rewrite updates it.
const encodingAnswers = "testdata/encodings.txt"

// clientEncodings are the encodings whose clients send and receive texts.
var clientEncodings = []string{"SQL_ASCII", "latin1", "windows-1252", "win", "KOI8-R", "iso 8859-5", "eucjp", "Shift_JIS", "big5", "gb18030", "UHC"}

// encodingNames are spellings of encodings, valid and invalid.
var encodingNames = []string{
	"'utf-8'", "UNICODE", "unicode", " Utf 8 ", "sql-ascii", "iso-8859-1", "ISO88592", "latin9", "WIN1250", "cp1251", "alt", "win866", "koi8", "KOI8-U",
	"abc", "tcvn", "EUC_JP", "mskanji", "win932", "EUC_CN", "gbk", "euc_kr", "windows949", "mule_internal", "nothing", "-",
}

// rawTexts are bytes that are valid in some of the encodings.
var rawTexts = []string{
	"abc", "\xe9", "\x82\xa0", "\xa4\xa2", "\xa4\xa4\xa4", "\x81\x30\x81\x30", "\x8f\xb0\xa1", "\x80", "\xff", "\xd0\x96", "\xe3\x81\x82",
	"a\x00b", "x\x82",
}

// encodingQueries are sent by every client.
var encodingQueries = []string{
	"show client_encoding", "select pg_client_encoding()", "select chr(233), chr(8364)", "select chr(1046)", "select chr(12354)", "select chr(128512)",
	"select 1 as U&\"\\00e9\"", "select 1 as U&\"\\0416\"", "select chr(233)::int", "select chr(1046)::int", "select array[chr(233), 'b']",
	"select row(chr(233), 1)", "select hstore(chr(233), 'x')", "select to_jsonb(chr(233))", "select 'a'::name || chr(233)",
	"set names 'win1251'; select chr(1046); reset client_encoding; select 1", "show client_encoding",
	"begin; set local client_encoding to koi8r", "select chr(1046)", "rollback", "show client_encoding",
	"begin; set client_encoding to latin2; savepoint a; set client_encoding to win1251", "rollback to a", "show client_encoding", "commit",
	"show client_encoding", "set client_encoding to default", "select set_config('client_encoding', 'sjis', false)", "show client_encoding",
	"set client_encoding to 'nothing'", "set client_encoding to mule_internal", "set names default", "show client_encoding",
}

// serverEncodingQueries are about encodings, and sent once.
var serverEncodingQueries = []string{
	"select convert_from('\\xc6'::bytea, 'win1251')", "select convert_to('é', 'latin1')", "select convert_to('Ж', 'latin1')",
	"select convert_from('\\xff'::bytea, 'euc_jp')", "select convert_from('\\x41'::bytea, 'nothing')", "select convert_to('a', 'mule_internal')",
	"select convert_from('\\x41'::bytea, 'mule_internal')", "select convert_to('a', 'nothing')", "select convert_to('Ж', 'sql_ascii')",
	"select convert('\\xe9'::bytea, 'latin1', 'utf8')", "select convert('\\xc3a9'::bytea, 'utf8', 'latin1')", "select convert('\\xe9'::bytea, 'utf8', 'latin1')",
	"select convert('\\xe9'::bytea, 'latin1', 'latin2')", "select length('\\x8140'::bytea, 'sjis')", "select length('\\xff'::bytea, 'utf8')",
	"select length('\\xc3a9'::bytea, 'utf8')", "select length('a'::bytea, 'nothing')",
	"select i, pg_encoding_to_char(i), pg_encoding_max_length(i) from generate_series(-2, 43) i",
	"select pg_char_to_encoding('x'), pg_char_to_encoding('latin1'), pg_char_to_encoding('GB 18030')", "select getdatabaseencoding()",
}

// TestEncodings connects with each client encoding, and sends and receives texts in every way.
func TestEncodings(t *testing.T) {
	if *rewrite {
		server := postgres.Run(t, postgres.Options{Database: "fiveways"})
		if _, err := sqlschema.Install(t.Context(), server.DSN()); err != nil {
			t.Fatal(err)
		}
		must(t, os.WriteFile(encodingAnswers, []byte(speakAll(t, server.DSN())), 0o644))
	}
	b, err := brokertest.Start(t.Context(), t.TempDir(), "--sql", "127.0.0.1:0", "--sync", "os", "--log-level", "error")
	must(t, err)
	t.Cleanup(b.Kill)
	file, err := os.ReadFile(encodingAnswers)
	must(t, err)
	want := strings.Split(string(file), "\n")
	got := strings.Split(speakAll(t, "postgres://guest@"+b.SQLAddr()+"/fiveways?sslmode=disable"), "\n")
	encoding := ""
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		if strings.HasPrefix(want[i], "# ") {
			encoding = want[i]
		}
		if got[i] != want[i] {
			t.Errorf("%s\n\tgot  %s\n\twant %s", encoding, got[i], want[i])
		}
	}
}

func speakAll(t *testing.T, dsn string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range clientEncodings {
		fmt.Fprintf(&b, "# %q\n", name)
		speak(t, &b, dsn, name, encodingQueries)
	}
	for _, name := range encodingNames {
		fmt.Fprintf(&b, "# %q\n", name)
		speak(t, &b, dsn, name, []string{"show client_encoding"})
	}
	fmt.Fprintln(&b, "# server")
	speak(t, &b, dsn, "utf8", serverEncodingQueries)
	return b.String()
}

func speak(t *testing.T, b *strings.Builder, dsn, encoding string, queries []string) {
	t.Helper()
	config, err := pgconn.ParseConfig(dsn)
	must(t, err)
	config.RuntimeParams["client_encoding"] = encoding
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		fmt.Fprintf(b, "refused: %s\n", pgErrorText(t, err))
		return
	}
	defer c.Close(context.Background())
	say := func(what string, results []*pgconn.Result, err error) {
		fmt.Fprintf(b, "%s [%s]:", what, c.ParameterStatus("client_encoding"))
		for _, r := range results {
			for _, f := range r.FieldDescriptions {
				fmt.Fprintf(b, " %q", f.Name)
			}
			for _, row := range r.Rows {
				fmt.Fprintf(b, " %q", row)
			}
			if err == nil {
				err = r.Err
			}
		}
		if err != nil {
			fmt.Fprintf(b, " %s", pgErrorText(t, err))
		}
		fmt.Fprintln(b)
	}
	if slices.Contains(clientEncodings, encoding) {
		sayTexts(t, c, say)
	}
	for _, q := range queries {
		results, err := c.Exec(t.Context(), q).ReadAll()
		say(q, results, err)
	}
}

// sayTexts sends texts as parts of queries, as parameters of several types and forms, and as names.
func sayTexts(t *testing.T, c *pgconn.PgConn, say func(string, []*pgconn.Result, error)) {
	t.Helper()
	for _, text := range rawTexts {
		shown := fmt.Sprintf("%q", text)
		if !strings.Contains(text, "\x00") {
			results, err := c.Exec(t.Context(), "select ascii('"+text+"'), '"+text+"'").ReadAll()
			say("simple "+shown, results, err)
			_, err = c.Prepare(t.Context(), text, "select name from pg_prepared_statements order by name", nil)
			say("prepare "+shown, nil, err)
		}
		array := append([]byte("\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x19\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00"), byte(len(text)))
		for _, p := range []struct {
			query string
			value []byte
		}{
			{"select ascii($1::text), $1", []byte(text)}, {"select $1::text[]", append(array, text...)}, {"select $1::jsonb", []byte("\x01\"" + text + "\"")},
		} {
			r := c.ExecParams(t.Context(), p.query, [][]byte{p.value}, nil, []int16{1}, []int16{1}).Read()
			say("binary "+p.query+" "+shown, []*pgconn.Result{r}, nil)
		}
		r := c.ExecParams(t.Context(), "select ascii($1::text), $1", [][]byte{[]byte(text)}, nil, nil, nil).Read()
		say("text "+shown, []*pgconn.Result{r}, nil)
	}
	for _, query := range []string{"select array[chr(233), 'b'], row(chr(233), 1)::text", "select to_jsonb(chr(233)), chr(233)::name, null::text", "select chr(1046)"} {
		r := c.ExecParams(t.Context(), query, nil, nil, nil, []int16{1}).Read()
		say("binary result "+query, []*pgconn.Result{r}, nil)
	}
	r := c.ExecPrepared(t.Context(), rawTexts[0], nil, nil, nil).Read()
	say("names", []*pgconn.Result{r}, nil)
}

func pgErrorText(t *testing.T, err error) string {
	t.Helper()
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%s %s %q", e.Severity, e.Code, e.Message)
	if e.Detail != "" {
		text += fmt.Sprintf(" detail %q", e.Detail)
	}
	return text
}
