-- Making and dropping queues.
select mbus4.create_queue('work', 8);
--> create_queue
-->
-- again is no error
select mbus4.create_queue('work', 8);
--> create_queue
-->
select mbus4.create_queue(qname := 'named', consumers_cnt := 16);
--> create_queue
-->
select mbus4.create_queue(consumers_cnt => 1, qname => 'swapped');
--> create_queue
-->
select mbus4.create_queue('plain', 1, false);
--> create_queue
-->
select * from mbus4.create_queue('from_clause', 2);
--> create_queue
-->
select mbus4.create_queue('a1_2', 128);
--> create_queue
-->
select mbus4.create_queue('queue_of_thirty_two_characters_x', 1);
--> create_queue
-->
select mbus4.create_queue('queue_of_thirty_three_characters_', 1);
--> ERROR P0001: Name queue_of_thirty_three_characters_ too long (32 chars max) or contains illegal chars
select mbus4.create_queue('Upper', 1);
--> ERROR P0001: Name Upper too long (32 chars max) or contains illegal chars
select mbus4.create_queue('with-dash', 1);
--> ERROR P0001: Name with-dash too long (32 chars max) or contains illegal chars
select mbus4.create_queue('with space', 1);
--> ERROR P0001: Name with space too long (32 chars max) or contains illegal chars
select mbus4.create_queue('', 1);
--> ERROR P0001: Name  too long (32 chars max) or contains illegal chars
select mbus4.create_queue('очередь', 1);
--> ERROR P0001: Name очередь too long (32 chars max) or contains illegal chars
select mbus4.create_queue('q', 'many');
--> ERROR 22P02: invalid input syntax for type integer: "many"
select mbus4.create_queue('q');
--> ERROR 42883: function mbus4.create_queue(unknown) does not exist
select qname, consumers_cnt, is_roles_security_model from mbus4.queue order by qname;
--> qname | consumers_cnt | is_roles_security_model
--> a1_2 | 128 | f
--> from_clause | 2 | f
--> named | 16 | f
--> plain | 1 | f
--> queue_of_thirty_two_characters_x | 1 | f
--> swapped | 1 | f
--> work | 8 | f
select name, qname, selector from mbus4.consumer order by qname;
--> name | qname | selector
--> default | a1_2 | NULL
--> default | from_clause | NULL
--> default | named | NULL
--> default | plain | NULL
--> default | queue_of_thirty_two_characters_x | NULL
--> default | swapped | NULL
--> default | work | NULL
-- what is made for a queue
select mbus4.post_work('a=>1') is not null as posted;
--> posted
--> t
select mbus4.peek_work();
--> peek_work
--> t
select mbus4.clear_queue_work();
--> clear_queue_work
-->
select data from mbus4.consume_work_by_default();
--> data
--> "a"=>"1"
select data from mbus4.consumen_work_by_default(1);
--> data
--> (0 rows)
select (mbus4.take_from_work_by_default('work.0')).iid;
--> iid
--> NULL
-- dropping takes it away
select mbus4.drop_queue('work');
--> drop_queue
-->
select mbus4.post_work('a=>1');
--> ERROR 42883: function mbus4.post_work(unknown) does not exist
select mbus4.peek_work();
--> ERROR 42883: function mbus4.peek_work() does not exist
select mbus4.clear_queue_work();
--> ERROR 42883: function mbus4.clear_queue_work() does not exist
select * from mbus4.consume_work_by_default();
--> ERROR 42883: function mbus4.consume_work_by_default() does not exist
select * from mbus4.consumen_work_by_default(1);
--> ERROR 42883: function mbus4.consumen_work_by_default(integer) does not exist
select mbus4.take_from_work_by_default('work.0');
--> ERROR 42883: function mbus4.take_from_work_by_default(unknown) does not exist
select mbus4.drop_queue('work');
--> ERROR P0001: Queue work does not exists
select mbus4.drop_queue('never');
--> ERROR P0001: Queue never does not exists
select mbus4.drop_queue(qname := 'named');
--> drop_queue
-->
-- a queue of the same name is a new one
select mbus4.create_queue('again', 1);
--> create_queue
-->
select mbus4.post('again', 'a=>1') is not null as posted;
--> posted
--> t
select mbus4.drop_queue('again');
--> drop_queue
-->
select mbus4.create_queue('again', 1);
--> create_queue
-->
select count(*) from mbus4.consume('again');
--> count
--> 0
select qname from mbus4.queue order by qname;
--> qname
--> a1_2
--> again
--> from_clause
--> plain
--> queue_of_thirty_two_characters_x
--> swapped
