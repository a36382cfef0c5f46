-- A copy that a trigger makes is a message of its own: what it has of its original, and what not.
select mbus4.create_queue('src', 4);
--> create_queue
-->
select mbus4.create_queue('mid', 4);
--> create_queue
-->
select mbus4.create_queue('dst', 4);
--> create_queue
-->
select mbus4.create_consumer('sub', 'dst', $$t.data ? 'a'$$);
--> create_consumer
-->
select mbus4.create_trigger('src', 'mid');
--> create_trigger
-->
select mbus4.create_trigger('mid', 'dst');
--> create_trigger
-->
select mbus4.create_trigger('src', 'dst', $$t.data->'a' = '1'$$);
--> create_trigger
-->
-- each way gives one
-- keep one
select mbus4.post('src', 'a=>1', 'h=>1, seenby=>"{x,y}"', 'p=>1');
--> post
--> src.<1>
select iid, data, properties, headers - array['enqueue_time'] as headers, received, delayed_until < localtimestamp as due, expires from mbus4.consumen_dst_by_default(10) order by id;
--> iid | data | properties | headers | received | due | expires
--> dst.<1> | "a"=>"1" | "p"=>"1" | "h"=>"1", "seenby"=>"{x,y,copies}", "source_db"=>"copies", "destination"=>"dst", "destination_queue"=>"dst" | {} | t | NULL
--> dst.<2> | "a"=>"1" | "p"=>"1" | "h"=>"1", "seenby"=>"{x,y,copies}", "source_db"=>"copies", "destination"=>"dst", "destination_queue"=>"dst" | {} | t | NULL
select iid, data from mbus4.consumen_dst_by_sub(10) order by id;
--> iid | data
--> dst.<1> | "a"=>"1"
--> dst.<2> | "a"=>"1"
select iid from mbus4.consume('mid');
--> iid
--> mid.<1>
select iid, headers - array['enqueue_time'] as headers from mbus4.consume('src');
--> iid | headers
--> src.<1> | "h"=>"1", "seenby"=>"{x,y,copies}", "source_db"=>"copies", "destination"=>"src", "destination_queue"=>"src"
-- the same time of posting
select mbus4.post('src', 'b=>1', 'enqueue_time=>"2026-01-02 03:04:05"');
--> post
--> src.<2>
select iid, added, headers->'enqueue_time' as t from mbus4.consume('src');
--> iid | added | t
--> src.<2> | 2026-01-02 03:04:05 | 2026-01-02 03:04:05
select iid, added, headers->'enqueue_time' as t from mbus4.consume('mid');
--> iid | added | t
--> mid.<2> | 2026-01-02 03:04:05 | 2026-01-02 03:04:05
select iid, added, headers->'enqueue_time' as t from mbus4.consume('dst');
--> iid | added | t
--> dst.<3> | 2026-01-02 03:04:05 | 2026-01-02 03:04:05
-- who waits for the original does not wait for copies
-- keep one
select mbus4.post('src', 'a=>2');
--> post
--> src.<3>
select mbus4.post('dst', 'w=>1', hstore('consume_after', array[:one]::text));
--> post
--> dst.<4>
select iid from mbus4.consume('mid');
--> iid
--> mid.<3>
select mbus4.is_msg_exists(:one), (mbus4.peek(:one)).data;
--> is_msg_exists | data
--> t | "a"=>"2"
select data from mbus4.consumen_dst_by_default(10);
--> data
--> "a"=>"2"
select (mbus4.take(:one)).data;
--> data
--> "a"=>"2"
select mbus4.is_msg_exists(:one), (mbus4.peek(:one)).data, (mbus4.take(:one)).data;
--> is_msg_exists | data | data
--> f | NULL | NULL
select data from mbus4.consumen_dst_by_default(10);
--> data
--> "w"=>"1"
select data from mbus4.consumen_dst_by_sub(10);
--> data
--> "a"=>"2"
-- a copy is found by its own iid, in all ways
select mbus4.post('src', 'a=>3');
--> post
--> src.<4>
-- keep copy
select (mbus4.peek_mid()), iid from mbus4.messages('mid');
--> peek_mid | iid
--> t | mid.<4>
select iid from mbus4.consume('mid');
--> iid
--> mid.<4>
select mbus4.is_msg_exists(:copy), (mbus4.peek(:copy)).data, (mbus4.take(:copy)).data;
--> is_msg_exists | data | data
--> f | NULL | NULL
select iid from mbus4.consume('src');
--> iid
--> src.<4>
-- keep copy
select iid, data from mbus4.consume('dst');
--> iid | data
--> dst.<5> | "a"=>"3"
select mbus4.is_msg_exists(:copy), (mbus4.peek(:copy)).data;
--> is_msg_exists | data
--> t | "a"=>"3"
select (mbus4.take(:copy)).iid;
--> iid
--> dst.<5>
select mbus4.is_msg_exists(:copy);
--> is_msg_exists
--> f
-- a delay and an end are those of the original alone
select mbus4.post('src', 'a=>4', null, null, localtimestamp + interval '1 hour', localtimestamp + interval '2 hours');
--> post
--> src.<5>
select data from mbus4.consume('src');
--> data
--> (0 rows)
select data, expires from mbus4.consume('mid');
--> data | expires
--> "a"=>"4" | NULL
select data, expires from mbus4.consume('dst');
--> data | expires
--> "a"=>"4" | NULL
select data, expires from mbus4.consume('dst', 'sub');
--> data | expires
--> "a"=>"4" | NULL
select mbus4.post('src', 'a=>5', null, null, null, localtimestamp - interval '1 second');
--> post
--> src.<6>
select data from mbus4.consume('src');
--> data
--> (0 rows)
select data, expires from mbus4.consume('mid');
--> data | expires
--> "a"=>"5" | NULL
select data, expires from mbus4.consume('dst');
--> data | expires
--> "a"=>"5" | NULL
select data, expires from mbus4.consume('dst', 'sub');
--> data | expires
--> "a"=>"5" | NULL
-- an iid that was given is the original's alone
select mbus4.post('src', 'a=>6', iid => 'src.given');
--> post
--> src.given
select iid from mbus4.consume('src');
--> iid
--> src.given
select iid from mbus4.consume('mid');
--> iid
--> mid.<5>
select iid from mbus4.consumen_dst_by_default(9);
--> iid
--> dst.<6>
select iid from mbus4.consumen_dst_by_sub(9);
--> iid
--> dst.<6>
-- what a message waits for its copy waits for
-- keep one
select mbus4.post('dmq', 'first=>1');
--> post
--> dmq.<1>
select mbus4.post('src', 'b=>7', hstore('consume_after', array[:one]::text));
--> post
--> src.<7>
select data from mbus4.consume('src');
--> data
--> (0 rows)
select data from mbus4.consume('mid');
--> data
--> (0 rows)
select data from mbus4.consume('dst');
--> data
--> (0 rows)
select data from mbus4.consume('dmq');
--> data
--> "first"=>"1"
select data from mbus4.consume('src');
--> data
--> "b"=>"7"
select data from mbus4.consume('mid');
--> data
--> "b"=>"7"
select data from mbus4.consume('dst');
--> data
--> "b"=>"7"
-- Redeploy is a boolean
select mbus4.post('src', 'r=>1', 'Redeploy=>false');
--> post
--> src.<8>
select mbus4.post('src', 'r=>2', 'Redeploy=>NULL');
--> post
--> src.<9>
select mbus4.post('src', 'r=>3', 'Redeploy=>0');
--> post
--> src.<10>
select mbus4.post('src', 'r=>4', 'Redeploy=>true');
--> post
--> src.<11>
select mbus4.post('src', 'r=>5', 'Redeploy=>" YES "');
--> post
--> src.<12>
select mbus4.post('src', 'r=>6', 'Redeploy=>x');
--> ERROR 22P02: invalid input syntax for type boolean: "x"
select mbus4.post('src', 'r=>7', 'Redeploy=>""');
--> ERROR 22P02: invalid input syntax for type boolean: ""
select mbus4.post('dst', 'r=>8', 'Redeploy=>maybe');
--> ERROR 22P02: invalid input syntax for type boolean: "maybe"
select mbus4.post('src', 'r=>9', 'redeploy=>true');
--> post
--> src.<13>
select data from mbus4.consumen_src_by_default(20);
--> data
--> "r"=>"1"
--> "r"=>"2"
--> "r"=>"3"
--> "r"=>"4"
--> "r"=>"5"
--> "r"=>"9"
select data, headers->'Redeploy' as r from mbus4.consumen_mid_by_default(20);
--> data | r
--> "r"=>"1" | false
--> "r"=>"2" | NULL
--> "r"=>"3" | 0
--> "r"=>"9" | NULL
select data from mbus4.consumen_dst_by_default(20);
--> data
--> "r"=>"1"
--> "r"=>"2"
--> "r"=>"3"
--> "r"=>"9"
-- a rollback takes copies back, a savepoint too
begin;
--> BEGIN
select mbus4.post('src', 'a=>8');
--> post
--> src.<14>
savepoint s;
--> SAVEPOINT
select mbus4.post('src', 'a=>9');
--> post
--> src.<15>
select data from mbus4.consumen_mid_by_default(9);
--> data
--> "a"=>"8"
--> "a"=>"9"
rollback to s;
--> ROLLBACK
select data from mbus4.consumen_mid_by_default(9);
--> data
--> "a"=>"8"
rollback;
--> ROLLBACK
select data from mbus4.consumen_mid_by_default(9);
--> data
--> (0 rows)
-- temporary consumers: their copies are waited for by nobody; they come and go with the original
-- session b
-- keep temp
select mbus4.create_temporary_consumer('src', $$t.data ? 't'$$);
--> create_temporary_consumer
--> temp.<1>
-- session a
-- keep one
select mbus4.post('src', 't=>1', 'h=>1', 'p=>1');
--> post
--> src.<16>
select mbus4.post('src', 't=>2', hstore('consume_after', array[:one]::text));
--> post
--> src.<17>
select mbus4.post('src', 'u=>1');
--> post
--> src.<18>
select mbus4.post('src', 't=>3', null, null, localtimestamp + interval '1 hour', localtimestamp + interval '2 hours');
--> post
--> src.<19>
select mbus4.post('src', 't=>4', null, null, null, localtimestamp - interval '1 second');
--> post
--> src.<20>
select (mbus4.take(:one)).data;
--> data
--> "t"=>"1"
select mbus4.is_msg_exists(:one);
--> is_msg_exists
--> f
select data from mbus4.consumen_src_by_default(9);
--> data
--> "t"=>"2"
--> "u"=>"1"
-- session b
-- keep copy
select iid, data, properties, headers->'h' as h, headers->'seenby' as seenby, headers->'destination_queue' like 'temp.%' as destination from mbus4.consume(:temp);
--> iid | data | properties | h | seenby | destination
--> copies.<1> | "t"=>"1" | "p"=>"1" | 1 | {copies} | t
select iid, data from mbus4.consume(:temp);
--> iid | data
--> copies.<2> | "t"=>"2"
select iid, data from mbus4.consume(:temp);
--> iid | data
--> (0 rows)
-- a message in a temporary queue is no message to wait for
-- keep one
select mbus4.post(:temp, 'x=>1');
--> post
--> copies.<3>
select mbus4.is_msg_exists(:one), (mbus4.peek(:one)).data;
--> is_msg_exists | data
--> f | NULL
begin;
--> BEGIN
-- keep one
select mbus4.post(:temp, 'x=>2');
--> post
--> copies.<4>
select mbus4.is_msg_exists(:one);
--> is_msg_exists
--> f
commit;
--> COMMIT
select mbus4.post('mid', 'x=>3', hstore('consume_after', array[:one]::text));
--> post
--> mid.<6>
select data from mbus4.consumen_mid_by_default(20);
--> data
--> "t"=>"1"
--> "t"=>"2"
--> "u"=>"1"
--> "t"=>"3"
--> "t"=>"4"
--> "x"=>"3"
-- what moves to the dead message queue is not posted, and so not copied
select mbus4.create_queue('dead', 1);
--> create_queue
-->
select mbus4.create_trigger('dmq', 'dead');
--> create_trigger
-->
select mbus4.create_run_function('src');
--> create_run_function
-->
select mbus4.post('src', 'z=>1', 'Redeploy=>true');
--> post
--> src.<21>
select mbus4.run_on_src('select 1/0');
--> run_on_src
--> 0
select data from mbus4.consume('dmq');
--> data
--> "z"=>"1"
select data from mbus4.consume('dead');
--> data
--> (0 rows)
