package drivers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// withPsql runs a script as a person would type it, including \d and similar commands.
func withPsql(t *testing.T, s target) {
	need(t, "psql")
	psql := func(args ...string) string {
		t.Helper()
		return run(t, s, []string{"PAGER=cat", "PSQLRC=/dev/null"}, "psql", append([]string{s.url, "-XAtq", "-v", "ON_ERROR_STOP=1"}, args...)...)
	}
	got := psql("-f", "testdata/psql.sql")
	if got = regexp.MustCompile(`with_psql\.\d+`).ReplaceAllString(got, "with_psql.N"); got != psqlPrints {
		t.Errorf("psql printed\n%s\nwant\n%s", got, psqlPrints)
	}
	for command, want := range map[string]string{
		`\df mbus4.consume`: "mbus4|consume|SETOF mbus4.qt_model|qname text, cname text DEFAULT 'default'::text|func",
		`\dn`:               "mbus4|",
		`\dT mbus4.*`:       "mbus4|mbus4.qt_model|",
		`\d mbus4.qt_model`: "delayed_until|timestamp without time zone",
		`\dx`:               "hstore|1.8|",
		`\l`:                "fiveways|",
		`\conninfo`:         `connected to database "fiveways"`,
		`\encoding`:         "UTF8",
		`\du`:               "",
		`\dt`:               "",
		`\dv`:               "",
		`\d`:                "",
		`\di`:               "",
		`\ds`:               "",
		`\do`:               "",
		`\db`:               "",
		`\dp`:               "",
		`\dc`:               "",
	} {
		if got := psql("-c", command); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in\n%s", command, want, got)
		}
	}
	run(t, s, nil, "psql", s.url, "-Xc", `\timing on`, "-c", "select 1", "-c", `\gdesc`)
	if s.app != "" {
		if got := run(t, s, nil, "psql", s.app, "-XAtc", "select current_user, session_user"); got != "app|app\n" {
			t.Errorf("app is %q", got)
		}
	}
}

const psqlPrints = `
with_psql.N
"k"=>"1"|default
true 22012 division by zero
25P02
42601
1
1|x
2|y
x
3
German, DMY
2
1
2
3
4
5
6
7
a|integer
b|text

?column?
1
2
1 \N a\ b

`

// withPgbench posts and consumes with each of pgbench's protocols.
func withPgbench(t *testing.T, s target) {
	need(t, "pgbench")
	run(t, s, nil, "psql", s.url, "-Xqc", "select mbus4.create_queue('with_pgbench', 64)")
	dir := t.TempDir()
	post, consume := filepath.Join(dir, "post.sql"), filepath.Join(dir, "consume.sql")
	for file, text := range map[string]string{
		post:    "\\set n random(1, 1000)\nselect mbus4.post('with_pgbench', hstore('n', :n::text));\n",
		consume: "begin;\nselect iid from mbus4.consume('with_pgbench');\ncommit;\n",
	} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, mode := range []string{"simple", "extended", "prepared"} {
		for _, file := range []string{post, consume} {
			out := run(t, s, nil, "pgbench", "-n", "-M", mode, "-c", "4", "-j", "2", "-t", "25", "-f", file, s.url)
			if !strings.Contains(out, "number of transactions actually processed: 100/100") {
				t.Errorf("%s %s:\n%s", mode, filepath.Base(file), out)
			}
		}
	}
	if got := run(t, s, nil, "psql", s.url, "-XAtc", "select count(*) from mbus4.consume('with_pgbench')"); got != "0\n" {
		t.Errorf("%s messages are left", got)
	}
	run(t, s, nil, "psql", s.url, "-Xqc", "select mbus4.drop_queue('with_pgbench')")
}
