package statements

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/test/seeded"
	"fiveways.dev/fiveways/test/sql/sides"
)

// samples are values of each type that a function is called with.
var samples = map[string][]string{
	"bool": {"true", "false", "null"},
	"int2": {"0", "1", "-1", "3", "32767"}, "int4": {"0", "1", "-1", "3", "7", "100", "2147483647", "null"},
	"int8":    {"0", "1", "-1", "42", "9223372036854775807", "null"},
	"numeric": {"0", "1.5", "-2.50", "1e20", "'NaN'", "'Infinity'", "0.000001", "12345.6789", "3", "1e-30"},
	"float4":  {"0", "1.5", "-2.5", "1e30", "'NaN'", "0.1"}, "float8": {"0", "1.5", "-2.5", "1e300", "'NaN'", "'-Infinity'", "0.1", "null"},
	"text": {"''", "'a'", "'Hello World'", "'héllo wörld'", "'  pad  '", "'a,b,,c'", "'123'", `'a%b_c\d'`, "'(a)(b)?'", "'UTC'", "'day'", `'{"a":1}'`, "','", "null"},
	"name": {"'a'", "'Hello'"}, "bpchar": {"'a '", "'abc  '"}, "varchar": {"'a'", "''"}, "char": {"'a'", "''"},
	"date": {"'2024-02-29'", "'1999-12-31'", "'infinity'", "'0044-03-15 BC'"}, "time": {"'12:34:56.789'", "'00:00'", "'24:00'"},
	"timestamp":   {"'2024-02-29 12:34:56.789'", "'1999-12-31 23:59:59.999999'", "'infinity'", "'0001-01-01 BC'"},
	"timestamptz": {"'2024-02-29 12:34:56.789+03'", "'-infinity'", "'2024-06-01 00:00-07'"},
	"interval":    {"'1 day'", "'-1 mon 3 days'", "'1 year 2 mons 3 days 04:05:06.789'", "'0'", "'-00:00:00.5'"},
	"json":        {`'{"a":1,"b":[1,2.50,"x"],"a":2}'`, `'[1,2,{"c":null}]'`, `'"s"'`, "'12.0'", "'null'", "'{}'", "'[]'", `' [ 1 , {"z" : 1} ] '`},
	"jsonb":       {`'{"a":1,"b":[1,2.50,"x"],"a":2}'`, `'[1,2,{"c":null}]'`, `'{"b":{"d":["a",null]},"c":null}'`, "'null'", `'["a","b"]'`, `'{"a":2.0}'`, "'[2]'", "'2'", `'"s"'`, "'12.0'", "'{}'", "'[]'"},
	"bytea":       {`'\x'`, `'\x00ff10'`, "'abc'"}, "uuid": {"'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"}, "oid": {"0", "23", "4294967295"},
	"_text": {"'{}'", "'{a,b,c}'", `'{a,NULL,"x y"}'`, "'{{a,b},{c,d}}'", "'{a,1}'", "'{a}'", "'{b,0}'", "'{b,-1}'", "'{2,c}'", "'{-9}'", "'{b,d,0}'", "null"}, "_int4": {"'{}'", "'{1,2,3}'", "'{1,NULL,3}'", "'{{1,2},{3,4}}'"},
	"_float8": {"'{0.1,0.5}'"}, "_bool": {"'{t,NULL}'"},
	"any": {"1::int4", "1.5::numeric", "'a'::text", "true", "null::int4", "'2024-01-01'::date", `'{"a":1}'::jsonb`, "array[1,2]", "array[array['a'],array['b']]", "row(1, 'x'::text)"},
}

// polymorphic are the types that stand for several.
var polymorphic = map[string]string{
	"anyarray": "array", "anycompatiblearray": "array", "anyelement": "any", "anycompatible": "any", "anynonarray": "any", "record": "any",
}

