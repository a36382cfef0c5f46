-- Run functions and dead messages.
select mbus4.create_queue('jobs', 8);
--> create_queue
-->
select mbus4.create_queue('results', 8);
--> create_queue
-->
select mbus4.create_run_function('none');
--> ERROR P0001: Queue none does not exists!
select mbus4.run_on_jobs('select 1');
--> ERROR 42883: function mbus4.run_on_jobs(unknown) does not exist
select mbus4.create_run_function('jobs');
--> create_run_function
-->
select mbus4.create_run_function('jobs');
--> create_run_function
-->
select mbus4.run_on_jobs('select 1');
--> run_on_jobs
--> 0
select mbus4.post('jobs', hstore('n', n::text)) is not null as posted from generate_series(1, 3) n;
--> posted
--> t
--> t
--> t
select mbus4.run_on_jobs($$select mbus4.post('results', hstore('square', ((($1).data->'n')::int * (($1).data->'n')::int)::text))$$);
--> run_on_jobs
--> 3
select data from mbus4.consumen_results_by_default(10);
--> data
--> "square"=>"1"
--> "square"=>"4"
--> "square"=>"9"
-- one fails, the others do not
select mbus4.post('jobs', hstore('n', n), 'h=>1', 'p=>1') is not null as posted from unnest(array['1', 'two', '3']) n;
--> posted
--> t
--> t
--> t
select mbus4.run_on_jobs(exec := $$select mbus4.post('results', hstore('n', (($1).data->'n')::int::text))$$);
--> run_on_jobs
--> 2
select data from mbus4.consumen_results_by_default(10);
--> data
--> "n"=>"1"
--> "n"=>"3"
select mbus4.peek_jobs();
--> peek_jobs
--> f
select iid, data, properties, headers->'h' as h, headers->'dmq.error' as error, (headers->'dmq.added')::timestamp > added as later,
  headers->'destination' as destination from mbus4.consume('dmq');
--> iid | data | properties | h | error | later | destination
--> jobs.<1> | "n"=>"two" | "p"=>"1" | 1 | invalid input syntax for type integer: "two" | t | dmq
select * from mbus4.consume('dmq');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- what it did before it failed is undone
select mbus4.post('jobs', 'n=>x') is not null as posted;
--> posted
--> t
select mbus4.run_on_jobs($$select mbus4.post('results', 'n=>1'), 1 / (length(($1).data->'n') - 1)$$);
--> run_on_jobs
--> 0
select * from mbus4.consume('results');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select data, headers->'dmq.error' as error from mbus4.consume('dmq');
--> data | error
--> "n"=>"x" | division by zero
-- a hundred at most
select count(mbus4.post('jobs', hstore('n', n::text))) from generate_series(1, 150) n;
--> count
--> 150
select mbus4.run_on_jobs('select 1');
--> run_on_jobs
--> 100
select mbus4.run_on_jobs('select 1');
--> run_on_jobs
--> 50
select mbus4.run_on_jobs('select 1');
--> run_on_jobs
--> 0
-- all of it is one transaction
select mbus4.post('jobs', 'n=>1') is not null as posted;
--> posted
--> t
begin;
--> BEGIN
select mbus4.run_on_jobs($$select mbus4.post('results', ($1).data)$$);
--> run_on_jobs
--> 1
rollback;
--> ROLLBACK
select * from mbus4.consume('results');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select mbus4.run_on_jobs($$select mbus4.post('results', ($1).data)$$);
--> run_on_jobs
--> 1
select data from mbus4.consume('results');
--> data
--> "n"=>"1"
-- text that is no SQL fails on each message
select mbus4.post('jobs', 'n=>1') is not null as posted;
--> posted
--> t
select mbus4.run_on_jobs('no sql');
--> run_on_jobs
--> 0
select data, headers->'dmq.error' as error from mbus4.consume('dmq');
--> data | error
--> "n"=>"1" | syntax error at or near "no"
-- dead messages hold back what waits for them
-- keep dead
select mbus4.post('jobs', 'n=>dead');
--> post
--> jobs.<2>
select mbus4.post('results', 'n=>waits', hstore('consume_after', array[:dead]::text)) is not null as posted;
--> posted
--> t
select mbus4.run_on_jobs('select 1/0');
--> run_on_jobs
--> 0
select mbus4.is_msg_exists(:dead), (mbus4.peek(:dead)).data;
--> is_msg_exists | data
--> t | "n"=>"dead"
select * from mbus4.consume('results');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select data from mbus4.take(:dead);
--> data
--> "n"=>"dead"
select data from mbus4.consume('results');
--> data
--> "n"=>"waits"
-- posting there
select mbus4.post_dmq('n=>1');
--> post_dmq
--> dmq.<1>
select mbus4.post_dmq('n=>2', 'h=>2', 'p=>2', iid := 'jobs.given');
--> post_dmq
--> jobs.given
select iid, data, properties, headers->'h' as h from mbus4.consume('dmq');
--> iid | data | properties | h
--> dmq.<1> | "n"=>"1" | NULL | NULL
select iid, data, properties, headers->'h' as h from mbus4.consume('dmq');
--> iid | data | properties | h
--> jobs.given | "n"=>"2" | "p"=>"2" | 2
select mbus4.post('dmq', 'n=>3');
--> post
--> dmq.<2>
select data from mbus4.consume_dmq_by_default();
--> data
--> "n"=>"3"
select qname from mbus4.queue order by qname;
--> qname
--> dmq
--> jobs
--> results
