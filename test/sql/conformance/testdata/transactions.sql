-- Transactions of one session.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.create_queue('r', 8);
--> create_queue
-->
begin;
--> BEGIN
select mbus4.post('q', 'n=>undone');
--> post
--> q.<1>
rollback;
--> ROLLBACK
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
begin;
--> BEGIN
select mbus4.post('q', 'n=>1');
--> post
--> q.<2>
select mbus4.post('q', 'n=>2');
--> post
--> q.<3>
commit;
--> COMMIT
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"1"
rollback;
--> ROLLBACK
select data from mbus4.messages('q');
--> data
--> "n"=>"1"
--> "n"=>"2"
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"1"
select data from mbus4.consume('q');
--> data
--> "n"=>"2"
select data from mbus4.consume('q');
--> data
--> (0 rows)
rollback;
--> ROLLBACK
select data from mbus4.messages('q');
--> data
--> "n"=>"1"
--> "n"=>"2"
-- from one queue to another
begin;
--> BEGIN
select mbus4.post('r', data) is not null as moved from mbus4.consume('q');
--> moved
--> t
commit;
--> COMMIT
select data from mbus4.consume('r');
--> data
--> "n"=>"1"
select data from mbus4.messages('q');
--> data
--> "n"=>"2"
begin;
--> BEGIN
select mbus4.post('r', data) is not null as moved from mbus4.consume('q');
--> moved
--> t
rollback;
--> ROLLBACK
select data from mbus4.messages('q');
--> data
--> "n"=>"2"
select data from mbus4.messages('r');
--> data
--> (0 rows)
-- a transaction sees what it posts
begin;
--> BEGIN
select mbus4.post('q', 'n=>own');
--> post
--> q.<4>
select data from mbus4.messages('q');
--> data
--> "n"=>"2"
--> "n"=>"own"
select data from mbus4.consume('q');
--> data
--> "n"=>"2"
select data from mbus4.consume('q');
--> data
--> "n"=>"own"
select data from mbus4.consume('q');
--> data
--> (0 rows)
rollback;
--> ROLLBACK
select data from mbus4.consume('q');
--> data
--> "n"=>"2"
begin;
--> BEGIN
-- keep own
select mbus4.post('q', 'n=>own');
--> post
--> q.<5>
select mbus4.is_msg_exists(:own), mbus4.peek_q(:own), mbus4.peek_q(), mbus4.estimated_messages('q');
--> is_msg_exists | peek_q | peek_q | estimated_messages
--> t | t | t | 1
select (mbus4.peek(:own)).data;
--> data
--> "n"=>"own"
select (mbus4.take(:own)).data;
--> data
--> "n"=>"own"
select mbus4.is_msg_exists(:own), mbus4.peek_q();
--> is_msg_exists | peek_q
--> f | f
commit;
--> COMMIT
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- an error ends it
begin;
--> BEGIN
select mbus4.post('q', 'n=>lost');
--> post
--> q.<6>
select mbus4.post('none', 'n=>1');
--> ERROR P0001: Unknown queue:none
select mbus4.post('q', 'n=>1');
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
select 1;
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
commit;
--> ROLLBACK
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- savepoints
begin;
--> BEGIN
select mbus4.post('q', 'n=>1');
--> post
--> q.<7>
savepoint a;
--> SAVEPOINT
select mbus4.post('q', 'n=>2');
--> post
--> q.<8>
savepoint b;
--> SAVEPOINT
select mbus4.post('q', 'n=>3');
--> post
--> q.<9>
rollback to b;
--> ROLLBACK
select mbus4.post('q', 'n=>4');
--> post
--> q.<10>
release a;
--> RELEASE
select mbus4.post('q', 'n=>5');
--> post
--> q.<11>
commit;
--> COMMIT
select data->'n' as n from mbus4.messages('q');
--> n
--> 1
--> 2
--> 4
--> 5
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"1"
savepoint s;
--> SAVEPOINT
select data from mbus4.consume('q');
--> data
--> "n"=>"2"
rollback to savepoint s;
--> ROLLBACK
select data from mbus4.consume('q');
--> data
--> "n"=>"2"
rollback to s;
--> ROLLBACK
commit;
--> COMMIT
select data->'n' as n from mbus4.messages('q');
--> n
--> 2
--> 4
--> 5
begin;
--> BEGIN
savepoint s;
--> SAVEPOINT
select mbus4.post('none', 'n=>1');
--> ERROR P0001: Unknown queue:none
select 1;
--> ERROR 25P02: current transaction is aborted, commands ignored until end of transaction block
rollback to s;
--> ROLLBACK
select data->'n' as n from mbus4.consumen_q_by_default(100);
--> n
--> 2
--> 4
--> 5
commit;
--> COMMIT
select data->'n' as n from mbus4.messages('q');
--> n
--> (0 rows)
begin;
--> BEGIN
rollback to nowhere;
--> ERROR 3B001: savepoint "nowhere" does not exist
rollback;
--> ROLLBACK
-- spellings
start transaction isolation level read committed;
--> START TRANSACTION
select mbus4.post('q', 'n=>6');
--> post
--> q.<12>
commit work;
--> COMMIT
begin transaction isolation level repeatable read;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"6"
abort;
--> ROLLBACK
begin work read write;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"6"
end;
--> COMMIT
start transaction read only;
--> START TRANSACTION
select count(*) from mbus4.queue;
--> count
--> 2
rollback transaction;
--> ROLLBACK
begin;
--> BEGIN
begin;
--> WARNING: there is already a transaction in progress
--> BEGIN
commit;
--> COMMIT
commit;
--> WARNING: there is no transaction in progress
--> COMMIT
rollback;
--> WARNING: there is no transaction in progress
--> ROLLBACK
savepoint outside;
--> ERROR 25P01: SAVEPOINT can only be used in transaction blocks
-- definitions belong to a transaction too
begin;
--> BEGIN
select mbus4.create_queue('passing', 1);
--> create_queue
-->
select mbus4.post('passing', 'n=>1');
--> post
--> passing.<1>
select data from mbus4.consume('passing');
--> data
--> "n"=>"1"
rollback;
--> ROLLBACK
select * from mbus4.consume('passing');
--> ERROR P0001: Queue passing does not exists
begin;
--> BEGIN
select mbus4.create_queue('staying', 1);
--> create_queue
-->
select mbus4.post('staying', 'n=>1');
--> post
--> staying.<1>
commit;
--> COMMIT
select data from mbus4.consume_staying_by_default();
--> data
--> "n"=>"1"
begin;
--> BEGIN
select mbus4.drop_queue('staying');
--> drop_queue
-->
select * from mbus4.consume('staying');
--> ERROR P0001: Queue staying does not exists
rollback;
--> ROLLBACK
select count(*) from mbus4.consume('staying');
--> count
--> 0
begin;
--> BEGIN
select mbus4.drop_queue('staying');
--> drop_queue
-->
commit;
--> COMMIT
select * from mbus4.consume('staying');
--> ERROR P0001: Queue staying does not exists
begin;
--> BEGIN
select mbus4.create_consumer('q', 'passing');
--> create_consumer
-->
select mbus4.post('q', 'n=>7') is not null as posted;
--> posted
--> t
select data from mbus4.consume('q', 'passing');
--> data
--> "n"=>"7"
rollback;
--> ROLLBACK
select * from mbus4.consume('q', 'passing');
--> ERROR P0001: unknown consumer:passing
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
