-- The members and elements of JSON documents as rows.
select * from json_each('{"b": 1.0, "a" :[ 1, 2], "b":{ "x":  "\u0041"}, "n": null}');
--> key | value
--> b | 1.0
--> a | [ 1, 2]
--> b | { "x":  "\u0041"}
--> n | null
select * from jsonb_each('{"b": 1.0, "a" :[ 1, 2], "n": null}');
--> key | value
--> a | [1, 2]
--> b | 1.0
--> n | null
select * from json_each_text('{"\u0041": 1e1000000, "a" :[ 1, 2], "b":"\u0041", "n": null}');
--> key | value
--> A | 1e1000000
--> a | [ 1, 2]
--> b | A
--> n | NULL
select * from jsonb_each_text('{"b": -1.50, "a" :"x", "n": null}');
--> key | value
--> a | x
--> b | -1.50
--> n | NULL
select json_object_keys('{"b": 1, "\ud83d\ude00": 2, "b": 3}');
--> json_object_keys
--> b
--> 😀
--> b
select jsonb_object_keys('{"bb": 1, "a": 2, "bb": 3}');
--> jsonb_object_keys
--> a
--> bb
select value from json_array_elements('[1.0, "\u0041",{ "a":1 }]');
--> value
--> 1.0
--> "\u0041"
--> { "a":1 }
select * from json_each('[1]');
--> ERROR 22023: cannot deconstruct an array as an object
select * from json_each_text('1');
--> ERROR 22023: cannot deconstruct a scalar
select * from jsonb_each('[1]');
--> ERROR 22023: cannot call jsonb_each on a non-object
select * from jsonb_each_text('1');
--> ERROR 22023: cannot call jsonb_each_text on a non-object
select json_object_keys('[1]');
--> ERROR 22023: cannot call json_object_keys on an array
select jsonb_object_keys('1');
--> ERROR 22023: cannot call jsonb_object_keys on a scalar
select * from json_array_elements('{}');
--> ERROR 22023: cannot call json_array_elements on a non-array
select * from json_array_elements_text('1');
--> ERROR 22023: cannot call json_array_elements_text on a scalar
select * from jsonb_array_elements('{}');
--> ERROR 22023: cannot extract elements from an object
select * from jsonb_array_elements_text('"a"');
--> ERROR 22023: cannot extract elements from a scalar
select pg_get_function_arguments(oid), pg_get_function_identity_arguments(oid), pg_get_function_result(oid), proargmodes, proargnames from pg_proc where proname = 'json_each_text';
--> pg_get_function_arguments | pg_get_function_identity_arguments | pg_get_function_result | proargmodes | proargnames
--> from_json json, OUT key text, OUT value text | from_json json, OUT key text, OUT value text | SETOF record | {i,o,o} | {from_json,key,value}
select pg_get_function_arguments(oid), pg_get_function_result(oid), proargmodes from pg_proc where proname = 'json_array_elements' and pronamespace = 'pg_catalog'::regnamespace;
--> pg_get_function_arguments | pg_get_function_result | proargmodes
--> from_json json, OUT value json | SETOF json | {i,o}
-- A row is not NULL because all its columns are, unless an outer join did not find it
select row_to_json(t) from (select null::int as x) t;
--> row_to_json
--> {"x":null}
select count(t), json_agg(t) from (select null::int as x) t;
--> count | json_agg
--> 1 | [{"x":null}]
select t is null as empty, t from (select null::int as x) t;
--> empty | t
--> t | ()
select row_to_json(t), row_to_json(u), u from (select 1 as a) t left join (select null::int as x) u on false;
--> row_to_json | row_to_json | u
--> {"a":1} | NULL | NULL
select row_to_json(t), row_to_json(u) from (select 1 as a) t right join (select null::int as x) u on false;
--> row_to_json | row_to_json
--> NULL | {"x":null}
select row_to_json(t), row_to_json(u) from (select 1 as a) t join (select null::int as x) u on true;
--> row_to_json | row_to_json
--> {"a":1} | {"x":null}
-- Objects from rows, arrays and arguments.
select json_object_agg(k, v), jsonb_object_agg(k, v) from (values ('b', 1), ('a', 2), ('b', null)) t(k, v);
--> json_object_agg | jsonb_object_agg
--> { "b" : 1, "a" : 2, "b" : null } | {"a": 2, "b": null}
select json_object_agg(n, n) filter (where n > 5) from generate_series(1, 3) n;
--> json_object_agg
--> NULL
select json_build_object(true, 1, 2.50, null, date '2024-02-29', 'x', 'a'::name, 3), jsonb_build_object(false, 1, 1e2::float8, 2);
--> json_build_object | jsonb_build_object
--> {"true" : 1, "2.50" : null, "2024-02-29" : "x", "a" : 3} | {"100": 2, "false": 1}
select json_build_object(array[1], 1);
--> ERROR 22023: key value must be scalar, not array, composite, or json
select json_build_object('{}'::jsonb, 1);
--> ERROR 22023: key value must be scalar, not array, composite, or json
select jsonb_object('{b,1,a,NULL}'), json_object('{{b,1},{a,2}}'), jsonb_object('{b,a}', '{1,2}');
--> jsonb_object | json_object | jsonb_object
--> {"a": null, "b": "1"} | {"b" : "1", "a" : "2"} | {"a": "2", "b": "1"}
select jsonb_object('{b,1,a}');
--> ERROR 2202E: array must have even number of elements
-- What a jsonb contains.
select '{"a": 1, "b": [1, {"c": 2}]}'::jsonb @> '{"b": [{"c": 2.0}]}', '[1, [2]]'::jsonb @> '[[2]]', '[1]'::jsonb @> '1', '1'::jsonb @> '[1]', '{}'::jsonb <@ '{"a": 1}';
--> ?column? | ?column? | ?column? | ?column? | ?column?
--> t | t | t | f | t
select '{"a": 1}'::jsonb ? 'a', '["a"]'::jsonb ? 'a', '"a"'::jsonb ? 'a', '{"a": 1}'::jsonb ?| '{b,a}', '{"a": 1}'::jsonb ?& '{b,a}', '{}'::jsonb ?& '{}';
--> ?column? | ?column? | ?column? | ?column? | ?column? | ?column?
--> t | t | t | t | f | t
-- Changes of a jsonb.
select '{"a": 1, "b": 2}'::jsonb || '{"b": 3, "c": 4}', '[1]'::jsonb || '2', '{"a": 1}'::jsonb || '[]', '1'::jsonb || '{"a": 1}', '[]'::jsonb || '{}';
--> ?column? | ?column? | ?column? | ?column? | ?column?
--> {"a": 1, "b": 3, "c": 4} | [1, 2] | [{"a": 1}] | [1, {"a": 1}] | [{}]
select '{"a": 1, "b": 2}'::jsonb - 'b', '["a", 1, "a"]'::jsonb - 'a', '[1, 2, 3]'::jsonb - -1, '{"a": 1, "b": 2}'::jsonb - '{b,x}'::text[];
--> ?column? | ?column? | ?column? | ?column?
--> {"a": 1} | [1] | [1, 2] | {"a": 1}
select '{"a": [1, {"b": 2}]}'::jsonb #- '{a,-1,b}', '[1, 2]'::jsonb #- '{7}';
--> ?column? | ?column?
--> {"a": [1, {}]} | [1, 2]
select '{"a": 1}'::jsonb - 0;
--> ERROR 22023: cannot delete from object using integer index
select '1'::jsonb - 'a';
--> ERROR 22023: cannot delete from scalar
select jsonb_set('{"a": [1, 2]}', '{a,0}', '"x"'), jsonb_set('{"a": [1, 2]}', '{a,9}', '3'), jsonb_set('{"a": 1}', '{b}', '2', false), jsonb_set('{"a": 1}', '{b,c}', '2');
--> jsonb_set | jsonb_set | jsonb_set | jsonb_set
--> {"a": ["x", 2]} | {"a": [1, 2, 3]} | {"a": 1} | {"a": 1}
select jsonb_insert('{"a": [1, 2]}', '{a,1}', '9'), jsonb_insert('{"a": [1, 2]}', '{a,1}', '9', true);
--> jsonb_insert | jsonb_insert
--> {"a": [1, 9, 2]} | {"a": [1, 2, 9]}
select jsonb_insert('{"a": 1}', '{a}', '2');
--> ERROR 22023: cannot replace existing key
select jsonb_set('[1]', '{x}', '2');
--> ERROR 22P02: path element at position 1 is not an integer: "x"
select jsonb_set('1', '{a}', '2');
--> ERROR 22023: cannot set path in scalar
select jsonb_set_lax('{"a": 1}', '{a}', null), jsonb_set_lax('{"a": 1}', '{a}', null, true, 'delete_key'), jsonb_set_lax('{"a": 1}', '{a}', null, true, 'return_target');
--> jsonb_set_lax | jsonb_set_lax | jsonb_set_lax
--> {"a": null} | {} | {"a": 1}
select jsonb_set_lax('{"a": 1}', '{a}', null, true, 'raise_exception');
--> ERROR 22004: JSON value must not be null
select jsonb_strip_nulls('{"a": null, "b": {"c": null, "d": [null]}}'), json_strip_nulls('{"b" : 1.50, "a": null, "b": [ null, {"c": null} ]}');
--> jsonb_strip_nulls | json_strip_nulls
--> {"b": {"d": [null]}} | {"b":1.50,"b":[null,{}]}
select jsonb_pretty('{"a": [1, {"b": null}], "c": {}}');
--> jsonb_pretty
--> {\n    "a": [\n        1,\n        {\n            "b": null\n        }\n    ],\n    "c": {\n    }\n}
-- Messages chosen by their content.
select mbus4.create_queue('documents', 8);
--> create_queue
-->
select count(mbus4.post('documents', hstore('data', jsonb_build_object('n', n, 'tags', array['t' || n])::text))) from generate_series(1, 3) n;
--> count
--> 3
select (data->'data')::jsonb #- '{tags,0}' from mbus4.messages('documents') where (data->'data')::jsonb @> '{"tags": ["t2"]}';
--> ?column?
--> {"n": 2, "tags": []}
