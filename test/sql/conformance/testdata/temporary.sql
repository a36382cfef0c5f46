-- Temporary queues, requests and answers.
select mbus4.create_queue('requests', 8);
--> create_queue
-->
-- keep mine
select mbus4.create_temporary_queue();
--> create_temporary_queue
--> temp.<1>
-- keep second
select mbus4.create_temporary_queue();
--> create_temporary_queue
--> temp.<2>
select :mine ~ '^temp\.[0-9a-f]{8}\.[0-9]+$' as named, :mine <> :second as different,
  split_part(:mine, '.', 2) = split_part(:second, '.', 2) as same_session;
--> named | different | same_session
--> t | t | t
select mbus4.post(:mine, 'n=>1');
--> post
--> temporary.<1>
select iid, data, headers->'destination' = :mine as destination from mbus4.consume(:mine);
--> iid | data | destination
--> temporary.<1> | "n"=>"1" | t
select * from mbus4.consume(:mine);
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select * from mbus4.consume(:second);
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- a request carries the name of the queue for its answer
select mbus4.post('requests', 'sum=>"1,2"', '', hstore('answer_to', :mine));
--> post
--> requests.<1>
-- session server
begin;
--> BEGIN
select mbus4.post(properties->'answer_to', hstore('sum', '3')) from mbus4.consume('requests');
--> post
--> temporary.<2>
commit;
--> COMMIT
-- session a
select data from mbus4.consume(:mine);
--> data
--> "sum"=>"3"
-- delay, expiry, rollback
select mbus4.post(:mine, 'n=>later', delayed_until := '2101-01-01');
--> post
--> temporary.<3>
select mbus4.post(:mine, 'n=>over', expires := '2001-01-01');
--> post
--> temporary.<4>
select mbus4.post(:mine, 'n=>now');
--> post
--> temporary.<5>
select data from mbus4.consume(:mine);
--> data
--> "n"=>"now"
select data from mbus4.consume(:mine);
--> data
--> (0 rows)
select mbus4.post(:mine, 'n=>2') is not null as posted;
--> posted
--> t
begin;
--> BEGIN
select data from mbus4.consume(:mine);
--> data
--> "n"=>"2"
rollback;
--> ROLLBACK
select data from mbus4.consume(:mine);
--> data
--> "n"=>"2"
-- it is not a queue like others
select count(*) from mbus4.queue where qname like 'temp%';
--> count
--> 0
select mbus4.drop_queue(:mine);
--> ERROR P0001: Queue temp.<1> does not exists
select mbus4.create_consumer(:mine, 'c', null);
--> ERROR P0001: Wrong queue name:temp.<1>
select mbus4.clear_tempq();
--> clear_tempq
-->
select mbus4.post(:mine, 'n=>3') is not null as still_there;
--> still_there
--> t
select data from mbus4.consume(:mine);
--> data
--> "n"=>"3"
-- its session ends
-- session b
-- keep theirs
select mbus4.create_temporary_queue();
--> create_temporary_queue
--> temp.<3>
select mbus4.post(:theirs, 'n=>1') is not null as posted;
--> posted
--> t
-- session a
select mbus4.post(:theirs, 'n=>2') is not null as posted;
--> posted
--> t
-- close b
select pg_sleep(0.3);
--> pg_sleep
-->
select mbus4.post(:theirs, 'n=>3') is not null as posted;
--> ERROR P0001: Unknown queue:temp.<3>
select mbus4.clear_tempq();
--> clear_tempq
-->
select * from mbus4.consume(:theirs);
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- temporary consumers
-- keep tap
select mbus4.create_temporary_consumer('requests', null);
--> create_temporary_consumer
--> temp.<4>
-- keep few
select mbus4.create_temporary_consumer('requests', $$t.data ? 'k'$$);
--> create_temporary_consumer
--> temp.<5>
select mbus4.post('requests', 'n=>1') is not null as posted;
--> posted
--> t
select mbus4.post('requests', 'k=>2') is not null as posted;
--> posted
--> t
select data from mbus4.consume(:tap);
--> data
--> "n"=>"1"
select data from mbus4.consume(:tap);
--> data
--> "k"=>"2"
select data from mbus4.consume(:tap);
--> data
--> (0 rows)
select data from mbus4.consume(:few);
--> data
--> "k"=>"2"
select data from mbus4.consume(:few);
--> data
--> (0 rows)
select data from mbus4.consumen_requests_by_default(10);
--> data
--> "n"=>"1"
--> "k"=>"2"
select mbus4.create_temporary_consumer('requests', 't.data ?');
--> ERROR P0001: Syntax error in selector:t.data ?
select mbus4.create_temporary_consumer('requests', $$now() > t.added$$);
--> ERROR P0001: Syntax error in selector:now() > t.added
-- a rolled back one
begin;
--> BEGIN
-- keep gone
select mbus4.create_temporary_queue();
--> create_temporary_queue
--> temp.<6>
select mbus4.post(:gone, 'n=>1') is not null as posted;
--> posted
--> t
rollback;
--> ROLLBACK
select mbus4.post(:gone, 'n=>1') is not null as posted;
--> ERROR P0001: Unknown queue:temp.<6>
