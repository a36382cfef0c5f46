package copy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// trial is a statement, with what the client sends when it is asked for data: pieces of data, and
// possibly a CopyFail.
type trial struct {
	text  string
	in    []string
	fails bool
}

func (c trial) String() string {
	s := c.text
	for _, p := range c.in {
		s += fmt.Sprintf(" %q", p)
	}
	if c.fails {
		s += " fails"
	}
	return s
}

// values are written out in the formats.
const values = `(values (1, 'plain', null::timestamptz), (2, '', '2024-05-06 07:08:09+00'), (3, E'tab\t nl\n cr\r back\\ bs\b ff\f vt\x0b esc\x1b', null), ` +
	`(null, 'quote " and '' comma, semi; pipe|', null), (5, '\N', null), (6, '\.', null), (7, 'NULL', null), (8, 'ä€😀', null)) v(id, name, at)`

// out are statements that write data.
var out = []string{
	"copy (select * from " + values + ") to stdout", "copy (select * from " + values + ") to stdout with csv header",
	"copy (select * from " + values + ") to stdout (format csv, delimiter ';', quote '''', escape '\\', null 'NULL', force_quote *)",
	"copy (select * from " + values + ") to stdout (format csv, force_quote (name), header)", "copy (select * from " + values + ") to stdout (format text, header, delimiter '|', null '')",
	"copy (select name from " + values + ") to stdout (format csv)", "copy (select name from " + values + ") to stdout (format csv, null 'NULL')",
	"copy (select id, at from " + values + ") to stdout (format binary)", "copy (select name from " + values + ") to stdout binary", "copy (select 1 where false) to stdout (format binary)",
	"copy (select name from " + values + " where id < 8) to stdout (encoding 'latin1')", "copy (select name from " + values + ") to stdout (encoding 'latin1')",
	"copy (select 'ä' as \"ö\") to stdout (header, encoding 'win1252')", "copy (select 'ä') to stdout (encoding 'utf-8')", "copy (select '表\\') to stdout (encoding 'sjis')",
	"copy (select) to stdout", "copy (select from generate_series(1, 2)) to stdout (format binary)", "copy (select 1 where false) to stdout csv header", "copy (values (1, 2), (3, 4)) to stdout",
	"copy (select true, 1.50, 'a'::name, '{1,2}'::int[], '{\"a\": 1}'::json, interval '1 day', '\\x00ff'::bytea, 'k=>v'::hstore) to stdout",
	"copy (select array['a b', null, 'c\"d'], row(1, 'x,y')) to stdout csv", "copy tab to stdout", "copy tab (name, id) to stdout csv header", "copy tab (id, name, id) to stdout",
	"copy tab (nope) to stdout", "copy public.tab to stdout", "copy t to stdout", "copy t (id) to stdout", "copy nope to stdout", "copy (select nope) to stdout",
	"copy (select id, 6 / (id - 2) from tab order by id) to stdout", "copy (insert into t (id) values (1)) to stdout", "copy (insert into t (id, name) values (1, 'x') returning name, id) to stdout",
	"copy tab to stdout (freeze)", "copy (select 1) to stdout (freeze off)", "copy tab to stdout (delimiter 'ab')", "copy tab to stdout (delimiter 'a')", "copy tab to stdout (delimiter '')",
	"copy tab to stdout (delimiter E'\\n')", "copy tab to stdout (null E'a\\nb')", "copy tab to stdout (delimiter '.')", "copy tab to stdout (delimiter 'ä')", "copy tab to stdout (delimiter E'\\\\')",
	"copy tab to stdout (quote 'x')", "copy tab to stdout (escape 'x')", "copy tab to stdout (format csv, quote 'xy')", "copy tab to stdout (format csv, escape 'xy')",
	"copy tab to stdout (format csv, quote ',')", "copy tab to stdout (force_quote *)", "copy tab to stdout (format csv, force_not_null (id))", "copy tab to stdout (force_not_null (id))",
	"copy tab to stdout (format csv, force_null (id))", "copy tab to stdout (force_null (id))", "copy tab to stdout (format csv, force_quote (nope))", "copy tab (id) to stdout (format csv, force_quote (name))",
	"copy tab to stdout (format csv, force_quote (id, id))", "copy tab to stdout (format csv, force_quote id)", "copy tab to stdout (format csv, force_quote)", "copy tab to stdout (format csv, null ',')",
	"copy tab to stdout (format csv, null '\"')", "copy tab to stdout (null E'\\t')", "copy tab to stdout (format binary, delimiter ',')", "copy tab to stdout (format binary, null '')",
	"copy tab to stdout (format binary, header)", "copy tab to stdout (format xml)", "copy tab to stdout (format)", "copy tab to stdout (format csv, format csv)", "copy tab to stdout (nope 1)",
	"copy tab to stdout (encoding 'nope')", "copy tab to stdout (encoding)", "copy tab to stdout (header match)", "copy tab to stdout (header 'maybe')", "copy tab to stdout (header 2)",
	"copy tab to stdout (header 0)", "copy tab to stdout (header 'ON')", "copy tab to stdout (header false, format csv)", "copy tab to stdout (null 5)", "copy tab to stdout (delimiter 5)",
	"copy tab to stdout csv header quote '''' force quote id, name", "copy tab to stdout using delimiters '|'", "copy binary tab to stdout", "copy tab to stdout with delimiter as ':' null as 'x'",
	"copy tab to stdout where id = 1", "copy (select 1) (a) to stdout", "copy (select 1) from stdin", "copy tab to", "copy (select 1 into x) to stdout", "copy (select 1, 'x') to stdout (format csv, force_quote (\"?column?\"))", "copy (delete from tab where id = 77) to stdout", "copy (update t set id = 1) to stdout", "copy (select $1) to stdout",
	"copy (select 1 as a order by 1 limit 1) to stdout", "copy (with x as (select 1) select * from x) to stdout", "copy (select generate_series(1, 3)) to stdout",
}

