-- Consuming: rows, columns, order.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.post('q', 'n=>1', '', 'p=>1');
--> post
--> q.<1>
select mbus4.post('q', 'n=>2');
--> post
--> q.<2>
select mbus4.post('q', 'n=>3');
--> post
--> q.<3>
select mbus4.post('q', 'n=>4');
--> post
--> q.<4>
select mbus4.post('q', 'n=>5');
--> post
--> q.<5>
select mbus4.post('q', 'n=>6');
--> post
--> q.<6>
select mbus4.post('q', 'n=>7');
--> post
--> q.<7>
select mbus4.post('q', 'n=>8');
--> post
--> q.<8>
select id, iid, received, headers, properties, data, expires from mbus4.consume('q');
--> id | iid | received | headers | properties | data | expires
--> <id> | q.<1> | {} | "seenby"=>"{consume}", "source_db"=>"consume", "destination"=>"q", "enqueue_time"=>"<time>", "destination_queue"=>"q" | "p"=>"1" | "n"=>"1" | NULL
select iid, data from mbus4.consume('q', 'default');
--> iid | data
--> q.<2> | "n"=>"2"
select iid, data from mbus4.consume(qname := 'q', cname := 'default');
--> iid | data
--> q.<3> | "n"=>"3"
select data->'n' as n from mbus4.consume(cname => 'default', qname => 'q');
--> n
--> 4
select (c).data->'n' as n from mbus4.consume('q') as c;
--> n
--> 5
select (mbus4.consume('q')).iid;
--> iid
--> q.<6>
select c.data, c.added > now() - interval '1 hour' as fresh, c.added - c.delayed_until as earlier from mbus4.consume_q_by_default() c;
--> data | fresh | earlier
--> "n"=>"7" | t | 01:00:00
select data from mbus4.consume('q') where data->'n' = 'no';
--> data
--> (0 rows)
select data from mbus4.consume('q');
--> data
--> (0 rows)
-- consumen
select mbus4.post('q', hstore('n', n::text)) from generate_series(1, 9) n;
--> post
--> q.<9>
--> q.<10>
--> q.<11>
--> q.<12>
--> q.<13>
--> q.<14>
--> q.<15>
--> q.<16>
--> q.<17>
select data->'n' as n from mbus4.consumen_q_by_default(0);
--> n
--> (0 rows)
select data->'n' as n from mbus4.consumen_q_by_default(3);
--> n
--> 1
--> 2
--> 3
select data->'n' as n from mbus4.consumen_q_by_default(amt := 2) order by 1 desc;
--> n
--> 5
--> 4
select string_agg(data->'n', ',') from mbus4.consumen_q_by_default(amt => 3);
--> string_agg
--> 6,7,8
select data->'n' as n from mbus4.consumen_q_by_default(-1);
--> ERROR 2201W: LIMIT must not be negative
select data->'n' as n from mbus4.consumen_q_by_default(null);
--> n
--> 9
select data->'n' as n from mbus4.consumen_q_by_default(10);
--> n
--> (0 rows)
select mbus4.consumen_q_by_default('many');
--> ERROR 22P02: invalid input syntax for type integer: "many"
select mbus4.consumen_q_by_default();
--> ERROR 42883: function mbus4.consumen_q_by_default() does not exist
-- the order is that of added
select mbus4.post('q', 'n=>second', hstore('enqueue_time', '2002-01-01 00:00:00'));
--> post
--> q.<18>
select mbus4.post('q', 'n=>first', hstore('enqueue_time', '2001-01-01 00:00:00'));
--> post
--> q.<19>
select mbus4.post('q', 'n=>last');
--> post
--> q.<20>
select mbus4.post('q', 'n=>third', hstore('enqueue_time', '2002-01-01 00:00:00.000001'));
--> post
--> q.<21>
select added, data->'n' as n from mbus4.consumen_q_by_default(4);
--> added | n
--> 2001-01-01 00:00:00 | first
--> 2002-01-01 00:00:00 | second
--> 2002-01-01 00:00:00.000001 | third
--> <time> | last
-- ties are ordered by delayed_until
select mbus4.post('q', 'n=>b', hstore('enqueue_time', '2002-01-01'), delayed_until := '2001-01-02');
--> post
--> q.<22>
select mbus4.post('q', 'n=>a', hstore('enqueue_time', '2002-01-01'), delayed_until := '2001-01-01');
--> post
--> q.<23>
select delayed_until, data->'n' as n from mbus4.consumen_q_by_default(4);
--> delayed_until | n
--> 2001-01-01 00:00:00 | a
--> 2001-01-02 00:00:00 | b
-- errors
select * from mbus4.consume('none');
--> ERROR P0001: Queue none does not exists
select * from mbus4.consume('q', 'none');
--> ERROR P0001: unknown consumer:none
select * from mbus4.consume('none', 'none');
--> ERROR P0001: Queue none does not exists
select * from mbus4.consume();
--> ERROR 42883: function mbus4.consume() does not exist
select * from mbus4.consume('q', 'default', 'more');
--> ERROR 42883: function mbus4.consume(unknown, unknown, unknown) does not exist
select * from mbus4.consume_q_by_none();
--> ERROR 42883: function mbus4.consume_q_by_none() does not exist
select * from mbus4.consume_none_by_default();
--> ERROR 42883: function mbus4.consume_none_by_default() does not exist
select * from mbus4.consume('temp.12345678.1');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> (0 rows)
select colour from mbus4.consume('q');
--> ERROR 42703: column "colour" does not exist
-- a failed statement takes nothing
select mbus4.post('q', 'n=>kept');
--> post
--> q.<24>
select 1 / (length(data->'n') - 4) from mbus4.consume('q');
--> ERROR 22012: division by zero
select data from mbus4.consume('q');
--> data
--> "n"=>"kept"
select count(*) from mbus4.consume('q');
--> count
--> 0
