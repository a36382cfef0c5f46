-- Rows out of JSON documents. The columns are those of a column definition list.
select * from json_to_record('{"a": 1, "b": "x", "d": [1, 2]}') as t(a int, b text, c text, d int[]);
--> a | b | c | d
--> 1 | x | NULL | {1,2}
select t, t.b, a from json_to_record('{"a": 1, "b": "x"}') as t(a int, b text);
--> t | b | a
--> (1,x) | x | 1
select * from json_to_record('{"a": 1}') as (a bigint);
--> a
--> 1
select json_to_record.a from json_to_record('{"a": 1}') as (a bigint);
--> a
--> 1
select * from json_to_recordset('[{"a": 1, "b": "x"}, {"b": null}, {}]') as t(a int, b text);
--> a | b
--> 1 | x
--> NULL | NULL
--> NULL | NULL
select * from jsonb_to_record('{"a": 1.50, "b": true, "c": {"x": [1, "y"]}, "d": {"z": null}}') as t(a numeric, b bool, c text, d jsonb);
--> a | b | c | d
--> 1.50 | t | {"x": [1, "y"]} | {"z": null}
select * from jsonb_to_recordset('[{"a": "1", "b": 2}, {"a": "3", "a": 4}]') as t(a int, b varchar(1));
--> a | b
--> 1 | 2
--> 4 | NULL
select count(*), sum(a) from json_to_recordset('[{"a": 1}, {"a": 2}]') as t(a int);
--> count | sum
--> 2 | 3
select q.n, t.* from (values (1, '{"a": "x"}'::json), (2, '{"a": "y"}'), (3, null)) as q(n, doc), json_to_record(q.doc) as t(a text) order by n;
--> n | a
--> 1 | x
--> 2 | y
--> 3 | NULL
select q.n, t.* from (values (1, '[{"a": "x"}, {"a": "y"}]'::jsonb), (2, null), (3, '[]')) as q(n, doc) left join lateral jsonb_to_recordset(q.doc) as t(a text) on true order by n, a;
--> n | a
--> 1 | x
--> 1 | y
--> 2 | NULL
--> 3 | NULL
select * from rows from (json_to_record('{"a": 1}') as (a int), generate_series(1, 2), json_to_recordset('[{"b": 1}, {"b": 2}, {"b": 3}]') as (b text)) with ordinality as t(a, n, b, nr);
--> a | n | b | nr
--> 1 | 1 | 1 | 1
--> NULL | 2 | 2 | 2
--> NULL | NULL | 3 | 3
-- Values are converted as if they were read: strings without quotes, everything else as it is
-- written.
select * from json_to_record('{"a": "1", "b": 1.50, "c": {"x":  1}, "d": "\u0041", "e": "\u0041", "f": " true"}') as t(a int, b text, c text, d text, e json, f bool);
--> a | b | c | d | e | f
--> 1 | 1.50 | {"x":  1} | A | "A" | t
select * from jsonb_to_record('{"a": "1", "b": 1.50, "c": {"x":  1}, "d": "\u0041", "e": "\u0041", "f": " true"}') as t(a int, b text, c text, d text, e json, f bool);
--> a | b | c | d | e | f
--> 1 | 1.50 | {"x": 1} | A | "A" | t
select * from json_to_record('{"a": "{1,2}", "b": "a=>1", "c": "2020-01-02", "d": 2.567, "e": "abc "}') as t(a int[], b hstore, c date, d numeric(5,2), e varchar(3));
--> a | b | c | d | e
--> {1,2} | "a"=>"1" | 2020-01-02 | 2.57 | abc
select * from json_to_record('{"a": null, "b": [null, 1], "c": [], "d": [[], []], "e": [[1, 2], [3, 4]]}') as t(a int[], b int[], c int[], d int[], e int[]);
--> a | b | c | d | e
--> NULL | {NULL,1} | {} | {} | {{1,2},{3,4}}
select * from json_to_record('{"a": [1, "x", null, {"b": 2}, "\u0041"], "b": [[1, [2]], ["x", {}]]}') as t(a json[], b jsonb[]);
--> a | b
--> {1,"\"x\"",NULL,"{\"b\": 2}","\"A\""} | {{1,[2]},{"\"x\"","{}"}}
select * from json_to_record('{"A": 1, "a": 2, "a": 3}') as t(a int, "A" int);
--> a | A
--> 3 | 1
-- Errors.
select * from json_to_record('{"a": "x"}') as t(a int);
--> ERROR 22P02: invalid input syntax for type integer: "x"
select * from json_to_record('{"a": 1.5}') as t(a int);
--> ERROR 22P02: invalid input syntax for type integer: "1.5"
select * from json_to_record('{"a": [1]}') as t(a int);
--> ERROR 22P02: invalid input syntax for type integer: "[1]"
select * from json_to_record('{"a": "abcd"}') as t(a varchar(3));
--> ERROR 22001: value too long for type character varying(3)
select * from json_to_record('{"a": 1}') as t(a int[]);
--> ERROR 22P02: expected JSON array
select * from json_to_record('{"a": {}}') as t(a int[]);
--> ERROR 22P02: expected JSON array
select * from json_to_record('{"a": [[1], 2]}') as t(a int[]);
--> ERROR 22P02: expected JSON array
select * from json_to_record('{"a": [[1], [2, 3]]}') as t(a int[]);
--> ERROR 22P02: malformed JSON array
select * from json_to_record('{"a": [[[1], [2]], [[3], 4]]}') as t(a int[]);
--> ERROR 22P02: expected JSON array
select * from jsonb_to_record('{"a": [[[1], [2]], [[3], 4]]}') as t(a int[]);
--> ERROR 22P02: expected JSON array
select * from json_to_record('{"a": [1, [2]]}') as t(a int[]);
--> ERROR 22P02: invalid input syntax for type integer: "[2]"
select * from json_to_record('{"a": [[[[[[[1]]]]]]]}') as t(a int[]);
--> ERROR 54000: number of array dimensions (7) exceeds the maximum allowed (6)
select * from json_to_record('[]') as t(a int);
--> ERROR 22023: cannot call populate_composite on an array
select * from json_to_record('1') as t(a int);
--> ERROR 22023: cannot call populate_composite on a scalar
select * from jsonb_to_record('[]') as t(a int);
--> ERROR 22023: cannot call populate_composite on an array
select * from jsonb_to_record('null') as t(a int);
--> ERROR 22023: cannot call populate_composite on a scalar
select * from json_to_recordset('{}') as t(a int);
--> ERROR 22023: cannot call json_to_recordset on an object
select * from json_to_recordset('1') as t(a int);
--> ERROR 22023: cannot call json_to_recordset on a scalar
select * from json_to_recordset('[1]') as t(a int);
--> ERROR 22023: argument of json_to_recordset must be an array of objects
select * from jsonb_to_recordset('{}') as t(a int);
--> ERROR 22023: cannot call jsonb_to_recordset on a non-array
select * from jsonb_to_recordset('1') as t(a int);
--> ERROR 22023: cannot call jsonb_to_recordset on a non-array
select * from jsonb_to_recordset('[{}, 1]') as t(a int);
--> ERROR 22023: argument of jsonb_to_recordset must be an array of objects
select * from json_to_record('{"a": 1}');
--> ERROR 42601: a column definition list is required for functions returning "record"
select json_to_record('{"a": 1}');
--> ERROR 0A000: could not determine row type for result of json_to_record
select * from json_to_recordset('[{"a": 1}]');
--> ERROR 42601: a column definition list is required for functions returning "record"
select json_to_recordset('[{"a": 1}]');
--> ERROR 0A000: could not determine row type for result of json_to_recordset
select * from generate_series(1, 2) as t(a int);
--> ERROR 42601: a column definition list is only allowed for functions returning "record"
select * from json_each('{}') as t(a text, b text);
--> ERROR 42601: a column definition list is redundant for a function with OUT parameters
select * from lower('A') as t(a text);
--> ERROR 42601: a column definition list is only allowed for functions returning "record"
select * from coalesce(1, 2) as t(a int);
--> ERROR 42601: a column definition list is only allowed for functions returning "record"
select * from json_to_record('{}') with ordinality as t(a int);
--> ERROR 42601: WITH ORDINALITY cannot be used with a column definition list
select * from rows from (json_to_record('{}'), lower('A')) as t(a int);
--> ERROR 42601: ROWS FROM() with multiple functions cannot have a column definition list
select * from unnest(array[1], array[2]) as t(a int, b int);
--> ERROR 42601: UNNEST() with multiple arguments cannot have a column definition list
select * from json_to_record('{}') as t(a int, a text);
--> ERROR 42701: column name "a" specified more than once
select * from json_to_record('{}') as t(a nosuch);
--> ERROR 42704: type "nosuch" does not exist
select * from json_to_record('{}') as t(a setof int);
--> ERROR 42P16: column "a" cannot be declared SETOF
-- Rows with values for the columns that a document does not have.
select * from json_populate_record(null::record, '{"a": 1}') as t(a int, b text);
--> a | b
--> 1 | NULL
select * from jsonb_populate_recordset(null::record, '[{"a": 1}, {"b": "x"}]') as t(a int, b text);
--> a | b
--> 1 | NULL
--> NULL | x
select json_populate_record(row(1, 2), '{"f1": 3}');
--> json_populate_record
--> (3,2)
select json_populate_record(row(1, 2), '{"f1": null}'), json_populate_record(row(1, 2), '{}'), json_populate_record(row(1, 2), null);
--> json_populate_record | json_populate_record | json_populate_record
--> (,2) | (1,2) | (1,2)
select json_populate_recordset(row(1, 'x'::text), '[{"f1": 3}, {"f2": "y"}, {}]');
--> json_populate_recordset
--> (3,x)
--> (1,y)
--> (1,x)
select jsonb_populate_recordset(row(1, 'x'::text), null);
--> jsonb_populate_recordset
--> (0 rows)
select json_populate_record(null::record, '{"a": 1}');
--> ERROR 0A000: could not determine row type for result of json_populate_record
select json_populate_record(null, '{"a": 1}');
--> ERROR 42804: could not determine polymorphic type because input has type unknown
select json_populate_record(1, '{"a": 1}');
--> ERROR 42804: first argument of json_populate_record must be a row type
select jsonb_populate_recordset(null::int, '[]');
--> ERROR 42804: first argument of jsonb_populate_recordset must be a row type
select * from json_populate_record(row(1, 2), '{"f1": 3}');
--> ERROR 42601: a column definition list is required for functions returning "record"
select * from jsonb_populate_recordset(row(1, 2), '[]') q;
--> ERROR 42601: a column definition list is required for functions returning "record"
select * from json_populate_record(row(1, 'x'::text), '{"f1": 3, "a": 4}') as t(a int, b text);
--> a | b
--> 3 | x
select * from json_populate_record(row(1, 'x'::text), '{"f1": 3}') as t(a int, b int);
--> ERROR 42804: function return row and query-specified return row do not match
select * from json_populate_recordset(row(1, 'x'::text), '[{"f1": 3}]') as t(a int, b text, c text);
--> ERROR 42804: function return row and query-specified return row do not match
-- Rows with fields of the same types have a common type, also with NULL, and can be compared.
select coalesce(null, row(1, 'x')), case when false then row(1) end, array[row(1), null];
--> coalesce | case | array
--> (1,x) | NULL | {(1),NULL}
values (row(1, 2)), (row(1, 1)), (null);
--> column1
--> (1,2)
--> (1,1)
--> NULL
select x from (values (row(1, 2)), (row(1, 1)), (null)) v(x) order by x;
--> x
--> (1,1)
--> (1,2)
--> NULL
select x, count(*) from (values (row(1, 2)), (row(1, 2)), (null)) v(x) group by x order by x;
--> x | count
--> (1,2) | 2
--> NULL | 1
select row(1, 'x') union all select row(2, 'y') order by 1 desc;
--> row
--> (2,y)
--> (1,x)
select row(1) union select row(1);
--> row
--> (1)
select row(1) union all select null;
--> row
--> (1)
--> NULL
with recursive r(a) as (select row(1) union all select row(2) from r where false) select a from r;
--> a
--> (1)
select row(1) = null, nullif(row(1), row(1)), nullif(row(1), null), row(1) in (row(1), null);
--> ?column? | nullif | nullif | ?column?
--> NULL | NULL | (1) | t
select x = y, x < y, x is distinct from y, x = null::record from (values (row(1, 2), row(1, 3))) v(x, y);
--> ?column? | ?column? | ?column? | ?column?
--> f | t | t | NULL
select count(*) from (values (row(1))) a(x) join (values (row(1))) b(x) on a.x = b.x;
--> count
--> 1