// in has the data to read, by statement.
var in = map[string][]string{
	"copy t from stdin": {
		"1\tone\t\\N\n2\ttwo\t2024-05-06 07:08:09+00\n", "1\ta\t\\N", "", "\n", "1\ta\n", "1\ta\t\\N\textra\n", "x\ta\t\\N\n", "1\ta\t\\N\nx\ta\t\\N\n", "1\ta\tyesterdayish\n",
		"1\t\\b\\f\\n\\r\\t\\v\\\\\\x41\\x4\\101\\12\\q\\\t\\N\n", "1\t\\N\t\\N\n\\N\t\\\\N\t\\N\n", "1\ta\\\nb\t\\N\n", "1\tx\\", "1\t\\x\t\\N\n", "1\t\\xff\t\\N\n", "1\t\\xc3\\xa4\t\\N\n", "1\t\\0\t\\N\n",
		"1\t\\400\t\\N\n", "1\ta\t\\N\n\\.\n2\tb\t\\N\n", "1\ta\t\\N\n\\.", "1\ta\t\\N\\.\n", "\\.\n", "1\ta\t\\N\n\\.x\n", "1\ta\t\\N\r\n2\tb\t\\N\r\n\\.\r\n", "1\ta\t\\N\r\n2\tb\t\\N\n", "1\ta\t\\N\n2\tb\t\\N\r\n",
		"1\ta\t\\N\r2\tb\t\\N\r", "1\ta\t\\N\r2\tb\t\\N\n", "1\ta\t\\N\r2\tb\t\\N\r\n", "1\ta\t\\N\r\n2\tb\t\\N\rx\n", "1\ta\t\\N\r\n\\.\n", "1\ta\t\\N\r\n\\.\rx", "1\ta\t\\N\r\\.\n", "1\ta\t\\N\n\\.\r",
		"1\t\xff\t\\N\n", "1\ta\t\\N\n1\t\xc3(\t\\N\n", "1\t\x00\t\\N\n", "1\tä€😀\t\\N\n", "1\t" + strings.Repeat("long ", 60) + "\t\\N\nx\n", "x" + strings.Repeat("ä", 60) + "\ta\t\\N\n",
		strings.Repeat("ab ", 50) + "\n", "1\trefuse\t\\N\n", "1\ta\t\\N\n2\trefuse\t\\N\n", "99999999999\ta\t\\N\n", "\\N\t\\N\t\\N\n", "\t\t\n",
	},
	"copy t (name) from stdin":                                                           {"a\nb\n", "a\tb\n", "\n\n", "\\N\n", "\\.\n"},
	"copy t (name, id) from stdin":                                                       {"a\t1\n", "a\n", "a\tb\n"},
	"copy t from stdin csv":                                                              {"1,one,\n2,\"two, \"\"2\"\"\",2024-05-06\n", "1,\"\",\"\"\n", "1,,\n", "1,\"a\nb\",\n2,c,\nx,d,\n", "1,\"a\r\nb\",\r\n2,c,\r\nx\r\n", "1,\"a\n", "1,a\"b\"c,\n", "1,\"a\"x\"b\",\n", "1,\\.,\n", "\\.\n1,a,\n", "\\.x,a,\n", "1,a\n", "1,a,,\n", "1,a\rb,\n2,b,\n", "1,a,\n2,b\rc,\n", "1,a,\r\n2,b\n", "1,\"refuse\",\n", "\n", "1,\"" + strings.Repeat("q\n", 60) + "\",x\n", "\"1\",\"a\",\"2024-01-01\"\n", "1, a ,\n", "1,a,\n\\.", "1,a,\r\n\\.\r\n2", "1,a,\r\n\\.\n2,\n"},
	"copy t from stdin (format csv, header)":                                             {"id,name,at\n1,a,\n", "nope\n1,a,\n", "", "id", "id,name,at\nx,a,\n", "\"id\n\",x\n1,a,\nx\n"},
	"copy t from stdin (format csv, header match)":                                       {"id,name,at\n1,a,\n", "id,nam,at\n1,a,\n", "id,name\n1,a,\n", "id,,at\n1,a,\n", "", "id,name,at"},
	"copy t from stdin (header match, null 'x')":                                         {"id\tname\tat\n1\ta\tx\n", "id\tx\tat\n"},
	"copy t (name, id) from stdin (header match)":                                        {"name\tid\na\t1\n", "id\tname\na\t1\n"},
	"copy t from stdin (format csv, delimiter ';', quote '''', escape '\\', null 'nil')": {"1;'a\\'b\\\\c\\d';nil\n", "1;nil;nil\n", "1;'nil';nil\n", "nil;'a''b';nil\n", "1;'a\\\nb';nil\n", "1;a\\'b;nil\n2;c';nil\n"},
	"copy t from stdin (format csv, force_null (name), null 'nil')":                      {"1,\"nil\",nil\n", "1,nil,nil\n", "1,a,\"nil\"\n"},
	"copy t from stdin (format csv, force_not_null (name))":                              {"1,,\n", "1,\"\",\n"},
	"copy t from stdin (format csv, force_not_null (id))":                                {",a,\n"},
	"copy t from stdin where id > 1":                                                     {"1\ta\t\\N\n2\tb\t\\N\n\\N\tc\t\\N\n", "1\ta\n"},
	"copy t from stdin where 6 / id > 2":                                                 {"1\ta\t\\N\n0\tb\t\\N\n"},
	"copy t from stdin (encoding 'latin1')":                                              {"1\t\xe4\t\\N\n"},
	"copy t from stdin (encoding 'sjis')":                                                {"1\t\x95\x5c\t\\N\n2\t\x83\x5c\\\n\t\\N\n", "1\t\x95\n"},
	"copy t from stdin (encoding 'win1252')":                                             {"1\ta\t\\N\n1\t\x81\t\\N\n"},
	"copy t from stdin (format csv, encoding 'gbk')":                                     {"1,\"\x81\x5c\",\n"},
	"copy t from stdin (format binary)": {
		signature + "\x00\x03\x00\x00\x00\x04\x00\x00\x00\x07\x00\x00\x00\x01a\xff\xff\xff\xff\xff\xff", signature + "\x00\x03\x00\x00\x00\x04\x00\x00\x00\x07\x00\x00\x00\x01a\xff\xff\xff\xff", signature, "", "PGCOPY\n\xff\r\n\x00", "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00",
		"1\ta\t\\N\n", "PGCOPY\n\xff\r\n\x00\x00\x01\x00\x00\x00\x00\x00\x00", "PGCOPY\n\xff\r\n\x00\x00\x02\x00\x00\x00\x00\x00\x00", "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x05\x00\x00\x00\x02ab\xff\xff",
		"PGCOPY\n\xff\r\n\x00\x00\x00\x00\x05\xff\xff\xff\xff", "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x05\x00\x00\x00\x09ab", signature + "\xff\xffx", signature + "\x00\x02", signature + "\x00\x03\x00\x00\x00\x04\x00\x00",
		signature + "\x00\x03\x00\x00\x00\x02\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff", signature + "\x00\x03\xff\xff\xff\xfe", signature + "\x00\x03\xff\xff\xff\xff\x00\x00\x00\x01\xff\xff\xff\xff\xff", signature + "\x00", signature + "\x00\x03\xff\xff\xff\xff\x00\x00",
		signature + "\x00\x03\x00\x00\x00\x05\x00\x00\x00\x07\x07\x00\x00\x00\x01a\xff\xff\xff\xff\xff\xff", signature + "\x00\x03\xff\xff\xff\xff\x00\x00\x00\x06refuse\xff\xff\xff\xff\xff\xff", signature + "\x00\x03\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x08\x00\x00\x00\x00\x00\x0f\x42\x40\xff\xff",
	},
}

