-- Messages that wait for others.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.create_queue('r', 8);
--> create_queue
-->
-- one that never was keeps nobody
select mbus4.post('q', 'n=>free', hstore('consume_after', '{q.0}'));
--> post
--> q.<1>
select data from mbus4.consume('q');
--> data
--> "n"=>"free"
-- across queues
-- keep a
select mbus4.post('q', 'n=>a');
--> post
--> q.<2>
-- keep b
select mbus4.post('r', 'n=>b', hstore('consume_after', array[:a]::text));
--> post
--> r.<1>
select mbus4.post('q', 'n=>c', hstore('consume_after', array[:a, :b]::text));
--> post
--> q.<3>
select data from mbus4.consume('r');
--> data
--> (0 rows)
select data from mbus4.consume('q');
--> data
--> "n"=>"a"
select data from mbus4.consume('q');
--> data
--> (0 rows)
select data from mbus4.consume('r');
--> data
--> "n"=>"b"
select data from mbus4.consume('q');
--> data
--> "n"=>"c"
-- held is not gone
-- keep d
select mbus4.post('q', 'n=>d');
--> post
--> q.<4>
select mbus4.post('r', 'n=>e', ('consume_after=>"{' || :d || '}"')::hstore);
--> post
--> r.<2>
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"d"
-- session b
select * from mbus4.consume('r');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- session a
rollback;
--> ROLLBACK
-- session b
select * from mbus4.consume('r');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
-- session a
select data from mbus4.consume('q');
--> data
--> "n"=>"d"
-- session b
select data from mbus4.consume('r');
--> data
--> "n"=>"e"
-- session a
-- within one transaction what was consumed is gone
-- keep f
select mbus4.post('q', 'n=>f');
--> post
--> q.<5>
select mbus4.post('q', 'n=>g', hstore('consume_after', array[:f]::text));
--> post
--> q.<6>
begin;
--> BEGIN
select data from mbus4.consume('q');
--> data
--> "n"=>"f"
select data from mbus4.consume('q');
--> data
--> "n"=>"g"
commit;
--> COMMIT
-- but not within one statement
-- keep h
select mbus4.post('q', 'n=>h');
--> post
--> q.<7>
select mbus4.post('q', 'n=>i', hstore('consume_after', array[:h]::text));
--> post
--> q.<8>
select data from mbus4.consumen_q_by_default(10);
--> data
--> "n"=>"h"
select data from mbus4.consumen_q_by_default(10);
--> data
--> "n"=>"i"
-- take lets what waits go
-- keep k
select mbus4.post('q', 'n=>k', delayed_until := '2101-01-01');
--> post
--> q.<9>
select mbus4.post('r', 'n=>l', hstore('consume_after', array[:k]::text));
--> post
--> r.<3>
select * from mbus4.consume('r');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select data from mbus4.take(:k);
--> data
--> "n"=>"k"
select data from mbus4.consume('r');
--> data
--> "n"=>"l"
-- one that waits can be taken
-- keep m
select mbus4.post('q', 'n=>m');
--> post
--> q.<10>
-- keep n
select mbus4.post('r', 'n=>n', hstore('consume_after', array[:m]::text));
--> post
--> r.<4>
select data from mbus4.take(:n);
--> data
--> "n"=>"n"
select data from mbus4.consume('q');
--> data
--> "n"=>"m"
-- one that expired is gone
-- keep o
select mbus4.post('q', 'n=>o', expires := (now() + interval '200 milliseconds')::timestamp);
--> post
--> q.<11>
select mbus4.post('r', 'n=>p', hstore('consume_after', array[:o]::text));
--> post
--> r.<5>
select * from mbus4.consume('r');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select pg_sleep(0.4);
--> pg_sleep
-->
select data from mbus4.consume('r');
--> data
--> "n"=>"p"
-- every subscriber has to have received it
select mbus4.create_consumer('q', 'second');
--> create_consumer
-->
-- keep s
select mbus4.post('q', 'n=>s');
--> post
--> q.<12>
select mbus4.post('r', 'n=>t', hstore('consume_after', array[:s]::text));
--> post
--> r.<6>
select data from mbus4.consume('q');
--> data
--> "n"=>"s"
select * from mbus4.consume('r');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select data from mbus4.consume('q', 'second');
--> data
--> "n"=>"s"
select data from mbus4.consume('r');
--> data
--> "n"=>"t"
-- what is no array
select mbus4.post('q', 'n=>1', 'consume_after=>q');
--> ERROR 22P02: malformed array literal: "q"
select mbus4.post('q', 'n=>nothing', 'consume_after=>"{}"');
--> post
--> q.<13>
select mbus4.post('q', 'n=>null', 'consume_after=>NULL');
--> post
--> q.<14>
select data from mbus4.consumen_q_by_default(10);
--> data
--> "n"=>"nothing"
--> "n"=>NULL
-- The posts of a transaction were added at the same time: delayed_until decides, which is an hour
-- earlier unless it is given.
select mbus4.create_queue('past', 8);
--> create_queue
-->
begin;
--> BEGIN
select mbus4.post('past', 'n=>1') is not null, mbus4.post('past', 'n=>2', delayed_until => '2000-01-02') is not null, mbus4.post('past', 'n=>3', delayed_until => '2000-01-01') is not null;
--> ?column? | ?column? | ?column?
--> t | t | t
select data from mbus4.consume('past');
--> data
--> "n"=>"3"
rollback;
--> ROLLBACK
begin;
--> BEGIN
select mbus4.post('past', 'n=>1', delayed_until => localtimestamp - interval '10 minutes') is not null, mbus4.post('past', 'n=>2', delayed_until => '2000-01-02') is not null, mbus4.post('past', 'n=>3', delayed_until => '2000-01-01') is not null, mbus4.post('past', 'n=>4') is not null;
--> ?column? | ?column? | ?column? | ?column?
--> t | t | t | t
commit;
--> COMMIT
select mbus4.post('past', 'n=>5', delayed_until => '1999-01-01') is not null;
--> ?column?
--> t
select data from mbus4.consumen_past_by_default(10);
--> data
--> "n"=>"3"
--> "n"=>"2"
--> "n"=>"4"
--> "n"=>"1"
--> "n"=>"5"
