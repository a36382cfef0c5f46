-- How many messages a statement takes.
select mbus4.create_queue('orders', 8);
--> create_queue
-->
select mbus4.create_view('orders');
--> create_view
-->
insert into orders_q (data) select hstore('n', n::text) from generate_series(1, 40) n;
--> INSERT 0 40
-- a view in a sub-select is read once, however many rows ask
select g, (select count(*) from orders_q where (data->'n')::int = g) from generate_series(1, 3) g;
--> g | count
--> 1 | 1
--> 2 | 0
--> 3 | 0
select g, m.data from generate_series(1, 3) g, lateral (select data from orders_q where (data->'n')::int >= g) m order by g;
--> g | data
--> 1 | "n"=>"2"
--> 2 | "n"=>"2"
select g from generate_series(1, 3) g where exists (select from orders_q where (data->'n')::int = g + 1);
--> g
--> 2
select g, (select string_agg(data->'n', ' ') from mbus4.consume('orders') where g > 1) from generate_series(1, 3) g;
--> g | string_agg
--> 1 | NULL
--> 2 | 4
--> 3 | 4
select g, (select data->'n' from mbus4.consume('orders') limit g) from generate_series(1, 2) g;
--> g | ?column?
--> 1 | 5
--> 2 | 5
-- but for each row on which an argument depends
select q, (select data->'n' from mbus4.consume(q)) as n from unnest(array['orders', 'orders']) q;
--> q | n
--> orders | 6
--> orders | 7
select count(*) from mbus4.messages('orders');
--> count
--> 33
-- a condition in a sub-select that has a sub-select
select data from orders_q where data in (select data from orders_q where (select false));
--> data
--> (0 rows)
select * from (select 1 as one where not exists (select)) s, orders_q;
--> one | data
--> (0 rows)
select count(*) from mbus4.messages('orders');
--> count
--> 33
-- cursors take when they are read
begin;
--> BEGIN
declare c cursor for select data from orders_q;
--> DECLARE CURSOR
select count(*) from mbus4.messages('orders');
--> count
--> 33
fetch 3 from c;
--> data
--> "n"=>"8"
fetch 3 from c;
--> data
--> (0 rows)
close c;
--> CLOSE CURSOR
select count(*) from mbus4.messages('orders');
--> count
--> 32
rollback;
--> ROLLBACK
select count(*) from mbus4.messages('orders');
--> count
--> 33
begin;
--> BEGIN
declare c cursor for select data->'n' as n from mbus4.consumen_orders_by_default(5);
--> DECLARE CURSOR
declare never cursor for select data from orders_q;
--> DECLARE CURSOR
fetch 2 from c;
--> n
--> 8
--> 9
commit;
--> COMMIT
select count(*) from mbus4.messages('orders');
--> count
--> 28
begin;
--> BEGIN
declare c cursor for select n, (select data->'n' from mbus4.consume('orders' || left(n::text, 0))) as m from generate_series(1, 5) n;
--> DECLARE CURSOR
fetch 2 from c;
--> n | m
--> 1 | 13
--> 2 | 14
move 1 from c;
--> MOVE 1
close c;
--> CLOSE CURSOR
commit;
--> COMMIT
select count(*) from mbus4.messages('orders');
--> count
--> 25
begin;
--> BEGIN
declare c cursor with hold for select data->'n' as n from orders_q;
--> DECLARE CURSOR
commit;
--> COMMIT
select count(*) from mbus4.messages('orders');
--> count
--> 24
fetch all from c;
--> n
--> 16
close c;
--> CLOSE CURSOR
begin;
--> BEGIN
declare c scroll cursor for select data->'n' as n from orders_q;
--> DECLARE CURSOR
fetch all from c;
--> n
--> 17
fetch backward all from c;
--> n
--> 17
fetch all from c;
--> n
--> 17
commit;
--> COMMIT
select count(*) from mbus4.messages('orders');
--> count
--> 23
-- prepared statements take when they are executed
prepare p as select data->'n' as n from orders_q;
--> PREPARE
select count(*) from mbus4.messages('orders');
--> count
--> 23
execute p;
--> n
--> 18
execute p;
--> n
--> 19
prepare q(int) as select g, (select data->'n' from orders_q where g > $1) as n from generate_series(1, 2) g;
--> PREPARE
execute q(0);
--> g | n
--> 1 | 20
--> 2 | 20
execute q(7);
--> g | n
--> 1 | NULL
--> 2 | NULL
select count(*) from mbus4.messages('orders');
--> count
--> 20
-- what is inserted comes once
insert into orders_q select 'copy=>1' || data from orders_q;
--> INSERT 0 1
insert into orders_q (data) select hstore('again', n::text) from (select count(*) as n from mbus4.consumen_orders_by_default(3)) s;
--> INSERT 0 1
select data from mbus4.messages('orders') where not data ? 'n' or data ? 'copy';
--> data
--> "n"=>"21", "copy"=>"1"
--> "again"=>"3"
select count(*) from mbus4.messages('orders');
--> count
--> 18
deallocate all;
--> DEALLOCATE ALL
