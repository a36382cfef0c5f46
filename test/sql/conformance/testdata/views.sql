-- Views for ordinary users.
select mbus4.create_queue('orders', 8);
--> create_queue
-->
select mbus4.create_queue('bills', 8);
--> create_queue
-->
select mbus4.create_consumer('orders', 'second', null);
--> create_consumer
-->
select mbus4.create_view('orders');
--> create_view
-->
insert into orders_q (data) values ('n=>1');
--> INSERT 0 1
insert into public.orders_q values ('n=>2'), (hstore('n', '3'));
--> INSERT 0 2
select data from mbus4.messages('orders');
--> data
--> "n"=>"1"
--> "n"=>"2"
--> "n"=>"3"
select * from orders_q;
--> data
--> "n"=>"1"
select data->'n' as n from public.orders_q;
--> n
--> 2
-- a view takes one at a time
select * from orders_q;
--> data
--> "n"=>"3"
select count(*) from orders_q;
--> count
--> 0
insert into orders_q (data) select hstore('n', n::text) from generate_series(4, 6) n;
--> INSERT 0 3
select count(*) from mbus4.messages('orders');
--> count
--> 3
insert into orders_q (data) values ('n=>7') returning data;
--> data
--> "n"=>"7"
begin;
--> BEGIN
insert into orders_q (data) values ('n=>lost');
--> INSERT 0 1
rollback;
--> ROLLBACK
begin;
--> BEGIN
select * from orders_q;
--> data
--> "n"=>"4"
rollback;
--> ROLLBACK
select data->'n' as n from mbus4.consumen_orders_by_default(10);
--> n
--> 4
--> 5
--> 6
--> 7
select data->'n' as n from mbus4.consumen_orders_by_second(10);
--> n
--> 1
--> 2
--> 3
--> 4
--> 5
--> 6
--> 7
-- names
select mbus4.create_view('orders', 'second', 'public', 'second_orders');
--> create_view
-->
select mbus4.create_view(qname := 'bills', viewname := 'b');
--> create_view
-->
select mbus4.create_view('orders');
--> ERROR 42P07: relation "orders_q" already exists
select mbus4.create_view('none');
--> ERROR P0001: Queue none does not exists
select mbus4.create_view('orders', 'none', 'public', 'v');
--> ERROR P0001: unknown consumer:none
select mbus4.create_view('orders', 'default', 'noschema', 'v');
--> ERROR 3F000: schema "noschema" does not exist
insert into orders_q values ('n=>8');
--> INSERT 0 1
select * from second_orders;
--> data
--> "n"=>"8"
select * from second_orders;
--> data
--> (0 rows)
select * from orders_q;
--> data
--> "n"=>"8"
insert into b values ('n=>1');
--> INSERT 0 1
select * from b where data ? 'n';
--> data
--> "n"=>"1"
-- with properties, delay and expiry
select mbus4.create_view_prop('bills', 'default', 'public', 'bp');
--> create_view_prop
-->
insert into bp (data, properties) values ('n=>2', 'p=>2');
--> INSERT 0 1
select * from bp;
--> data | properties
--> "n"=>"2" | "p"=>"2"
select mbus4.create_view_prop('bills', 'default', 'public', 'bd', true);
--> create_view_prop
-->
insert into bd (data, delayed_until) values ('n=>3', '2101-01-01');
--> INSERT 0 1
select * from bd;
--> data | properties | delayed_until
--> (0 rows)
select delayed_until, data from mbus4.messages('bills');
--> delayed_until | data
--> 2101-01-01 00:00:00 | "n"=>"3"
select mbus4.create_view_prop('bills', 'default', 'public', 'be', with_expire := true);
--> create_view_prop
-->
insert into be (data, properties, expires) values ('n=>4', null, '2101-01-01');
--> INSERT 0 1
select * from be;
--> data | properties | expires
--> "n"=>"4" | NULL | 2101-01-01 00:00:00
select mbus4.create_view_prop('bills', 'default', 'public', 'bb', true, true);
--> create_view_prop
-->
insert into bb values ('n=>5', 'p=>5', '2001-01-01', '2101-01-01');
--> INSERT 0 1
select data, properties, delayed_until, expires from bb;
--> data | properties | delayed_until | expires
--> "n"=>"5" | "p"=>"5" | 2001-01-01 00:00:00 | 2101-01-01 00:00:00
insert into orders_q (data, properties) values ('n=>1', 'p=>1');
--> ERROR 42703: column "properties" of relation "orders_q" does not exist
insert into orders_q (data) values ('no hstore');
--> ERROR XX000: Syntax error near "h" at position 3
-- what cannot be done with them
update orders_q set data = 'n=>9';
--> ERROR 55000: cannot update view "orders_q"
delete from orders_q;
--> ERROR 55000: cannot delete from view "orders_q"
-- rights
-- session app as app
select * from orders_q;
--> ERROR 42501: permission denied for view orders_q
insert into orders_q values ('n=>10');
--> ERROR 42501: permission denied for view orders_q
-- session a
grant insert on orders_q to app;
--> GRANT
-- session app
insert into orders_q values ('n=>11');
--> INSERT 0 1
select * from orders_q;
--> ERROR 42501: permission denied for view orders_q
-- session a
grant select on public.orders_q to app, other;
--> GRANT
-- session app
select * from orders_q;
--> data
--> "n"=>"11"
-- session other as other
select * from orders_q;
--> data
--> (0 rows)
insert into orders_q values ('n=>12');
--> ERROR 42501: permission denied for view orders_q
-- session a
revoke all on orders_q from app;
--> REVOKE
-- session app
insert into orders_q values ('n=>13');
--> ERROR 42501: permission denied for view orders_q
select * from orders_q;
--> ERROR 42501: permission denied for view orders_q
-- session a
grant all on orders_q to app;
--> GRANT
revoke insert on orders_q from app;
--> REVOKE
-- session app
insert into orders_q values ('n=>14');
--> ERROR 42501: permission denied for view orders_q
select * from orders_q;
--> data
--> (0 rows)
-- session a
grant select on orders_q to nobody_known;
--> ERROR 42704: role "nobody_known" does not exist
grant select on no_such_view to app;
--> ERROR 42P01: relation "no_such_view" does not exist
-- a view goes with its queue
select mbus4.drop_queue('orders');
--> drop_queue
-->
select * from orders_q;
--> ERROR 42P01: relation "orders_q" does not exist
select * from second_orders;
--> ERROR 42P01: relation "second_orders" does not exist
insert into orders_q values ('n=>15');
--> ERROR 42P01: relation "orders_q" does not exist
select * from b;
--> data
--> (0 rows)
