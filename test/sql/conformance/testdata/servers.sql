-- The seed's example: a user is copied to three servers, limited on each, then placed, then deleted here.
select mbus4.create_queue('server1', 8);
--> create_queue
-->
select mbus4.create_queue('server2', 8);
--> create_queue
-->
select mbus4.create_queue('server3', 8);
--> create_queue
-->
select mbus4.create_queue('local', 8);
--> create_queue
-->
begin;
--> BEGIN
-- keep id1
select mbus4.post('server1', 'do=>create, user=>vasya');
--> post
--> server1.<1>
-- keep id2
select mbus4.post('server2', 'do=>create, user=>vasya');
--> post
--> server2.<1>
-- keep id3
select mbus4.post('server3', 'do=>create, user=>vasya');
--> post
--> server3.<1>
select mbus4.post('server1', 'do=>limit', hstore('consume_after', array[:id1]::text));
--> post
--> server1.<2>
select mbus4.post('server2', 'do=>limit', hstore('consume_after', array[:id2]::text));
--> post
--> server2.<2>
select mbus4.post('server3', 'do=>limit', hstore('consume_after', array[:id3]::text));
--> post
--> server3.<2>
-- keep placed
select mbus4.post('local', 'do=>place', hstore('consume_after', array[:id1, :id2, :id3]::text));
--> post
--> local.<1>
select mbus4.post('local', 'do=>delete', hstore('consume_after', array[:placed]::text));
--> post
--> local.<2>
commit;
--> COMMIT
select data->'do' as local from mbus4.consumen_local_by_default(10);
--> local
--> (0 rows)
select data->'do' as server1 from mbus4.consumen_server1_by_default(10);
--> server1
--> create
select data->'do' as server1 from mbus4.consumen_server1_by_default(10);
--> server1
--> limit
select data->'do' as local from mbus4.consumen_local_by_default(10);
--> local
--> (0 rows)
select data->'do' as server2 from mbus4.consumen_server2_by_default(10);
--> server2
--> create
select data->'do' as server3 from mbus4.consume('server3');
--> server3
--> create
select data->'do' as local from mbus4.consume('local');
--> local
--> place
select data->'do' as local from mbus4.consume('local');
--> local
--> delete
select data->'do' as server3 from mbus4.consume('server3');
--> server3
--> limit
select data->'do' as server2 from mbus4.consume('server2');
--> server2
--> limit
select count(*) from mbus4.queue where mbus4.estimated_messages(qname) > 0;
--> count
--> 0
