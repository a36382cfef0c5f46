select mbus4.create_queue('with_psql', 64);
select mbus4.post('with_psql', 'k=>1');
begin;
select data, 'default' from mbus4.consume('with_psql');
rollback;
\set ON_ERROR_STOP 0
begin;
select 1/0;
\echo :ERROR :LAST_ERROR_SQLSTATE :LAST_ERROR_MESSAGE
select 1;
\echo :LAST_ERROR_SQLSTATE
rollback;
select * frm x;
\echo :LAST_ERROR_SQLSTATE
\set ON_ERROR_STOP 1
select count(*) from mbus4.consume('with_psql');
prepare p (int, text) as select $1, $2;
execute p(1, 'x');
execute p(2, 'y');
select 'x' as v \gset
\echo :v
begin;
declare c cursor for select generate_series(1, 5);
move 2 in c;
fetch 1 from c;
close c;
commit;
set datestyle to 'German';
show datestyle;
reset datestyle;
select count(*) from (values (1), (2)) v(i);
\set FETCH_COUNT 3
select generate_series(1, 7);
select 1 as a, 'x' as b \gdesc
select mbus4.create_view('with_psql');
copy with_psql_q from stdin;
n=>1
n=>2
\.
\copy (select data->'n' from mbus4.consumen_with_psql_by_default(10)) to pstdout csv header
copy (select 1, null, 'a b') to stdout (delimiter ' ');
select mbus4.drop_queue('with_psql');