// apart matches functions whose results depend on the server or the time, and those of types and
// formats, which other tests compare.
var apart = regexp.MustCompile(`^(pg_|has_|current_|inet_|txid_|quote_ident$|to_(char|date|number)$|.*_timestamp$|generate_series$|repeat$|make_interval$|` +
	`format_type$|obj_description$|col_description$|shobj_description$|version$|set_config$|numeric$|now$|row_security_active$|to_reg|reg[a-z]+$|convert)`)

// rounded matches functions whose last digit depends on the library of mathematics.
var rounded = regexp.MustCompile(`^d?(a?(sin|cos|tan)[hd]?|atan2d?|cotd?|cbrt|exp|ln|log(10|1)?|pow|power|sqrt|corr|covar_.*|regr_.*|stddev.*|var.*)$`)

// argument returns a value for an argument of a type, or "" if there is no sample.
func argument(rng *rand.Rand, name string) string {
	if kind := polymorphic[name]; kind != "" {
		if name = kind; kind == "array" {
			name = []string{"_text", "_int4"}[rng.IntN(2)]
		}
	}
	all := samples[name]
	switch {
	case len(all) == 0:
		return ""
	case name == "any":
		return all[rng.IntN(len(all))]
	case name == "char":
		name = `"char"`
	}
	return all[rng.IntN(len(all))] + "::" + name
}

// callOf returns a statement that calls a function for two rows with the same arguments, and
// returns the arguments as well: a function must not change them. It is "" if there is no sample of
// a type.
func callOf(rng *rand.Rand, f *expr.Function) string {
	made, names := []string{"1 as none"}, []string{}
	for i, a := range f.Args {
		value := argument(rng, a.Type.Name)
		if value == "" {
			return ""
		}
		name := fmt.Sprintf("a%d", i+1)
		made, names = append(made, value+" as "+name), append(names, name)
	}
	from := "(select " + strings.Join(made, ", ") + ") s, generate_series(1, 2)"
	call := fmt.Sprintf("%q(%s)", f.Name, strings.Join(names, ", "))
	switch {
	case f.IsAggregate():
		if len(names) == 0 {
			return ""
		}
		return "select " + call + "::text from " + from
	case f.IsSet():
		return "select q::text from " + from + ", " + call + " q"
	}
	for i := range names {
		names[i] += "::text"
	}
	return "select " + strings.Join(append([]string{call + "::text"}, names...), ", ") + " from " + from
}

// TestFunctions calls every built-in function on both servers. FUNCTIONS is the number of calls of
// each, and FUNCTIONS_SEED selects the arguments. Messages of errors may differ, and what is not
// supported here is left out.
func TestFunctions(t *testing.T) {
	c, _ := sides.Start(t, "set timezone = 'UTC'")
	s := sql.NewSession(sides.Options())
	defer s.Close()
	many, rng := seeded.Cases(t, "FUNCTIONS", 3, 11)
	calls, unsupported := 0, 0
	for _, f := range builtin.Library.AllFunctions() {
		isFloat := slices.ContainsFunc(f.Args, func(a expr.Arg) bool { return strings.Contains(a.Type.Name, "float") })
		if f.Volatility == expr.Volatile || apart.MatchString(f.Name) || isFloat && rounded.MatchString(f.Name) {
			continue
		}
		for range many {
			text := callOf(rng, f)
			if text == "" {
				break
			}
			got, failure := ours(s, text)
			if strings.HasPrefix(failure, pgerror.FeatureNotSupported) {
				unsupported++
				continue
			}
			want, theirFailure := theirs(t, c, text)
			code, _, _ := strings.Cut(failure, " ")
			theirCode, _, _ := strings.Cut(theirFailure, " ")
			if code != theirCode || !slices.Equal(got, want) {
				t.Errorf("%s\n  PostgreSQL: %q %s\n  here:       %q %s", text, want, theirFailure, got, failure)
			}
			calls++
		}
	}
	t.Logf("%d calls compared, %d not supported", calls, unsupported)
}
