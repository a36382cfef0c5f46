-- The manual, short.

create or replace function mbus4.readme() returns text language sql immutable as $r$
select $t$Queues in SQL. A message is an hstore (data) with headers and properties, hstore too.

select mbus4.create_queue('work', 8);                        make a queue; 8 is a hint: how many will consume at a time
select mbus4.post('work', 'key=>value');                     post a message; it returns the message's iid
select * from mbus4.consume('work');                         receive one; it is gone when the transaction commits
select * from mbus4.consumen_work_by_default(100);           receive up to 100
select mbus4.create_consumer('work', 'audit', $s$(t.properties->'STATE')='DONE'$s$);
select * from mbus4.consume('work', 'audit');                a subscriber has its own copy of what its selector admits
select mbus4.post('work', 'a=>1', delayed_until => (now() + '1 h')::timestamp, expires => (now() + '1 day')::timestamp);
select mbus4.post('work', 'a=>2', headers => hstore('consume_after', array['work.1']::text));
                                                             received only when message work.1 is there no more
select * from mbus4.take('work.1');                          take that message; waits while another transaction holds it
select mbus4.create_trigger('work', 'copies', selector);     copy from one queue into another
select mbus4.create_temporary_queue();                       for answers; gone with the session
select mbus4.create_view('work');                            the view public.work_q: INSERT posts, SELECT receives; for GRANT
select mbus4.create_run_function('work');                    makes run_on_work(sql): runs sql with each message as $1
select mbus4.drop_queue('work');

Look at mbus4.queue, mbus4.consumer, mbus4.trigger, mbus4.messages('work').
$t$::text
$r$;

create or replace function mbus4.readme_rus() returns text language sql immutable as $r$
select $t$Очереди в SQL. Сообщение - это hstore (data) с заголовками headers и свойствами properties, тоже hstore.

select mbus4.create_queue('work', 8);                        создать очередь; 8 - подсказка, сколько получателей бывает сразу
select mbus4.post('work', 'key=>value');                     отправить сообщение; возвращает его iid
select * from mbus4.consume('work');                         получить одно; оно исчезает при фиксации транзакции
select * from mbus4.consumen_work_by_default(100);           получить не более 100
select mbus4.create_consumer('work', 'audit', $s$(t.properties->'STATE')='DONE'$s$);
select * from mbus4.consume('work', 'audit');                у подписчика своя копия того, что допускает его селектор
select mbus4.post('work', 'a=>1', delayed_until => (now() + '1 h')::timestamp, expires => (now() + '1 day')::timestamp);
select mbus4.post('work', 'a=>2', headers => hstore('consume_after', array['work.1']::text));
                                                             будет получено, когда сообщения work.1 уже нет
select * from mbus4.take('work.1');                          забрать это сообщение; ждёт, пока его держит другая транзакция
select mbus4.create_trigger('work', 'copies', selector);     копировать из одной очереди в другую
select mbus4.create_temporary_queue();                       для ответов; исчезает вместе с сессией
select mbus4.create_view('work');                            view public.work_q: INSERT отправляет, SELECT получает; для GRANT
select mbus4.create_run_function('work');                    создаёт run_on_work(sql): выполняет sql, сообщение - $1
select mbus4.drop_queue('work');

Смотрите mbus4.queue, mbus4.consumer, mbus4.trigger, mbus4.messages('work').
$t$::text
$r$;
