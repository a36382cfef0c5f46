package expressions

import (
	"math/rand/v2"
	"strings"
)

// literals are the leaves of each kind of expression, with an emphasis on the limits of ranges and
// on ambiguous forms.
var literals = map[string][]string{
	"int":    {"0", "1", "2", "3", "7", "-1", "-5", "42", "100", "2147483647", "(-2147483648)", "null::int", "12345", "'17'::int", "3::smallint"},
	"bigint": {"0::bigint", "1::bigint", "9223372036854775807", "(-9223372036854775808)", "3000000000", "-7::bigint", "null::bigint"},
	"numeric": {"0.0", "1.5", "-2.25", "3.14159", "100.00", "1e10", "0.001", "12345.6789", "'NaN'::numeric", "'Infinity'::numeric", "null::numeric",
		"1::numeric", "-0.5", "99999999999999999999.99", "2.5", "7.0"},
	"float": {"0::float8", "1.5::float8", "-2.25::float8", "1e100::float8", "'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8", "0.1::float8",
		"1::float4", "3.7::float4", "null::float8", "123456789.123::float8", "1e-5::float8", "-0.0::float8"},
	"text": {"'a'::text", "''::text", "'abc'::text", "'Hello World'::text", "'1'::text", "'42'", "'привет'::text", "'a,b,c'::text", "'x%y_z'::text",
		"'  pad  '::text", "null::text", "'it''s'::text", "'tab'::varchar", "'a\"b'::text", "'back\\slash'::text", "'ab'::char(4)", "('select'::name collate \"default\")",
		"'2024-02-29'::text", "'aXbXc'::text", "'日本語'::text", "'foo bar baz'::text", "'AbC'::varchar(2)",
		"'ПРИВЕТ, мир'::text", "'Ёж и ёлка'::text", "'Éclair naïve'::text", "'ΟΔΥΣΣΕΥΣ ςσ'::text", "'ıIİi'::text", "'straße ẞ'::text", "'٣٤ 12 ४२'::text",
		"'🙂 emoji 👍🏽'::text", "'ǅ ǆ'::text", "'при\u00a0вет\u2003мир'::text", "'x₁²½ª'::text"},
	"bool":   {"true", "false", "null::bool", "'t'::bool"},
	"hstore": {"''::hstore", "'a=>1'::hstore", "'a=>1, b=>2'::hstore", "'a=>NULL'::hstore", "'\"k 1\"=>\"v,1\", a=>x, ccc=>\"\"'::hstore", "'b=>2, c=>3, a=>9'::hstore", "null::hstore", "'ключ=>значение'::hstore", "hstore('a', 'b')"},
	"stamp":  {"'2024-02-29 12:34:56.789'::timestamp", "'2000-01-01'::timestamp", "'1999-12-31 23:59:59.999999'::timestamp", "'infinity'::timestamp", "'-infinity'::timestamp", "'0044-03-15 BC'::timestamp", "null::timestamp", "'2024-03-31 02:30'::timestamp", "'1970-01-01 00:00:01'::timestamp", "'9999-12-31'::timestamp", "'2021-01-03 05:00'::timestamp"},
	"instant": {"'2024-02-29 12:34:56.789+00'::timestamptz", "'2000-01-01 00:00+03'::timestamptz", "'infinity'::timestamptz", "null::timestamptz",
		"'2024-03-31 00:30:00Z'::timestamptz", "'1969-12-31 23:59:59.5-05'::timestamptz", "'2024-10-27 00:30:00Z'::timestamptz"},
	"finite":   {"'2024-02-29 12:34:56.789+00'::timestamptz", "'2000-01-01 00:00+03'::timestamptz", "'2024-03-31 00:30:00Z'::timestamptz"},
	"date":     {"'2024-02-29'::date", "'2000-01-01'::date", "'infinity'::date", "null::date", "'0001-01-01 BC'::date", "'2023-12-31'::date", "'1900-03-01'::date"},
	"time":     {"'00:00'::time", "'12:34:56.789'::time", "'23:59:59.999999'::time", "'24:00'::time", "null::time"},
	"interval": {"'1 day'::interval", "'1 mon'::interval", "'-3 days 04:05:06.789'::interval", "'1 year 2 mons 3 days 4:05:06'::interval", "'00:00:00.000001'::interval", "'0'::interval", "'25:00:00'::interval", "null::interval", "'-1 mon +30 days'::interval", "'P1Y2M3DT4H5M6S'::interval", "interval '5' minute"},
	"texts":    {"'{}'::text[]", "'{a,b}'::text[]", "'{a,NULL,\"c d\"}'::text[]", "array['a','b','a']", "null::text[]", "'{{a,b},{c,d}}'::text[]", "array['x']::varchar[]", "'{k,a,b}'::text[]"},
	"ints":     {"'{}'::int[]", "'{1,2,3}'::int[]", "array[1,null,3]", "'{{1,2},{3,4}}'::int[]", "'[0:2]={5,6,7}'::int[]", "null::int[]", "array[3,1,2]", "array[1,2]::int[]"},
	"untyped":  {"'1'", "'a'", "null", "'2024-01-01'", "'a=>1'", "'{1,2}'", "'t'", "''", "'1 day'", "'1.5'", "'{a,b}'"},
	"bytea":    {"'\\x'::bytea", "'\\x00ff41'::bytea", "'abc'::bytea", "null::bytea"},
	"pattern":  {"'a%'", "'_b%'", "'%'", "''", "'%\\%%'", "'a\\'", "'A%'", "'%l%o%'", "'__'", "'%ри%'", "'%РИ%'", "'%Σ'", "'İ%'", "'%ß%'"},
	"regex": {"'a'", "'^a.*c$'", "'[[:alpha:]]+'", "'(b)(c)?'", "'\\d+'", "'x|y|foo'", "'o+'", "'[a-c]{2,}'", "'(?i)HELLO'", "'('", "'\\s'", "'[^b]'", "'.'", "','", "'a*?'", "'\\w+'",
		"'привет'", "'[а-я]+'", "'[[:upper:]][[:lower:]]+'", "'[[:alnum:]]+'", "'\\W+'", "'(?i)ς'", "'(?i)[σ-ς]+'", "'(?i)ё'", "'[^[:alpha:]]+'", "'\\S+'", "'(?i)i'",
		"'[[:punct:]]'", "'[[:digit:]]+'", "'(?i)[^а-я]+'", "'[[:space:]]+'", "'(?i)ǆ'", "'(?i)[[:lower:]]+'"},
	"field": {"'year'", "'month'", "'day'", "'hour'", "'minute'", "'second'", "'epoch'", "'dow'", "'doy'", "'week'", "'isoyear'", "'isodow'", "'quarter'", "'decade'", "'century'", "'millennium'", "'milliseconds'", "'microseconds'", "'julian'", "'Day'", "'fortnight'", "'timezone'"},
	"cut":   {"'year'", "'month'", "'day'", "'hour'", "'minute'", "'second'", "'week'", "'quarter'", "'decade'", "'century'", "'millennium'", "'milliseconds'", "'microseconds'", "'dow'", "'eon'"},
	"zone":  {"'UTC'", "'Europe/Moscow'", "'America/New_York'", "'+03'", "'MSK'", "'est'", "'Nowhere/Land'"},
	"key":   {"'a'", "'b'", "'zz'", "'k 1'", "null::text", "'ключ'"},
	"small": {"0", "1", "2", "3", "-1", "5", "10", "-3"},
	"json":  {`'{"a":1,"b":[1,2,{"c":"x"}]}'::json`, `'[1,"two",null,true]'::json`, `'"s"'::json`, `null::json`, `'{"a": null}'::jsonb`, `'{"b":2,"a":"x\u0041"}'::jsonb`},
}

