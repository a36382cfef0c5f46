-- consume with a selector of the moment, and how much is there.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.create_consumer('q', 'c', null);
--> create_consumer
-->
select count(mbus4.post('q', hstore('n', n::text) || hstore('odd', (n % 2 = 1)::text))) from generate_series(1, 8) n;
--> count
--> 8
select data->'n' as n from mbus4.dyn_consume('q');
--> n
--> 1
select data->'n' as n from mbus4.dyn_consume('q', $$t.data->'odd' = 'false'$$);
--> n
--> 2
select data->'n' as n from mbus4.dyn_consume('q', $$(t.data->'n')::int > 6$$, 'default');
--> n
--> 7
select data->'n' as n, headers->'destination' as destination from mbus4.dyn_consume(cname := 'c', qname := 'q', selector := $$t.data->'n' = '8'$$);
--> n | destination
--> 8 | q
select data->'n' as n from mbus4.dyn_consume('q', 'false');
--> n
--> (0 rows)
select data->'n' as n from mbus4.dyn_consume('q', null);
--> n
--> 3
select data->'n' as n from mbus4.dyn_consume('q', '');
--> n
--> 4
select data->'n' as n from mbus4.dyn_consume('q', cname => 'c');
--> n
--> 1
-- here the moment may matter
select data->'n' as n from mbus4.dyn_consume('q', 't.added < now()');
--> n
--> 5
select data->'n' as n from mbus4.dyn_consume('q', 't.added > now()');
--> n
--> (0 rows)
select data->'n' as n from mbus4.messages('q');
--> n
--> 6
--> 8
select data->'n' as n from mbus4.messages('q', 'c') limit 2;
--> n
--> 2
--> 3
select mbus4.estimated_messages('q');
--> estimated_messages
--> 2
-- errors
select * from mbus4.dyn_consume('none');
--> ERROR P0001: Consumer default does not exists!
select * from mbus4.dyn_consume('q', 'true', 'none');
--> ERROR P0001: Consumer none does not exists!
select * from mbus4.dyn_consume('q', 't.nothing');
--> ERROR 42703: column t.nothing does not exist
select * from mbus4.dyn_consume('q', 't.data ->');
--> ERROR 42601: syntax error at or near ")"
select * from mbus4.messages('none');
--> ERROR P0001: Queue none does not exists
select * from mbus4.messages('q', 'none');
--> ERROR P0001: unknown consumer:none
select mbus4.estimated_messages('none');
--> NOTICE: Requested queue 'none' does not exists
--> estimated_messages
--> NULL
begin;
--> BEGIN
select data->'n' as n from mbus4.dyn_consume('q', 'true');
--> n
--> 6
rollback;
--> ROLLBACK
select data->'n' as n from mbus4.dyn_consume('q', 'true');
--> n
--> 6
