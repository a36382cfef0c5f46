-- Triggers copy from queue to queue.
select mbus4.create_queue('src', 8);
--> create_queue
-->
select mbus4.create_queue('copy', 8);
--> create_queue
-->
select mbus4.create_queue('some', 8);
--> create_queue
-->
select mbus4.create_trigger('src', 'copy', null);
--> create_trigger
-->
select mbus4.create_trigger(src := 'src', dst := 'some', selector := $$not exist(t.data,'key2') or (t.data->'key2')<>'N'$$);
--> create_trigger
-->
select src, dst, selector from mbus4.trigger order by src, dst;
--> src | dst | selector
--> src | copy | NULL
--> src | some | not exist(t.data,'key2') or (t.data->'key2')<>'N'
select mbus4.post('src', 'n=>1, key2=>N', 'h=>1', 'p=>1');
--> post
--> src.<1>
select mbus4.post('src', 'n=>2');
--> post
--> src.<2>
select iid, data, properties, headers->'h' as h, headers->'destination' as destination from mbus4.consume('copy');
--> iid | data | properties | h | destination
--> copy.<1> | "n"=>"1", "key2"=>"N" | "p"=>"1" | 1 | copy
select data from mbus4.consume('copy');
--> data
--> "n"=>"2"
select data from mbus4.consume('copy');
--> data
--> (0 rows)
select iid, data, headers->'destination' as destination from mbus4.consume('some');
--> iid | data | destination
--> some.<1> | "n"=>"2" | some
select data from mbus4.consume('some');
--> data
--> (0 rows)
select iid, data from mbus4.consumen_src_by_default(10);
--> iid | data
--> src.<1> | "n"=>"1", "key2"=>"N"
--> src.<2> | "n"=>"2"
-- Redeploy
select mbus4.post('src', 'n=>3', 'Redeploy=>true');
--> post
--> src.<3>
select data from mbus4.consume('copy');
--> data
--> (0 rows)
select data from mbus4.consume('src');
--> data
--> "n"=>"3"
-- what is posted to the destination stays there
select mbus4.post('copy', 'n=>4');
--> post
--> copy.<2>
select data from mbus4.consume('src');
--> data
--> (0 rows)
select data from mbus4.consume('copy');
--> data
--> "n"=>"4"
-- chains and loops
select mbus4.create_queue('far', 8);
--> create_queue
-->
select mbus4.create_trigger('copy', 'far', null);
--> create_trigger
-->
select mbus4.post('src', 'n=>5');
--> post
--> src.<4>
select data from mbus4.consume('far');
--> data
--> "n"=>"5"
select data from mbus4.consume('copy');
--> data
--> "n"=>"5"
select data from mbus4.consume('some');
--> data
--> "n"=>"5"
select data from mbus4.consume('src');
--> data
--> "n"=>"5"
select mbus4.create_trigger('far', 'src', null);
--> ERROR P0001: Loop detected
select mbus4.create_trigger('copy', 'src', null);
--> ERROR P0001: Loop detected
select mbus4.create_trigger('src', 'src', null);
--> ERROR P0001: Loop detected
-- two ways to one queue are one copy
select mbus4.create_trigger('some', 'far', null);
--> create_trigger
-->
select mbus4.post('src', 'n=>6');
--> post
--> src.<5>
select data from mbus4.consumen_far_by_default(10);
--> data
--> "n"=>"6"
--> "n"=>"6"
-- again, and with another selector
select mbus4.create_trigger('src', 'copy', null);
--> create_trigger
-->
select mbus4.create_trigger('src', 'copy', 'true');
--> ERROR P0001: Trigger from src to copy with a different selector already exists!
-- subscribers of the destination
select mbus4.create_consumer('far', 'picky', $$t.data->'n' = '8'$$);
--> create_consumer
-->
select mbus4.post('src', 'n=>7') is not null as posted;
--> posted
--> t
select mbus4.post('src', 'n=>8') is not null as posted;
--> posted
--> t
select data from mbus4.consumen_far_by_picky(10);
--> data
--> "n"=>"8"
--> "n"=>"8"
-- missing queues
select mbus4.create_trigger('nosrc', 'nodst', null);
--> NOTICE: WARNING: source queue (nosrc) does not exists (yet?)
--> NOTICE: WARNING: destination queue (nodst) does not exists (yet?)
--> create_trigger
-->
select mbus4.create_trigger('src', 'coming', null);
--> NOTICE: WARNING: destination queue (coming) does not exists (yet?)
--> create_trigger
-->
select mbus4.post('src', 'n=>9') is not null as posted;
--> posted
--> t
select mbus4.create_queue('coming', 8);
--> create_queue
-->
select mbus4.post('src', 'n=>10') is not null as posted;
--> posted
--> t
select data from mbus4.consumen_coming_by_default(10);
--> data
--> "n"=>"10"
-- bad selectors
select mbus4.create_trigger('src', 'bad', 't.data ?');
--> NOTICE: WARNING: destination queue (bad) does not exists (yet?)
--> ERROR P0001: Syntax error in selector:t.data ?
select mbus4.create_trigger('src', 'bad', 'nothing = 1');
--> NOTICE: WARNING: destination queue (bad) does not exists (yet?)
--> ERROR P0001: Syntax error in selector:nothing = 1
select mbus4.create_trigger('src', 'bad', $$t.added < now()$$);
--> NOTICE: WARNING: destination queue (bad) does not exists (yet?)
--> ERROR P0001: Syntax error in selector:t.added < now()
-- one that fails on a message copies it not
select mbus4.create_queue('numbers', 8);
--> create_queue
-->
select mbus4.create_trigger('src', 'numbers', $$(t.data->'n')::int > 10$$);
--> create_trigger
-->
select mbus4.post('src', 'n=>11') is not null as posted;
--> posted
--> t
select mbus4.post('src', 'n=>eleven') is not null as posted;
--> posted
--> t
select data from mbus4.consumen_numbers_by_default(10);
--> data
--> "n"=>"11"
-- dropping
select mbus4.drop_trigger('src', 'copy');
--> drop_trigger
-->
select mbus4.drop_trigger('src', 'copy');
--> drop_trigger
-->
select mbus4.drop_trigger('no', 'such');
--> drop_trigger
-->
select count(*) > 0 as some_left from mbus4.consumen_copy_by_default(100);
--> some_left
--> t
select mbus4.post('src', 'n=>12') is not null as posted;
--> posted
--> t
select data from mbus4.consume('copy');
--> data
--> (0 rows)
select mbus4.drop_queue('far');
--> drop_queue
-->
select mbus4.post('some', 'n=>13') is not null as posted;
--> posted
--> t
select src, dst from mbus4.trigger order by src, dst;
--> src | dst
--> nosrc | nodst
--> src | coming
--> src | numbers
--> src | some
-- in a transaction
begin;
--> BEGIN
select mbus4.post('src', 'n=>20') is not null as posted;
--> posted
--> t
rollback;
--> ROLLBACK
select count(*) from mbus4.consumen_numbers_by_default(100);
--> count
--> 1
