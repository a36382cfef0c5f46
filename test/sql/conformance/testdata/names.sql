-- The older schema name, the search path, and odd but legal names.
select mbus.create_queue('q', 8);
--> create_queue
-->
select mbus.post('q', 'n=>1');
--> post
--> q.<1>
select mbus.post_q('n=>2', properties := 'p=>2');
--> post_q
--> q.<2>
select data from mbus4.consume('q');
--> data
--> "n"=>"1"
select data, properties from mbus.consume('q');
--> data | properties
--> "n"=>"2" | "p"=>"2"
select mbus.create_consumer(selector := 'true', cname := 'c', qname := 'q');
--> create_consumer
-->
select mbus.post('q', 'n=>3') is not null as posted;
--> posted
--> t
select data from mbus.consumen_q_by_c(1);
--> data
--> "n"=>"3"
select data from mbus.consume_q_by_default();
--> data
--> "n"=>"3"
select mbus.create_trigger('q', 'r');
--> NOTICE: WARNING: destination queue (r) does not exists (yet?)
--> create_trigger
-->
select mbus.get_iid('q') like 'q.%';
--> ?column?
--> t
select mbus.peek_q(), mbus.is_msg_exists('q.0'), mbus.estimated_messages('q');
--> peek_q | is_msg_exists | estimated_messages
--> f | f | 0
select qname, consumers_cnt from mbus.queue;
--> qname | consumers_cnt
--> q | 8
select mbus.clear_queue_q();
--> clear_queue_q
-->
select mbus.drop_consumer('c', 'q');
--> drop_consumer
-->
set search_path = mbus4, public;
--> SET
select create_queue('plain', 1);
--> create_queue
-->
select post('plain', 'n=>1') is not null as posted;
--> posted
--> t
select data from consume('plain');
--> data
--> "n"=>"1"
select post_plain('n=>2') is not null as posted;
--> posted
--> t
select data from consume_plain_by_default();
--> data
--> "n"=>"2"
set search_path to default;
--> SET
select post('plain', 'n=>1');
--> ERROR 42883: function post(unknown, unknown) does not exist
set search_path = "$user", public, mbus;
--> SET
select post('plain', 'n=>3') is not null as posted;
--> posted
--> t
select data from consume('plain');
--> data
--> "n"=>"3"
reset search_path;
--> RESET
-- names that look like parts of others
select mbus4.create_queue('a_by_b', 1);
--> create_queue
-->
select mbus4.create_queue('by', 1);
--> create_queue
-->
select mbus4.create_queue('post_q', 1);
--> create_queue
-->
select mbus4.create_queue('1', 1);
--> create_queue
-->
select mbus4.create_queue('_', 1);
--> create_queue
-->
select mbus4.create_consumer('by', 'by', null);
--> create_consumer
-->
select mbus4.post('a_by_b', 'n=>1') is not null as posted;
--> posted
--> t
select data from mbus4.consume_a_by_b_by_default();
--> data
--> "n"=>"1"
select mbus4.post_by('n=>1') is not null as posted;
--> posted
--> t
select data from mbus4.consume_by_by_by();
--> data
--> "n"=>"1"
select data from mbus4.consumen_by_by_default(1);
--> data
--> "n"=>"1"
select mbus4.post_post_q('n=>1');
--> post_post_q
--> post_q.<1>
select data from mbus4.consume('post_q');
--> data
--> "n"=>"1"
select mbus4.post_1('n=>1') is not null as posted;
--> posted
--> t
select data from mbus4.consume('1');
--> data
--> "n"=>"1"
select mbus4.post__('n=>1') is not null as posted;
--> posted
--> t
select data from mbus4.consume__by_default();
--> ERROR 42883: function mbus4.consume__by_default() does not exist
select mbus4.nothing();
--> ERROR 42883: function mbus4.nothing() does not exist
select mbus.nothing('q');
--> ERROR 42883: function mbus.nothing(unknown) does not exist
select mbus5.post('q', 'n=>1');
--> ERROR 3F000: schema "mbus5" does not exist
select mbus4.post_nothing('n=>1');
--> ERROR 42883: function mbus4.post_nothing(unknown) does not exist
select mbus4."post"('q', 'n=>quoted') is not null as posted;
--> posted
--> t
select MBUS4.CONSUME('q') is not null as got;
--> got
--> f
