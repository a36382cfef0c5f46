-- An iid that the poster gives is one message's in its queue, as with a unique index: who posts it while another transaction has posted or
-- taken it and has not committed waits for that.
select mbus4.create_queue('q', 4);
--> create_queue
-->
select mbus4.create_queue('r', 4);
--> create_queue
-->
select mbus4.create_consumer('sub', 'q', $$t.data ? 'a'$$);
--> create_consumer
-->
select mbus4.post('q', 'n=>1', iid => 'q.here');
--> post
--> q.here
select mbus4.post('q', 'n=>2', iid => 'q.here');
--> ERROR 23505: Message q.here already exists
-- the same transaction, and a savepoint
begin;
--> BEGIN
select mbus4.post('q', 'n=>3', iid => 'q.mine');
--> post
--> q.mine
savepoint s;
--> SAVEPOINT
select mbus4.post('q', 'n=>4', iid => 'q.mine');
--> ERROR 23505: Message q.mine already exists
rollback to s;
--> ROLLBACK
select mbus4.post('q', 'n=>5', iid => 'q.other');
--> post
--> q.other
rollback to s;
--> ROLLBACK
select mbus4.post('q', 'n=>6', iid => 'q.other');
--> post
--> q.other
commit;
--> COMMIT
select data from mbus4.consumen_q_by_default(9);
--> data
--> "n"=>"1"
--> "n"=>"3"
--> "n"=>"6"
-- two transactions: the first commits
begin;
--> BEGIN
select mbus4.post('q', 'a=>1', iid => 'q.two');
--> post
--> q.two
-- session b
-- wait
select mbus4.post('q', 'a=>2', iid => 'q.two');
-- session a
commit;
--> COMMIT
-- answer b
--> ERROR 23505: Message q.two already exists
-- the first rolls back
begin;
--> BEGIN
select mbus4.post('q', 'a=>3', iid => 'q.three');
--> post
--> q.three
-- session b
-- wait
select mbus4.post('q', 'a=>4', iid => 'q.three');
-- session a
rollback;
--> ROLLBACK
-- answer b
--> post
--> q.three
-- the first takes it back by a savepoint
-- session a
begin;
--> BEGIN
savepoint s;
--> SAVEPOINT
select mbus4.post('q', 'a=>5', iid => 'q.four');
--> post
--> q.four
-- session b
begin;
--> BEGIN
-- wait
select mbus4.post('q', 'a=>6', iid => 'q.four');
-- session a
rollback to s;
--> ROLLBACK
-- answer b
--> post
--> q.four
-- session c
-- wait
select mbus4.post('q', 'a=>7', iid => 'q.four');
-- session b
commit;
--> COMMIT
-- answer c
--> ERROR 23505: Message q.four already exists
-- session a
commit;
--> COMMIT
-- the first takes its own post, and so it is there no more
begin;
--> BEGIN
select mbus4.post('q', 'n=>8', iid => 'q.five');
--> post
--> q.five
select data from mbus4.consume('q', 'sub');
--> data
--> "a"=>"1"
select (mbus4.take('q.five')).data;
--> data
--> "n"=>"8"
-- session b
-- wait
select mbus4.post('q', 'n=>9', iid => 'q.five');
-- session a
commit;
--> COMMIT
-- answer b
--> post
--> q.five
-- what is consumed and not committed is waited for, too
-- session a
begin;
--> BEGIN
select (mbus4.take('q.five')).data;
--> data
--> "n"=>"9"
-- session b
-- wait
select mbus4.post('q', 'n=>10', iid => 'q.five');
-- session a
commit;
--> COMMIT
-- answer b
--> post
--> q.five
-- session a
begin;
--> BEGIN
select (mbus4.take('q.five')).data;
--> data
--> "n"=>"10"
-- session b
-- wait
select mbus4.post('q', 'n=>11', iid => 'q.five');
-- session a
rollback;
--> ROLLBACK
-- answer b
--> ERROR 23505: Message q.five already exists
-- its own taking it need not wait for
-- session a
begin;
--> BEGIN
select (mbus4.take('q.five')).data;
--> data
--> "n"=>"10"
select mbus4.post('q', 'n=>12', iid => 'q.five');
--> post
--> q.five
commit;
--> COMMIT
select (mbus4.take('q.five')).data;
--> data
--> "n"=>"12"
-- what one subscriber has not received is there
select mbus4.post('q', 'a=>13', iid => 'q.six');
--> post
--> q.six
select count(*) from mbus4.consumen_q_by_default(99);
--> count
--> 4
select mbus4.post('q', 'a=>14', iid => 'q.six');
--> ERROR 23505: Message q.six already exists
select count(*) > 0 as some from mbus4.consumen_q_by_sub(99);
--> some
--> t
select mbus4.post('q', 'a=>15', iid => 'q.six');
--> post
--> q.six
-- dmq. is for any queue, for each by itself
begin;
--> BEGIN
select mbus4.post('q', 'n=>16', iid => 'dmq.x');
--> post
--> dmq.x
-- session b
select mbus4.post('r', 'n=>17', iid => 'dmq.x');
--> post
--> dmq.x
select mbus4.post('r', 'n=>18', iid => 'q.x');
--> ERROR P0001: Wrong iid=q.x for queue r
-- session a
commit;
--> COMMIT
select mbus4.post('q', 'n=>19', iid => 'dmq.x');
--> ERROR 23505: Message dmq.x already exists
select mbus4.post('r', 'n=>20', iid => 'dmq.x');
--> ERROR 23505: Message dmq.x already exists
-- an iid that was reserved is one that is given
-- keep one
select mbus4.get_iid('r');
--> get_iid
--> r.<1>
begin;
--> BEGIN
select mbus4.post('r', 'n=>21', iid => :one);
--> post
--> r.<1>
-- session b
-- wait
select mbus4.post('r', 'n=>22', iid => :one);
-- session a
commit;
--> COMMIT
-- answer b
--> ERROR 23505: Message r.<1> already exists
-- several posts of others do not wait
begin;
--> BEGIN
select mbus4.post('r', 'n=>23', iid => 'r.1a');
--> post
--> r.1a
-- session b
begin;
--> BEGIN
select mbus4.post('r', 'n=>24', iid => 'r.1b');
--> post
--> r.1b
-- two that wait for each other: one of them goes on
-- wait
select mbus4.post('r', 'n=>25', iid => 'r.1a');
-- session a
rollback;
--> ROLLBACK
-- answer b
--> post
--> r.1a
rollback;
--> WARNING: there is no transaction in progress
--> ROLLBACK
-- the session ends
-- session c
begin;
--> BEGIN
select mbus4.post('r', 'n=>26', iid => 'r.gone');
--> post
--> r.gone
-- session b
-- wait
select mbus4.post('r', 'n=>27', iid => 'r.gone');
-- close c
-- answer b
--> post
--> r.gone
-- the dead message queue
-- session a
select mbus4.create_run_function('r');
--> create_run_function
-->
select mbus4.post_dmq('n=>28', iid => 'dmq.dead');
--> post_dmq
--> dmq.dead
select mbus4.post_dmq('n=>29', iid => 'dmq.dead');
--> ERROR 23505: Message dmq.dead already exists
