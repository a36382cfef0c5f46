-- All ways to post, and what is stored.
select mbus4.create_queue('q', 8);
--> create_queue
-->
select mbus4.post('q', 'a=>1');
--> post
--> q.<1>
select * from mbus4.consume('q');
--> id | added | iid | delayed_until | expires | received | headers | properties | data
--> <id> | <time> | q.<1> | <time> | NULL | {} | "seenby"=>"{post}", "source_db"=>"post", "destination"=>"q", "enqueue_time"=>"<time>", "destination_queue"=>"q" | NULL | "a"=>"1"
select mbus4.post('q', 'a=>1'::hstore);
--> post
--> q.<2>
select mbus4.post('q', hstore('a', '1'));
--> post
--> q.<3>
select mbus4.post('q', hstore(array['a', '1', 'b', null]));
--> post
--> q.<4>
select mbus4.post('q', '"a b"=>"c\"d", e=>NULL');
--> post
--> q.<5>
select mbus4.post('q', '');
--> post
--> q.<6>
select mbus4.post('q', null);
--> post
--> q.<7>
select data from mbus4.consumen_q_by_default(10);
--> data
--> "a"=>"1"
--> "a"=>"1"
--> "a"=>"1", "b"=>NULL
--> "e"=>NULL, "a b"=>"c\"d"
-->
--> NULL
-- positional, named with := and =>, mixed
select mbus4.post('q', 'n=>1', 'h=>1', 'p=>1');
--> post
--> q.<8>
select mbus4.post('q', 'n=>2', null, 'p=>2');
--> post
--> q.<9>
select mbus4.post(qname := 'q', data := 'n=>3');
--> post
--> q.<10>
select mbus4.post(data => 'n=>4', qname => 'q', properties => 'p=>4');
--> post
--> q.<11>
select mbus4.post('q', data := 'n=>5', properties := 'p=>5', headers := 'h=>5');
--> post
--> q.<12>
select mbus4.post('q', 'n=>6', '', '', null, null, null);
--> post
--> q.<13>
select mbus4.post_q('n=>7');
--> post_q
--> q.<14>
select mbus4.post_q('n=>8', 'h=>8', 'p=>8');
--> post_q
--> q.<15>
select mbus4.post_q(properties => 'p=>9', data => 'n=>9');
--> post_q
--> q.<16>
select * from mbus4.post('q', 'n=>10');
--> post
--> q.<17>
select data, properties, headers->'h' as h from mbus4.consumen_q_by_default(100);
--> data | properties | h
--> "n"=>"1" | "p"=>"1" | 1
--> "n"=>"2" | "p"=>"2" | NULL
--> "n"=>"3" | NULL | NULL
--> "n"=>"4" | "p"=>"4" | NULL
--> "n"=>"5" | "p"=>"5" | 5
--> "n"=>"6" |  | NULL
--> "n"=>"7" | NULL | NULL
--> "n"=>"8" | "p"=>"8" | 8
--> "n"=>"9" | "p"=>"9" | NULL
--> "n"=>"10" | NULL | NULL
-- the case of the name does not matter
select mbus4.post('Q', 'case=>1');
--> post
--> q.<18>
select data from mbus4.consume('Q');
--> data
--> "case"=>"1"
-- headers: what is added, what is kept
select mbus4.post('q', 'n=>1', 'my=>own, other=>NULL');
--> post
--> q.<19>
select headers from mbus4.consume('q');
--> headers
--> "my"=>"own", "other"=>NULL, "seenby"=>"{post}", "source_db"=>"post", "destination"=>"q", "enqueue_time"=>"<time>", "destination_queue"=>"q"
select mbus4.post('q', 'n=>1', hstore('enqueue_time', '2001-02-03 04:05:06.789'));
--> post
--> q.<20>
select added, headers from mbus4.consume('q');
--> added | headers
--> 2001-02-03 04:05:06.789 | "seenby"=>"{post}", "source_db"=>"post", "destination"=>"q", "enqueue_time"=>"2001-02-03 04:05:06.789", "destination_queue"=>"q"
select mbus4.post('q', 'n=>1', hstore('enqueue_time', '2001-02-03'));
--> post
--> q.<21>
select added, headers from mbus4.consume('q');
--> added | headers
--> 2001-02-03 00:00:00 | "seenby"=>"{post}", "source_db"=>"post", "destination"=>"q", "enqueue_time"=>"2001-02-03", "destination_queue"=>"q"
select mbus4.post('q', 'n=>1', hstore('enqueue_time', 'no time'));
--> ERROR 22007: invalid input syntax for type timestamp: "no time"
select mbus4.post('q', 'n=>1', hstore('seenby', '{one,"t w o"}'));
--> post
--> q.<22>
select headers->'seenby' as seenby from mbus4.consume('q');
--> seenby
--> {one,"t w o",post}
select mbus4.post('q', 'n=>1', hstore('seenby', 'no array'));
--> ERROR 22P02: malformed array literal: "no array"
select mbus4.post('q', 'n=>1', hstore('source_db', 'elsewhere'));
--> post
--> q.<23>
select headers->'source_db' as source_db, headers->'destination' as destination from mbus4.consume('q');
--> source_db | destination
--> elsewhere | q
select headers ? 'destination' as destination from mbus4.consume('q');
--> destination
--> (0 rows)
-- iids
select mbus4.post('q', 'n=>1', iid := 'q.given');
--> post
--> q.given
select mbus4.post('q', 'n=>1', iid := 'q.given');
--> ERROR 23505: Message q.given already exists
select iid, data from mbus4.consume('q');
--> iid | data
--> q.given | "n"=>"1"
select mbus4.post('q', 'n=>2', iid := 'q.given');
--> post
--> q.given
select iid, data from mbus4.consume('q');
--> iid | data
--> q.given | "n"=>"2"
select mbus4.post('q', 'n=>1', iid := 'dmq.given');
--> post
--> dmq.given
select iid from mbus4.consume('q');
--> iid
--> dmq.given
select mbus4.post('q', 'n=>1', iid := 'other.given');
--> ERROR P0001: Wrong iid=other.given for queue q
select mbus4.post('q', 'n=>1', iid := 'qqq');
--> ERROR P0001: Wrong iid=qqq for queue q
select mbus4.post_q('n=>1', iid := 'wrong');
--> ERROR P0001: Wrong iid=wrong for queue q
-- keep reserved
select mbus4.get_iid('q');
--> get_iid
--> q.<24>
select mbus4.post('q', 'reserved=>1', iid := :reserved);
--> post
--> q.<24>
select iid = :reserved as same, data from mbus4.consume('q');
--> same | data
--> t | "reserved"=>"1"
select mbus4.get_iid('none');
--> ERROR P0001: No such queue: none
select mbus4.get_iid(qname := 'q') <> mbus4.get_iid('q') as different;
--> different
--> t
-- what cannot be posted
select mbus4.post('none', 'a=>1');
--> ERROR P0001: Unknown queue:none
select mbus4.post('none.1', 'a=>1');
--> ERROR P0001: Unknown queue:none.<1>
select mbus4.post(null, 'a=>1');
--> ERROR P0001: Unknown queue:<NULL>
select mbus4.post('q', 'a');
--> ERROR XX000: Unexpected end of string
select mbus4.post('q', 'a=>');
--> ERROR XX000: Unexpected end of string
select mbus4.post('q', 1);
--> ERROR 42883: function mbus4.post(unknown, integer) does not exist
select mbus4.post('q');
--> ERROR 42883: function mbus4.post(unknown) does not exist
select mbus4.post('q', 'a=>1', colour := 'red');
--> ERROR 42883: function mbus4.post(unknown, unknown, colour => unknown) does not exist
select mbus4.post('q', 'a=>1', delayed_until := 'whenever');
--> ERROR 22007: invalid input syntax for type timestamp: "whenever"
select count(*) from mbus4.consumen_q_by_default(100);
--> count
--> 0
-- many at once
select count(mbus4.post('q', hstore('n', n::text))) from generate_series(1, 50) as n;
--> count
--> 50
select count(*), min((data->'n')::int), max((data->'n')::int) from mbus4.consumen_q_by_default(100);
--> count | min | max
--> 50 | 1 | 50
select mbus4.post('q', hstore('n', n::text)) from generate_series(1, 3) as n;
--> post
--> q.<25>
--> q.<26>
--> q.<27>
select data->'n' as n from mbus4.consumen_q_by_default(2);
--> n
--> 1
--> 2
select data->'n' as n from mbus4.consumen_q_by_default(2);
--> n
--> 3
