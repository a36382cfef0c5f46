-- Taking and looking at one message.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.create_queue('r', 8);
--> create_queue
-->
-- keep one
select mbus4.post('q', 'n=>1');
--> post
--> q.<1>
-- keep two
select mbus4.post('q', 'n=>2');
--> post
--> q.<2>
-- keep three
select mbus4.post('r', 'n=>3');
--> post
--> r.<1>
select mbus4.peek_q(:one), mbus4.peek_r(:one), mbus4.peek_q(:three), mbus4.peek_q('q.0'), mbus4.peek_q(null), mbus4.peek_q(msgid := :two);
--> peek_q | peek_r | peek_q | peek_q | peek_q | peek_q
--> t | f | f | f | t | t
select (mbus4.peek(:one)).data, (mbus4.peek(:three)).data;
--> data | data
--> "n"=>"1" | "n"=>"3"
select * from mbus4.peek('q.0');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
select data from mbus4.peek(msgid => :two);
--> data
--> "n"=>"2"
select mbus4.is_msg_exists(:one), mbus4.is_msg_exists('q.0'), mbus4.is_msg_exists(''), mbus4.is_msg_exists(null);
--> is_msg_exists | is_msg_exists | is_msg_exists | is_msg_exists
--> t | f | f | f
select data, headers->'destination' as destination from mbus4.take(:two);
--> data | destination
--> "n"=>"2" | q
select * from mbus4.take(:two);
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
select mbus4.take(:two) is null;
--> ?column?
--> t
select data from mbus4.take_from_q_by_default(:one);
--> data
--> "n"=>"1"
select data from mbus4.take_from_q_by_default(:one);
--> data
--> NULL
select data from mbus4.take_from_q_by_default(:three);
--> data
--> NULL
select data from mbus4.take_from_r_by_default(msgid := :three);
--> data
--> "n"=>"3"
select * from mbus4.take('none.1');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
select * from mbus4.take('');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
select * from mbus4.take(null);
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
select mbus4.peek_q(), mbus4.peek_r();
--> peek_q | peek_r
--> f | f
-- a delayed one can be taken
-- keep later
select mbus4.post('q', 'n=>later', delayed_until := '2101-01-01');
--> post
--> q.<3>
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select data from mbus4.take(:later);
--> data
--> "n"=>"later"
-- a rollback brings it back
-- keep back
select mbus4.post('q', 'n=>back');
--> post
--> q.<4>
begin;
--> BEGIN
select data from mbus4.take(:back);
--> data
--> "n"=>"back"
select mbus4.is_msg_exists(:back);
--> is_msg_exists
--> f
rollback;
--> ROLLBACK
select mbus4.is_msg_exists(:back);
--> is_msg_exists
--> t
-- who takes waits for who holds
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"back"
-- session b
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- wait
select data from mbus4.take(:back);
-- session a
rollback;
--> ROLLBACK
-- answer b
--> data
--> "n"=>"back"
-- session a
select mbus4.is_msg_exists(:back);
--> is_msg_exists
--> f
-- keep gone
select mbus4.post('q', 'n=>gone');
--> post
--> q.<5>
begin;
--> BEGIN
select data from mbus4.take(:gone);
--> data
--> "n"=>"gone"
-- session b
-- wait
select data from mbus4.take_from_q_by_default(:gone);
-- session a
commit;
--> COMMIT
-- answer b
--> data
--> NULL
-- session a
select mbus4.is_msg_exists(:gone);
--> is_msg_exists
--> f
-- two wait for one
-- keep wanted
select mbus4.post('q', 'n=>wanted');
--> post
--> q.<6>
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"wanted"
-- session b
begin;
--> BEGIN
-- wait
select data from mbus4.take(:wanted);
-- session a
rollback;
--> ROLLBACK
-- answer b
--> data
--> "n"=>"wanted"
-- session a
select mbus4.is_msg_exists(:wanted), mbus4.peek_q(:wanted);
--> is_msg_exists | peek_q
--> t | t
-- session b
commit;
--> COMMIT
-- session a
select mbus4.is_msg_exists(:wanted), mbus4.peek_q(:wanted);
--> is_msg_exists | peek_q
--> f | f
-- taking is from every subscriber
select mbus4.create_consumer('q', 'second');
--> create_consumer
-->
-- keep both
select mbus4.post('q', 'n=>both');
--> post
--> q.<7>
select data from mbus4.take(:both);
--> data
--> "n"=>"both"
select data from mbus4.consume('q', 'second');
--> data
--> (0 rows)
select mbus4.is_msg_exists(:both);
--> is_msg_exists
--> f
-- but for one of them only that one's
-- keep single
select mbus4.post('q', 'n=>single');
--> post
--> q.<8>
select data from mbus4.take_from_q_by_second(:single);
--> data
--> "n"=>"single"
select data from mbus4.take_from_q_by_second(:single);
--> data
--> NULL
select data from mbus4.consume('q');
--> data
--> "n"=>"single"
