-- Publish and subscribe.
select mbus4.create_queue('news', 8);
--> create_queue
-->
select mbus4.create_queue('other', 8);
--> create_queue
-->
-- only what comes after a subscriber
select mbus4.post('news', 'n=>early');
--> post
--> news.<1>
select mbus4.create_consumer('news', 'everything', null);
--> create_consumer
-->
select mbus4.create_consumer('news', 'done', $$(t.properties->'STATE')='DONE'$$);
--> create_consumer
-->
select mbus4.create_consumer(cname := 'blank', qname := 'news', selector := '   ');
--> create_consumer
-->
select mbus4.post('news', 'n=>1', '', 'STATE=>DONE');
--> post
--> news.<2>
select mbus4.post('news', 'n=>2', '', 'STATE=>BEGUN');
--> post
--> news.<3>
select mbus4.post('news', 'n=>3');
--> post
--> news.<4>
select data from mbus4.consume('news', 'everything');
--> data
--> "n"=>"1"
select data from mbus4.consume('news', 'done');
--> data
--> "n"=>"1"
select data from mbus4.consume('news', 'done');
--> data
--> (0 rows)
select data from mbus4.consumen_news_by_everything(10);
--> data
--> "n"=>"2"
--> "n"=>"3"
select data from mbus4.consumen_news_by_done(10);
--> data
--> (0 rows)
select data from mbus4.consumen_news_by_default(10);
--> data
--> "n"=>"early"
--> "n"=>"1"
--> "n"=>"2"
--> "n"=>"3"
select data from mbus4.consumen_news_by_blank(10);
--> data
--> "n"=>"1"
--> "n"=>"2"
--> "n"=>"3"
select data from mbus4.consume_news_by_done();
--> data
--> (0 rows)
select name, qname, selector from mbus4.consumer order by qname, name;
--> name | qname | selector
--> blank | news | NULL
--> default | news | NULL
--> done | news | (t.properties->'STATE')='DONE'
--> everything | news | NULL
--> default | other | NULL
-- again, and with another selector
select mbus4.create_consumer('news', 'done', $$(t.properties->'STATE')='DONE'$$);
--> create_consumer
-->
select mbus4.create_consumer('news', 'done', 'true');
--> ERROR P0001: Consumer with identical name (done) and different selector already exists!
select mbus4.create_consumer('news', 'done', null);
--> ERROR P0001: Consumer with identical name (done) and different selector already exists!
select mbus4.create_consumer('news', 'everything', null);
--> create_consumer
-->
-- names are unique among all queues
select mbus4.create_consumer('other', 'done', 'true');
--> ERROR P0001: Consumer with identical name (done) and different queue already exists!
-- the order of the extension
select mbus4.create_consumer('reversed', 'other');
--> create_consumer
-->
select mbus4.post('other', 'n=>1');
--> post
--> other.<1>
select data from mbus4.consume('other', 'reversed');
--> data
--> "n"=>"1"
-- noindex
select mbus4.create_consumer('other', 'big', $$t.data ? 'k'$$, true);
--> NOTICE: You must create index qt$other_for_big on mbus4.qt$other(added, delayed_until) WHERE (t.data ? 'k')
--> create_consumer
-->
select mbus4.create_consumer('other', 'big2', null, noindex := true);
--> NOTICE: You must create index qt$other_for_big2 on mbus4.qt$other(added, delayed_until) WHERE (1=1)
--> create_consumer
-->
select mbus4.create_consumer('other', 'small', noindex => false);
--> create_consumer
-->
select mbus4.post('other', 'k=>1');
--> post
--> other.<2>
select data from mbus4.consume('other', 'big');
--> data
--> "k"=>"1"
-- errors
select mbus4.create_consumer('none', 'c2', null);
--> ERROR P0001: Wrong queue name:none
select mbus4.create_consumer('news', 'Bad-Name', null);
--> ERROR P0001: Wrong consumer name:Bad-Name
select mbus4.create_consumer('news', 'name_of_thirty_three_characters__', null);
--> ERROR P0001: Wrong consumer name:name_of_thirty_three_characters__
select mbus4.create_consumer('news', null, null);
--> ERROR P0001: Wrong consumer name:<NULL>
-- a message exists until all have received it
select mbus4.drop_queue('other');
--> drop_queue
-->
select mbus4.create_queue('two', 1);
--> create_queue
-->
select mbus4.create_consumer('two', 'second');
--> create_consumer
-->
-- keep m
select mbus4.post('two', 'n=>1');
--> post
--> two.<1>
select mbus4.is_msg_exists(:m), mbus4.peek_two(:m);
--> is_msg_exists | peek_two
--> t | t
select data from mbus4.consume('two');
--> data
--> "n"=>"1"
select mbus4.is_msg_exists(:m), mbus4.peek_two(:m);
--> is_msg_exists | peek_two
--> t | t
select data from mbus4.consume('two', 'second');
--> data
--> "n"=>"1"
select mbus4.is_msg_exists(:m), mbus4.peek_two(:m);
--> is_msg_exists | peek_two
--> f | f
-- dropping
select mbus4.post('two', 'n=>2') is not null as posted;
--> posted
--> t
select mbus4.drop_consumer('second', 'two');
--> drop_consumer
-->
select * from mbus4.consume('two', 'second');
--> ERROR P0001: unknown consumer:second
select * from mbus4.consume_two_by_second();
--> ERROR 42883: function mbus4.consume_two_by_second() does not exist
select * from mbus4.consumen_two_by_second(1);
--> ERROR 42883: function mbus4.consumen_two_by_second(integer) does not exist
select mbus4.take_from_two_by_second('two.1');
--> ERROR 42883: function mbus4.take_from_two_by_second(unknown) does not exist
select mbus4.drop_consumer('second', 'two');
--> ERROR P0001: unknown consumer:second
select mbus4.drop_consumer('second', 'none');
--> ERROR P0001: Queue none does not exists
select mbus4.drop_consumer(qname := 'news', cname := 'done');
--> drop_consumer
-->
select data from mbus4.consume('two');
--> data
--> "n"=>"2"
select name, qname, selector from mbus4.consumer order by qname, name;
--> name | qname | selector
--> blank | news | NULL
--> default | news | NULL
--> everything | news | NULL
--> default | two | NULL
-- one made again sees only what comes then
select mbus4.post('two', 'n=>3') is not null as posted;
--> posted
--> t
select mbus4.create_consumer('two', 'second');
--> create_consumer
-->
select data from mbus4.consume('two', 'second');
--> data
--> (0 rows)
-- two groups, many messages
select count(mbus4.post('two', hstore('n', n::text), '', hstore('odd', (n % 2)::text))) from generate_series(1, 20) n;
--> count
--> 20
select count(*) from mbus4.consumen_two_by_default(100);
--> count
--> 21
select string_agg(data->'n', ' ') from mbus4.consumen_two_by_second(100);
--> string_agg
--> 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
