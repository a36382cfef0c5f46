-- Ordinary SQL, as drivers and people use it beside the functions of mbus4.
select 1;
--> ?column?
--> 1
select 1 as one, 'two' as two, null as nothing;
--> one | two | nothing
--> 1 | two | NULL
select 1, 2;
--> ?column? | ?column?
--> 1 | 2
select;
-->
-->
select current_database(), current_user, session_user = 'guest' as guest;
--> current_database | current_user | guest
--> drivers | guest | t
select version() like 'PostgreSQL %' as postgresql, current_setting('server_version_num')::int >= 150000 as new_enough;
--> postgresql | new_enough
--> t | t
show server_encoding;
--> server_encoding
--> UTF8
show standard_conforming_strings;
--> standard_conforming_strings
--> on
set application_name = 'conformance';
--> SET
show application_name;
--> application_name
--> conformance
select current_setting('application_name');
--> current_setting
--> conformance
set statement_timeout = '5s';
--> SET
show statement_timeout;
--> statement_timeout
--> 5s
reset statement_timeout;
--> RESET
set no_such_setting = 1;
--> ERROR 42704: unrecognized configuration parameter "no_such_setting"
set my.own = 'x';
--> SET
select current_setting('my.own'), current_setting('my.other', true);
--> current_setting | current_setting
--> x | NULL
set timezone = 'Europe/Moscow';
--> SET
select '2024-01-02 03:04:05+00'::timestamptz;
--> timestamptz
--> 2024-01-02 06:04:05+03
set timezone = 'UTC';
--> SET
select '2024-01-02 03:04:05+00'::timestamptz at time zone 'America/New_York';
--> timezone
--> 2024-01-01 22:04:05
select 7 / 2, 7 / 2.0, 7 % 3, 2 ^ 10, -5 / 2;
--> ?column? | ?column? | ?column? | ?column? | ?column?
--> 3 | 3.5000000000000000 | 1 | 1024 | -2
select 1 / 0;
--> ERROR 22012: division by zero
select '12'::int + '3'::bigint, '1.50'::numeric, 'x' || 1, true and not false;
--> ?column? | numeric | ?column? | ?column?
--> 15 | 1.50 | x1 | t
select cast('2024-02-29' as date) + 1, '2024-02-29'::timestamp + interval '1 year 2 hours';
--> ?column? | ?column?
--> 2024-03-01 | 2025-02-28 02:00:00
select 'abc'::int;
--> ERROR 22P02: invalid input syntax for type integer: "abc"
select 2147483647 + 1;
--> ERROR 22003: integer out of range
select 9223372036854775807 + 1;
--> ERROR 22003: bigint out of range
select nothing;
--> ERROR 42703: column "nothing" does not exist
select * from no_such_table;
--> ERROR 42P01: relation "no_such_table" does not exist
selec 1;
--> ERROR 42601: syntax error at or near "selec"
select 'unfinished;
--> ERROR 42601: unterminated quoted string at or near "'unfinished;"
select (1;
--> ERROR 42601: syntax error at or near ";"
select no_such_function(1);
--> ERROR 42883: function no_such_function(integer) does not exist
select length('héllo'), upper('abc'), substr('abcdef', 2, 3), 'abc' like 'a%', coalesce(null, 'x'), nullif(1, 1);
--> length | upper | substr | ?column? | coalesce | nullif
--> 5 | ABC | bcd | t | x | NULL
select case when 1 > 2 then 'a' else 'b' end, greatest(1, 3, 2), array[1, 2, 3], array['a', null, 'b c'], '{1,2}'::int[];
--> case | greatest | array | array | int4
--> b | 3 | {1,2,3} | {a,NULL,"b c"} | {1,2}
select n from generate_series(1, 3) as n;
--> n
--> 1
--> 2
--> 3
select n * 2 as double from generate_series(3, 1, -1) n order by double limit 2;
--> double
--> 2
--> 4
select count(*), sum(n), min(n), max(n), avg(n)::numeric(10, 2) from generate_series(1, 10) n;
--> count | sum | min | max | avg
--> 10 | 55 | 1 | 10 | 5.50
select n % 3 as k, count(*) from generate_series(1, 10) n group by k order by k;
--> k | count
--> 0 | 3
--> 1 | 4
--> 2 | 3
select x from (values (3), (1), (2)) as v(x) where x <> 2 order by x desc;
--> x
--> 3
--> 1
select * from (select 1 as a) t, (select 2 as b) u;
--> a | b
--> 1 | 2
select exists (select 1), 1 in (1, 2), 3 = any(array[1, 2, 3]), (select 5);
--> exists | ?column? | ?column? | ?column?
--> t | t | t | 5
select n from generate_series(1, 10) n order by n offset 3 limit 2;
--> n
--> 4
--> 5
select string_agg(n::text, ',' order by n desc) from generate_series(1, 4) n;
--> string_agg
--> 4,3,2,1
select distinct n / 2 as h from generate_series(0, 5) n order by h;
--> h
--> 0
--> 1
--> 2
select 1 union select 2 union all select 2 order by 1;
--> ?column?
--> 1
--> 2
--> 2
values (1, 'a'), (2, 'b');
--> column1 | column2
--> 1 | a
--> 2 | b
-- hstore
select 'a=>1, b=>NULL'::hstore;
--> hstore
--> "a"=>"1", "b"=>NULL
select 'a=>1'::hstore -> 'a', 'a=>1'::hstore -> 'b', 'a=>1,b=>2'::hstore -> array['b', 'a'];
--> ?column? | ?column? | ?column?
--> 1 | NULL | {2,1}
select 'a=>1'::hstore || 'b=>2', 'a=>1,b=>2'::hstore - 'a'::text, 'a=>1,b=>2'::hstore - array['a', 'b'];
--> ?column? | ?column? | ?column?
--> "a"=>"1", "b"=>"2" | "b"=>"2" |
select 'a=>1'::hstore ? 'a', 'a=>1'::hstore ?& array['a', 'b'], 'a=>1'::hstore ?| array['a', 'b'];
--> ?column? | ?column? | ?column?
--> t | f | t
select 'a=>1,b=>2'::hstore @> 'a=>1', 'a=>1'::hstore <@ 'a=>1,b=>2'::hstore;
--> ?column? | ?column?
--> t | t
select hstore('k', null), hstore(array['a', '1', 'b', '2']), hstore(array['a', 'b'], array['1', '2']);
--> hstore | hstore | hstore
--> "k"=>NULL | "a"=>"1", "b"=>"2" | "a"=>"1", "b"=>"2"
select akeys('b=>1,a=>2'), avals('b=>1,a=>2'), exist('a=>1', 'a'), defined('a=>NULL', 'a'), delete('a=>1,b=>2'::hstore, 'a');
--> akeys | avals | exist | defined | delete
--> {a,b} | {2,1} | t | f | "b"=>"2"
select * from each('a=>1, b=>NULL');
--> key | value
--> a | 1
--> b | NULL
select k, v from each('x=>1'::hstore) as e(k, v);
--> k | v
--> x | 1
select skeys('b=>1,a=>2');
--> skeys
--> a
--> b
select hstore_to_json('a=>1, b=>NULL'), slice('a=>1,b=>2', array['a']);
--> hstore_to_json | slice
--> {"a": "1", "b": null} | "a"=>"1"
select 'a=>'::hstore;
--> ERROR XX000: Unexpected end of string
select '"a"=>"1" "b"=>"2"'::hstore;
--> ERROR XX000: Syntax error near """ at position 9
select 'a=>1'::hstore = 'a => "1"'::hstore, hstore('a', 'ü')::text, '"q\"uote"=>"back\\slash"'::hstore;
--> ?column? | hstore | hstore
--> t | "a"=>"ü" | "q\"uote"=>"back\\slash"
-- prepared statements
prepare p (text, int) as select $1 || '!', $2 + 1;
--> PREPARE
execute p ('hi', 41);
--> ?column? | ?column?
--> hi! | 42
execute p ('hi');
--> ERROR 42601: wrong number of parameters for prepared statement "p"
prepare p as select 1;
--> ERROR 42P05: prepared statement "p" already exists
prepare untyped as select $1::int * 2;
--> PREPARE
execute untyped (21);
--> ?column?
--> 42
deallocate p;
--> DEALLOCATE
execute p ('hi', 1);
--> ERROR 26000: prepared statement "p" does not exist
deallocate all;
--> DEALLOCATE ALL
deallocate p;
--> ERROR 26000: prepared statement "p" does not exist
-- cursors
begin;
--> BEGIN
declare c cursor for select n from generate_series(1, 5) n;
--> DECLARE CURSOR
fetch 2 from c;
--> n
--> 1
--> 2
fetch next from c;
--> n
--> 3
fetch all c;
--> n
--> 4
--> 5
fetch c;
--> n
--> (0 rows)
close c;
--> CLOSE CURSOR
fetch c;
--> ERROR 34000: cursor "c" does not exist
rollback;
--> ROLLBACK
begin;
--> BEGIN
declare s scroll cursor for select n from generate_series(1, 3) n;
--> DECLARE CURSOR
fetch last from s;
--> n
--> 3
fetch prior from s;
--> n
--> 2
fetch absolute 1 from s;
--> n
--> 1
move forward 1 from s;
--> MOVE 1
fetch relative 1 from s;
--> n
--> 3
close all;
--> CLOSE CURSOR ALL
commit;
--> COMMIT
declare outside cursor for select 1;
--> ERROR 25P01: DECLARE CURSOR can only be used in transaction blocks
close nothing;
--> ERROR 34000: cursor "nothing" does not exist
-- other statements
discard all;
--> DISCARD ALL
begin;
--> BEGIN
select 1/0;
--> ERROR 22012: division by zero
select 1;
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
rollback;
--> ROLLBACK
