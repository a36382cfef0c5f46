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
