-- Several sessions at one queue.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.post('q', hstore('n', n::text)) is not null as posted from generate_series(1, 4) n;
--> posted
--> t
--> t
--> t
--> t
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"1"
-- session b
select data from mbus4.consume('q');
--> data
--> "n"=>"2"
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"3"
-- session c
select data from mbus4.consume('q');
--> data
--> "n"=>"4"
select data from mbus4.consume('q');
--> data
--> (0 rows)
select mbus4.peek_q();
--> peek_q
--> t
-- session b
rollback;
--> ROLLBACK
-- session c
select data from mbus4.consume('q');
--> data
--> "n"=>"3"
select data from mbus4.consume('q');
--> data
--> (0 rows)
-- session a
commit;
--> COMMIT
select mbus4.peek_q();
--> peek_q
--> f
-- what is posted is there for others at commit
begin;
--> BEGIN
select mbus4.post('q', 'n=>5');
--> post
--> q.<1>
-- session b
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select mbus4.peek_q();
--> peek_q
--> f
-- session a
commit;
--> COMMIT
-- session b
select data from mbus4.consume('q');
--> data
--> "n"=>"5"
-- a session that ends without commit
select mbus4.post('q', 'n=>6');
--> post
--> q.<2>
-- session d
begin;
--> BEGIN
select mbus4.post('q', 'n=>lost');
--> post
--> q.<3>
select data from mbus4.consume('q');
--> data
--> "n"=>"6"
select data from mbus4.consume('q');
--> data
--> "n"=>"lost"
-- session a
select data from mbus4.consume('q');
--> data
--> (0 rows)
-- close d
select pg_sleep(0.3);
--> pg_sleep
-->
select data from mbus4.consume('q');
--> data
--> "n"=>"6"
select data from mbus4.consume('q');
--> data
--> (0 rows)
-- the same message for two subscribers at once
select mbus4.create_consumer('q', 'other');
--> create_consumer
-->
select mbus4.post('q', 'n=>7');
--> post
--> q.<4>
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"7"
-- session b
select data from mbus4.consume('q');
--> data
--> (0 rows)
select data from mbus4.consume('q', 'other');
--> data
--> "n"=>"7"
-- session a
commit;
--> COMMIT
select data from mbus4.consume('q', 'other');
--> data
--> (0 rows)
-- consumen skips what others hold
select mbus4.post('q', hstore('n', n::text)) is not null as posted from generate_series(1, 6) n;
--> posted
--> t
--> t
--> t
--> t
--> t
--> t
begin;
--> BEGIN
select data->'n' as n from mbus4.consumen_q_by_default(2);
--> n
--> 1
--> 2
-- session b
begin;
--> BEGIN
select data->'n' as n from mbus4.consumen_q_by_default(2);
--> n
--> 3
--> 4
-- session c
select data->'n' as n from mbus4.consumen_q_by_default(1);
--> n
--> 5
-- session a
rollback;
--> ROLLBACK
-- session c
select data->'n' as n from mbus4.consumen_q_by_default(10);
--> n
--> 1
--> 2
--> 6
-- session b
commit;
--> COMMIT
-- session c
select data->'n' as n from mbus4.consumen_q_by_default(10);
--> n
--> (0 rows)