const signature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// refused are statements that fail before they ask for data; if one asks, it gets an empty line.
var refused = []string{
	"copy t from 'file'", "copy t to 'file'", "copy t from program 'ls'", "copy t to program 'ls'", "copy (select 1) to 'file'", "copy nope from stdin", "copy t (nope) from stdin", "copy t (id, id) from stdin",
	"copy bare from stdin", "copy guarded from stdin", "copy t from stdin (format csv, force_quote *)", "copy t from stdin (force_null (id))", "copy t from stdin (format csv, force_null (nope))", "copy t (id) from stdin (format csv, force_null (name))",
	"copy t from stdin (format csv, force_not_null (id, id))", "copy t (id) from stdin (format csv, force_not_null (name))", "copy t from stdin where id", "copy t from stdin where count(*) > 0",
	"copy t from stdin where generate_series(1, 2) = 1", "copy t from stdin where id in (select 1)", "copy t from stdin where exists (select 1)", "copy t from stdin where row_number() over () > 0", "copy t from stdin where t.id = $1", "copy t from stdin (format binary, header)", "copy t from stdin (header 'matc')", "copy t from stdin (header MATCH, format binary)",
	"copy t from stdin (delimiter E'\\r')", "copy t from stdin (format csv, force_null *)", "copy t from stdin (freeze)", "copy tab (id) to stdout (force_quote (name), format csv)", "copy t from", "copy t from stdin where",
}

// all returns the trials of the recorded table.
func all() (list []trial) {
	for _, text := range out {
		list = append(list, trial{text: text})
	}
	for _, text := range refused {
		list = append(list, trial{text: text, in: []string{"\n"}})
	}
	for _, text := range slices.Sorted(maps.Keys(in)) {
		for _, data := range in[text] {
			list = append(list, trial{text: text, in: []string{data}})
		}
		list = append(list, trial{text: text, in: split(in[text][0])})
		if !strings.Contains(text, "win1252") { // there the end is read before the conversion
			list = append(list, trial{text: text, in: in[text][:1], fails: true})
		}
	}
	return list
}

// split splits a text into pieces of one byte.
func split(s string) (pieces []string) {
	for i := range len(s) {
		pieces = append(pieces, s[i:i+1])
	}
	return pieces
}