// rules are the expressions of each kind, where {kind} stands for a nested expression.
var rules = map[string][]string{
	"int": {"{int} + {int}", "{int} - {int}", "{int} * {int}", "{int} / {int}", "{int} % {int}", "-({int})", "abs({int})", "@ {int}", "length({text})", "char_length({text})",
		"octet_length({text})", "bit_length({text})", "strpos({text}, {text})", "position({text} in {text})", "ascii({text})", "{date} - {date}", "array_length({ints}, {small})", "array_upper({texts}, 1)",
		"array_lower({ints}, 1)", "array_ndims({ints})", "cardinality({texts})", "array_position({ints}, {int})", "array_position({texts}, {text})", "({ints})[{small}]", "greatest({int}, {int}, {int})", "least({int}, {int})",
		"case when {bool} then {int} else {int} end", "case {int} when {int} then {int} when 1 then {int} end", "coalesce({int}, {int})", "nullif({int}, {int})", "({hstore} -> {key})::int", "{int} & {int}", "{int} | {int}", "{int} # {int}", "~ {int}",
		"{int} << {small}", "{int} >> {small}", "gcd({int}, {int})", "lcm({int}, {int})", "div({int}, {int})::int", "mod({int}, {int})", "{numeric}::int", "{float}::int", "{bigint}::int", "{text}::int", "sign({int})::int", "num_nulls({any}, {any})",
		"width_bucket({numeric}, {numeric}, {numeric}, {small})", "scale({numeric})", "min_scale({numeric})", "{bool}::int", "cast({int} as smallint)", "regexp_count({text}, {regex})", "({json} ->> 'a')::int", "num_nonnulls({any})", "get_byte({bytea}, {small})", "({ints})[{small}][{small}]"},
	"bigint": {"{bigint} + {int}", "{int} - {bigint}", "{bigint} * {bigint}", "{bigint} / {int}", "{bigint} % {bigint}", "{int}::bigint", "{numeric}::bigint", "{float}::bigint", "abs({bigint})", "{bigint} # {bigint}", "{bigint} << {small}", "greatest({bigint}, {int})", "-{bigint}", "gcd({bigint}, {bigint})"},
	"numeric": {"{numeric} + {numeric}", "{numeric} - {int}", "{numeric} * {numeric}", "{numeric} / {numeric}", "{numeric} % {numeric}", "-{numeric}", "round({numeric})", "round({numeric}, {small})", "trunc({numeric}, {small})", "ceil({numeric})", "floor({numeric})", "abs({numeric})", "sign({numeric})",
		"extract({unquoted} from {stamp})", "extract({unquoted} from {instant})", "extract({unquoted} from {interval})", "extract({unquoted} from {date})", "extract({unquoted} from {time})", "sqrt({numeric})", "power({numeric}, {small})", "exp({numeric} / 1000)", "ln({numeric})", "log({numeric})", "div({numeric}, {numeric})", "mod({numeric}, {int})", "{int}::numeric", "{text}::numeric", "{float}::numeric", "{numeric}::numeric(10,2)", "{numeric}::numeric(5,1)",
		"greatest({numeric}, {int})", "coalesce({numeric}, {int})", "case when {bool} then {int} else {numeric} end", "factorial({small})", "trim_scale({numeric})", "gcd({numeric}, {numeric})", "{bigint}::numeric / {int}", "{numeric} ^ {small}", "trunc({numeric})", "lcm({numeric}, {int})"},
	"float": {"{float} + {float}", "{float} - {int}", "{float} * {float}", "{float} / {float}", "-{float}", "round({float})", "trunc({float})", "ceil({float})", "floor({float})", "abs({float})", "sign({float})", "sqrt({float})", "{int}::float8", "{numeric}::float8", "{numeric}::float4", "{text}::float8", "date_part({field}, {stamp})", "date_part({field}, {interval})", "date_part({field}, {date})",
		"greatest({float}, {numeric})", "{float}::float4", "degrees({float})", "radians({float})", "log(1000::float8)", "log(0.1::float8)", "|/ {float}", "pi()", "{float} + {numeric}", "date_part({field}, {instant})", "{float}::float4 * {int}"},
	"text": {"{text} || {text}", "{text} || {int}", "{any} || {text}", "lower({text})", "upper({text})", "initcap({text})", "substr({text}, {small})", "substr({text}, {small}, {small})", "substring({text} from {small} for {small})", "substring({text} from {regex})", "replace({text}, {text}, {text})", "translate({text}, {text}, {text})",
		"trim({text})", "btrim({text}, {text})", "ltrim({text})", "rtrim({text}, 'c ')", "lpad({text}, {small}, {text})", "rpad({text}, {small})", "left({text}, {small})", "right({text}, {small})", "repeat({text}, {small})", "reverse({text})", "split_part({text}, ',', {small})", "concat({any}, {any}, {any})", "concat_ws({text}, {any}, {any})", "format('%s-%s', {any}, {any})", "format('%I %L %5s|%-5s', {text}, {text}, {text}, {text})", "quote_literal({text})", "quote_ident({text})", "quote_nullable({any})", "md5({text})", "chr({int})",
		"{any}::text", "{hstore} -> {key}", "({texts})[{small}]", "array_to_string({texts}, ',')", "array_to_string({ints}, {text}, '*')", "regexp_replace({text}, {regex}, {text})", "regexp_replace({text}, {regex}, '<\\&>', 'g')", "coalesce({text}, {text})", "nullif({text}, {text})", "case when {bool} then {text} end", "case {text} when {text} then {text} else {text} end", "greatest({text}, {text})", "overlay({text} placing {text} from {small} for {small})", "overlay({text} placing {text} from {small})",
		"to_char({stamp}, {stampformat})", "to_char({instant}, {stampformat})", "to_char({interval}, {stampformat})", "to_char({numeric}, {numberformat})", "to_char({int}, {numberformat})", "to_char({float}, {numberformat})", "encode({bytea}, 'hex')", "encode({bytea}, 'base64')", "encode({bytea}, 'escape')", "to_hex({int})", "{any}::varchar(3)", "{text}::char(3)", "({text}::name collate \"default\")", "string_to_array({text}, {text})::text", "concat({text}, null, {int})", "pg_typeof({any})::text", "{json} ->> 'a'", "{json} ->> 0", "regexp_substr({text}, {regex})", "trim(both {text} from {text})", "upper({text})::varchar || {text}", "({hstore})[{key}]", "coalesce({untyped}, {text})"},
	"stampformat":  {"'YYYY-MM-DD HH24:MI:SS.US'", "'Day, DD Month YYYY'", "'FMDay FMDDth Mon YY HH12:MI AM'", "'IYYY-IW-ID'", "'Q CC J DDD'", "'MS SSSS RM'", "'\"quoted\" YYYY\\\"'", "'FMYYYY FMMM'", "'HH:MI:SS a.m.'", "'WW W D'", "'DY dy Dy MON mon'", "'Y,YYY BC'"},
	"numberformat": {"'999'", "'FM999.99'", "'0000.00'", "'9,999.99'", "'S999'", "'999MI'", "'999PR'", "'FM9990.0099'", "'99999999'", "'9.9'", "'RN'", "'999th'", "'L99'", "'SG9G999D9'", "'PL99'", "'B99'"},
	"bool": {"{int} = {int}", "{int} < {numeric}", "{numeric} >= {float}", "{text} = {text}", "{text} < {text}", "{text} <> {text}", "{bool} and {bool}", "{bool} or {bool}", "not {bool}", "{any} is null", "{any} is not null", "{bool} is true", "{bool} is not false", "{bool} is unknown", "{hstore} ? {key}", "{hstore} ?& {texts}", "{hstore} ?| {texts}", "{hstore} @> {hstore}", "{hstore} <@ {hstore}", "{hstore} = {hstore}", "exist({hstore}, {key})", "defined({hstore}, {key})", "{text} like {pattern}", "{text} not like {pattern}", "{text} ilike {pattern}", "{text} ~ {regex}", "{text} ~* {regex}", "{text} !~ {regex}", "{text} similar to {similar}",
		"{int} in ({int}, {int}, {int})", "{text} in ({text}, {untyped})", "{text} not in ({text}, {text})", "{int} between {int} and {int}", "{int} not between {int} and {int}", "{int} between symmetric {int} and {int}", "{int} is distinct from {int}", "{text} is not distinct from {text}", "{stamp} < {stamp}", "{stamp} = {date}", "{instant} > {stamp}", "{instant} <= {instant}", "{date} <> {date}", "{interval} = {interval}", "{interval} > {interval}", "{time} < {time}", "{int} = any({ints})", "{int} <> all({ints})", "{text} = any({texts})", "{text} like any({texts})", "{ints} = {ints}", "{ints} < {ints}", "{ints} @> {ints}", "{texts} && {texts}", "{texts} <@ {texts}", "({int}, {text}) = ({int}, {text})", "({int}, {int}) < ({int}, {int})", "({int}, {text}) is null", "row({int}, {int}) is distinct from row({int}, {int})",
		"starts_with({text}, {text})", "({stamp}, {stamp}) overlaps ({stamp}, {stamp})", "({stamp}, {interval}) overlaps ({stamp}, {interval})", "isfinite({stamp})", "{text}::bool", "{int}::bool", "{bool} = {bool}", "{any} = {any}", "{any} < {any}", "{any} in ({any}, {any})", "{text} like {text} escape '#'", "{bool} <> {bool}", "{int} = {untyped}", "{stamp} = {untyped}", "{hstore} = {untyped}", "({hstore} -> {key}) = {text}", "{text} ^@ {text}", "{bytea} = {bytea}", "regexp_like({text}, {regex})", "({hstore} -> {key}) is null", "(({hstore} -> 'a')::int > {int})"},
	"similar":  {"'a%'", "'(a|b)%'", "'%[a-c]_'", "'abc'", "'a+'", "'%\\%%'", "'[^a]%'"},
	"hstore":   {"{hstore} || {hstore}", "{hstore} - {key}", "{hstore} - {texts}", "{hstore} - {hstore}", "delete({hstore}, {key})", "slice({hstore}, {texts})", "hstore({text}, {text})", "hstore({texts})", "hstore({texts}, {texts})", "hstore(row({int}, {text}))", "coalesce({hstore}, {hstore})", "{text}::hstore", "hstore({text}, {int}::text)", "{hstore} || {untyped}", "case when {bool} then {hstore} else {hstore} end", "nullif({hstore}, {hstore})", "delete({hstore}, {hstore})", "delete({hstore}, {texts})"},
	"stamp":    {"{stamp} + {interval}", "{stamp} - {interval}", "{interval} + {stamp}", "{date} + {time}", "{date} + {interval}", "date_trunc({cut}, {stamp})", "{instant} at time zone {zone}", "{date}::timestamp", "{instant}::timestamp", "{text}::timestamp", "make_timestamp({small}, {small}, {small}, {small}, {small}, {float})", "greatest({stamp}, {stamp})", "coalesce({stamp}, {stamp})", "{date} - {interval}", "{stamp}::timestamp(0)", "date_bin('15 minutes', {stamp}, '2001-01-01')", "timezone({zone}, {instant})", "case when {bool} then {date} else {stamp} end"},
	"instant":  {"{instant} + {interval}", "{instant} - {interval}", "date_trunc({cut}, {instant})", "{stamp} at time zone {zone}", "{stamp}::timestamptz", "{date}::timestamptz", "to_timestamp({float})", "to_timestamp({int})", "greatest({instant}, {stamp})", "{text}::timestamptz", "date_trunc({cut}, {instant}, {zone})", "make_timestamptz(2024, {small}, {small}, 1, 2, 3)"},
	"date":     {"{date} + {int}", "{date} - {int}", "{int} + {date}", "{stamp}::date", "{instant}::date", "make_date({small}, {small}, {small})", "{text}::date", "greatest({date}, {date})", "to_date({text}, 'YYYY-MM-DD')", "make_date(2024, {small}, {small})", "date({stamp})"},
	"time":     {"{time} + {interval}", "{time} - {interval}", "{stamp}::time", "{interval}::time", "make_time({small}, {small}, {float})", "{instant}::time", "{time}::time(1)"},
	"interval": {"{interval} + {interval}", "{interval} - {interval}", "-{interval}", "{interval} * {float}", "{interval} * {int}", "{int} * {interval}", "{interval} / {float}", "{interval} / {small}", "{stamp} - {stamp}", "{instant} - {instant}", "{time} - {time}", "age({stamp}, {stamp})", "age({finite}, {finite})", "justify_days({interval})", "justify_hours({interval})", "justify_interval({interval})", "make_interval({small}, {small}, {small}, {small})", "make_interval(days => {small}, secs => {small})", "make_interval(hours := {int})", "date_trunc({cut}, {interval})", "{text}::interval", "{time}::interval", "{stamp} - {date}", "interval '1 day' * {numeric}", "{interval}::interval(2)", "{interval}::interval day to minute", "{date} - {stamp}"},
	"texts":    {"{texts} || {texts}", "{texts} || {text}", "{text} || {texts}", "array_append({texts}, {text})", "array_prepend({text}, {texts})", "array_cat({texts}, {texts})", "array_remove({texts}, {text})", "array_replace({texts}, {text}, {text})", "string_to_array({text}, {text})", "string_to_array({text}, ',', 'b')", "akeys({hstore})", "avals({hstore})", "{hstore} -> {texts}", "slice_array({hstore}, {texts})", "%% {hstore}", "%# {hstore}", "hstore_to_array({hstore})", "regexp_split_to_array({text}, {regex})", "regexp_match({text}, {regex})", "array[{text}, {text}]", "({texts})[{small}:{small}]", "({texts})[:{small}]", "array[{texts}, {texts}]", "{ints}::text[]", "{text}::text[]", "array[{text}, {untyped}]", "trim_array({texts}, {small})", "array[]::text[]", "hstore_to_matrix({hstore})"},
	"ints":     {"{ints} || {ints}", "{ints} || {int}", "{int} || {ints}", "array_append({ints}, {int})", "array_remove({ints}, {int})", "array[{int}, {int}, {int}]", "({ints})[{small}:{small}]", "array_positions({ints}, {int})", "{texts}::int[]", "array[{ints}, {ints}]", "array_fill({int}, array[{small}])", "coalesce({ints}, {ints})", "array[{int}, {numeric}]::int[]", "array_cat({ints}, {ints})", "({ints})[2:]", "array_prepend({int}, {ints})", "array_replace({ints}, {int}, {int})"},
	"bytea":    {"{bytea} || {bytea}", "decode({text}, 'hex')", "decode({text}, 'base64')", "decode({text}, 'escape')", "convert_to({text}, 'UTF8')", "substr({bytea}, {small}, {small})", "sha256({bytea})", "{text}::bytea"},
	"json":     {"to_json({any})", "hstore_to_json({hstore})", "hstore_to_json_loose({hstore})", "json_build_object({text}, {any})", "json_build_array({any}, {any})", "{json} -> 'b'", "{json} -> 1", "hstore_to_jsonb({hstore})", "to_jsonb({any})", "array_to_json({ints})", "row_to_json(row({int}, {text}))"},
	"untyped":  {"({untyped})"},
	"array":    {"{ints}", "{texts}"},
	"any":      {"{int}", "{bigint}", "{numeric}", "{float}", "{text}", "{bool}", "{hstore}", "{stamp}", "{instant}", "{date}", "{time}", "{interval}", "{texts}", "{ints}", "{untyped}", "{bytea}"},
	// The kind wild has operands of any kind, to test the resolution of overloads and types, and
	// errors.
	"wild":     {"{any} + {any}", "{any} - {any}", "{any} * {any}", "{any} / {any}", "{any} || {any}", "{any} = {any}", "{any} >= {any}", "{any} -> {any}", "{any} @> {any}", "coalesce({any}, {any})", "greatest({any}, {any})", "case when {any} then {any} else {any} end", "nullif({any}, {any})", "array[{any}, {any}]", "length({any})", "abs({any})", "round({any})", "upper({any})", "{any}::{type}", "{any} in ({any}, {any})", "{any} = any({array})", "- {any}", "substr({any}, {any})", "concat({any}, {any})", "date_trunc({any}, {any})", "extract(year from {any})", "{any} like {any}", "{any} between {any} and {any}", "array_append({any}, {any})", "({any}, {any}) = ({any}, {any})", "{any} is distinct from {any}", "int4({any})", "text({any})", "hstore({any})", "exist({any}, {any})", "nosuch({any}, {any})", "({any}).x", "({any})[{int}]", "lower({any}, {any})", "to_char({any}, {any})", "{any} % {any}", "least({any}, {any}, {any})", "not {any}", "{any} and {any}", "{any} ? {any}", "left({any}, {any})", "replace({any}, {any}, {any})", "pg_typeof({any} + {any})", "repeat({any}, {any})", "power({any}, {any})"},
	"type":     {"int", "bigint", "numeric", "text", "bool", "hstore", "timestamp", "timestamptz", "date", "interval", "float8", "text[]", "int[]", "varchar(2)", "smallint", "time", "json", "numeric(4,1)", "bytea", "char(2)", "float4", "jsonb", "oid"},
	"unquoted": {"year", "month", "day", "hour", "minute", "second", "epoch", "dow", "doy", "week", "isoyear", "quarter", "decade", "century", "millennium", "milliseconds", "microseconds", "julian", "isodow", "timezone"},
}

// roots are the kinds of whole expressions.
var roots = []string{"int", "bigint", "numeric", "float", "text", "text", "bool", "bool", "hstore", "hstore", "stamp", "instant", "date", "time", "interval", "texts", "ints", "bytea", "json", "wild", "wild"}

type generator struct{ *rand.Rand }

func (g generator) pick(all []string) string { return all[g.IntN(len(all))] }

// expression returns an expression of a kind, nested no deeper than depth.
func (g generator) expression(kind string, depth int) string {
	leaves := literals[kind]
	if len(leaves) > 0 && (depth == 0 || rules[kind] == nil || g.IntN(4) == 0) {
		return g.pick(leaves)
	}
	template := g.pick(rules[kind])
	if kind != "any" && depth > 0 {
		depth--
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		inner, after, _ := strings.Cut(rest, "}")
		made := g.expression(inner, depth)
		if nested(inner) {
			made = "(" + made + ")"
		}
		b.WriteString(made)
		template = after
	}
}

// nested reports whether an expression of the kind is put in parentheses.
func nested(kind string) bool {
	switch kind {
	case "unquoted", "type":
		return false
	}
	return true
}
