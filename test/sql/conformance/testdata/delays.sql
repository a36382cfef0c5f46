-- Delayed delivery and expiry.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.post('q', 'n=>past', delayed_until := '2001-01-01 10:00:00');
--> post
--> q.<1>
select delayed_until, data from mbus4.consume('q');
--> delayed_until | data
--> 2001-01-01 10:00:00 | "n"=>"past"
select mbus4.post('q', 'n=>future', delayed_until := '2101-01-01 10:00:00');
--> post
--> q.<2>
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select mbus4.peek_q();
--> peek_q
--> t
select delayed_until, data from mbus4.messages('q');
--> delayed_until | data
--> 2101-01-01 10:00:00 | "n"=>"future"
select mbus4.post('q', 'n=>soon', delayed_until := (now() + interval '300 milliseconds')::timestamp);
--> post
--> q.<3>
select mbus4.post('q', 'n=>now');
--> post
--> q.<4>
select data from mbus4.consume('q');
--> data
--> "n"=>"now"
select data from mbus4.consume('q');
--> data
--> (0 rows)
select pg_sleep(0.5);
--> pg_sleep
-->
select data, delayed_until > added as delayed from mbus4.consume('q');
--> data | delayed
--> "n"=>"soon" | t
select data from mbus4.consume('q');
--> data
--> (0 rows)
-- one that is due comes at the place of its posting
select mbus4.post('q', 'n=>first', delayed_until => (now() + '200 ms'::interval)::timestamp);
--> post
--> q.<5>
select mbus4.post('q', 'n=>second');
--> post
--> q.<6>
select pg_sleep(0.4);
--> pg_sleep
-->
select data->'n' as n from mbus4.consumen_q_by_default(5);
--> n
--> first
--> second
-- the exact time is kept
select mbus4.post('q', 'n=>exact', null, null, '2001-01-01 10:00:00.123456', '2101-01-01 10:00:00.654321');
--> post
--> q.<7>
select delayed_until, expires from mbus4.consume('q');
--> delayed_until | expires
--> 2001-01-01 10:00:00.123456 | 2101-01-01 10:00:00.654321
select mbus4.post('q', 'n=>text', null, null, '2001-01-01', '2101-01-01');
--> post
--> q.<8>
select delayed_until, expires from mbus4.consume('q');
--> delayed_until | expires
--> 2001-01-01 00:00:00 | 2101-01-01 00:00:00
select mbus4.post('q', 'n=>zone', delayed_until := '2001-01-01 10:00:00+03'::timestamptz::timestamp);
--> post
--> q.<9>
select delayed_until from mbus4.consume('q');
--> delayed_until
--> 2001-01-01 07:00:00
-- the delayed one of the beginning can be taken
select mbus4.estimated_messages('q');
--> estimated_messages
--> 1
-- expiry
select mbus4.post('q', 'n=>expired', expires := '2001-01-01');
--> post
--> q.<10>
select data from mbus4.consume('q');
--> data
--> (0 rows)
select mbus4.post('q', 'n=>lives', expires := '2101-01-01');
--> post
--> q.<11>
select expires, data from mbus4.consume('q');
--> expires | data
--> 2101-01-01 00:00:00 | "n"=>"lives"
select mbus4.post('q', 'n=>short', expires := (now() + interval '200 milliseconds')::timestamp);
--> post
--> q.<12>
select data from mbus4.consume('q');
--> data
--> "n"=>"short"
select mbus4.post('q', 'n=>shorter', expires := (now() + interval '200 milliseconds')::timestamp);
--> post
--> q.<13>
-- keep m
select mbus4.post('q', 'n=>shortest', expires := (now() + interval '100 milliseconds')::timestamp);
--> post
--> q.<14>
select mbus4.is_msg_exists(:m);
--> is_msg_exists
--> t
select pg_sleep(0.5);
--> pg_sleep
-->
select data from mbus4.consume('q');
--> data
--> (0 rows)
select mbus4.is_msg_exists(:m), mbus4.peek_q(:m);
--> is_msg_exists | peek_q
--> f | f
select (mbus4.take(:m)).iid;
--> iid
--> NULL
select mbus4.clear_queue_q();
--> clear_queue_q
-->
select data from mbus4.messages('q');
--> data
--> "n"=>"future"
-- delayed and expired before it is due
select mbus4.post('q', 'n=>never', delayed_until := (now() + interval '400 milliseconds')::timestamp, expires := (now() + interval '200 milliseconds')::timestamp);
--> post
--> q.<15>
select pg_sleep(0.6);
--> pg_sleep
-->
select data from mbus4.consume('q');
--> data
--> (0 rows)
-- by a generated function, and for a subscriber
select mbus4.create_consumer('q', 'c');
--> create_consumer
-->
select mbus4.post_q('n=>both', delayed_until := (now() + interval '200 milliseconds')::timestamp);
--> post_q
--> q.<16>
select data from mbus4.consume('q', 'c');
--> data
--> (0 rows)
select pg_sleep(0.4);
--> pg_sleep
-->
select data from mbus4.consume('q', 'c');
--> data
--> "n"=>"both"
select data from mbus4.consume('q');
--> data
--> "n"=>"both"
select data from mbus4.consume('q', 'c');
--> data
--> (0 rows)
