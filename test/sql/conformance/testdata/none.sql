-- A database without queues.
select * from mbus4.consume('work');
--> ERROR P0001: No queues were defined
select * from mbus4.consume('work', 'default');
--> ERROR P0001: No queues were defined
select mbus4.post('work', 'a=>1');
--> ERROR P0001: Unknown queue:work
select mbus4.get_iid('work');
--> ERROR P0001: No such queue: work
select mbus4.is_msg_exists('work.1');
--> is_msg_exists
--> f
select mbus4.drop_queue('work');
--> ERROR P0001: Queue work does not exists
select mbus4.estimated_messages('work');
--> NOTICE: Requested queue 'work' does not exists
--> estimated_messages
--> NULL
select mbus4.create_consumer('work', 'c', null);
--> ERROR P0001: Wrong queue name:work
select mbus4.drop_consumer('c', 'work');
--> ERROR P0001: Queue work does not exists
select mbus4.create_view('work');
--> ERROR P0001: No queues were defined
select mbus4.create_run_function('work');
--> ERROR P0001: Queue work does not exists!
select * from mbus4.dyn_consume('work');
--> ERROR P0001: Consumer default does not exists!
select count(*) from mbus4.queue;
--> count
--> 0
select count(*) from mbus4.consumer;
--> count
--> 0
select count(*) from mbus4.trigger;
--> count
--> 0
select * from mbus4.messages('work');
--> ERROR P0001: No queues were defined
select mbus4.clear_tempq();
--> clear_tempq
-->
select length(mbus4.readme()) > 100 as english, length(mbus4.readme_rus()) > 100 as russian;
--> english | russian
--> t | t
