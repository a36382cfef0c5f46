-- A saga: a tour is booked step by step; what was done is undone when a step fails.
select mbus4.create_queue('room', 8);
--> create_queue
-->
select mbus4.create_queue('ticket', 8);
--> create_queue
-->
select mbus4.create_queue('transfer', 8);
--> create_queue
-->
select mbus4.create_queue('booked', 8);
--> create_queue
-->
select mbus4.create_queue('bung', 8);
--> create_queue
-->
select mbus4.create_queue('undo_room', 8);
--> create_queue
-->
select mbus4.create_queue('undo_ticket', 8);
--> create_queue
-->
select mbus4.create_queue('undone', 8);
--> create_queue
-->
begin;
--> BEGIN
-- keep bung
select mbus4.get_iid('bung');
--> get_iid
--> bung.<1>
-- keep final
select mbus4.get_iid('booked');
--> get_iid
--> booked.<1>
-- keep room
select mbus4.post('room', 'tour=>1', '', hstore('bung', :bung));
--> post
--> room.<1>
-- keep there
select mbus4.post('ticket', 'way=>there', hstore('consume_after', array[:room]::text), hstore('bung', :bung));
--> post
--> ticket.<1>
-- keep back
select mbus4.post('ticket', 'way=>back', hstore('consume_after', array[:room]::text), hstore('bung', :bung));
--> post
--> ticket.<2>
-- keep transfer
select mbus4.post('transfer', 'tour=>1', hstore('consume_after', array[:there, :back]::text), hstore('bung', :bung));
--> post
--> transfer.<1>
select mbus4.post('booked', hstore('take', array[:bung]::text), hstore('consume_after', array[:transfer]::text), iid := :final);
--> post
--> booked.<1>
select mbus4.post('bung', hstore('take', array[:room, :there, :back, :transfer, :final]::text), iid := :bung);
--> post
--> bung.<1>
-- keep noroom
select mbus4.post('undo_room', 'undo=>room', hstore('consume_after', array[:bung]::text));
--> post
--> undo_room.<1>
-- keep noticket
select mbus4.post('undo_ticket', 'undo=>tickets', hstore('consume_after', array[:bung]::text));
--> post
--> undo_ticket.<1>
select mbus4.post('undone', 'tour=>1', hstore('consume_after', array[:noroom, :noticket]::text));
--> post
--> undone.<1>
commit;
--> COMMIT
-- nothing but the first step can be done
select count(*) from mbus4.consume('ticket');
--> count
--> 0
select count(*) from mbus4.consume('transfer');
--> count
--> 0
select count(*) from mbus4.consume('booked');
--> count
--> 0
select count(*) from mbus4.consume('undo_room');
--> count
--> 0
select count(*) from mbus4.consume('undone');
--> count
--> 0
select data from mbus4.consume('room');
--> data
--> "tour"=>"1"
select data from mbus4.consume('ticket');
--> data
--> "way"=>"there"
select count(*) from mbus4.consume('transfer');
--> count
--> 0
-- the second ticket cannot be had: take the bung, and with it what is still to do
begin;
--> BEGIN
select data, properties->'bung' = :bung as has_bung from mbus4.consume('ticket');
--> data | has_bung
--> "way"=>"back" | t
select (mbus4.take(u.iid)).iid is not null as was_there
  from unnest((select (mbus4.take(:bung)).data->'take')::text[]) as u(iid);
--> was_there
--> f
--> f
--> f
--> t
--> t
commit;
--> COMMIT
select count(*) from mbus4.consume('transfer');
--> count
--> 0
select count(*) from mbus4.consume('booked');
--> count
--> 0
select count(*) from mbus4.consume('undone');
--> count
--> 0
select data from mbus4.consume('undo_ticket');
--> data
--> "undo"=>"tickets"
select count(*) from mbus4.consume('undone');
--> count
--> 0
select data from mbus4.consume('undo_room');
--> data
--> "undo"=>"room"
select data from mbus4.consume('undone');
--> data
--> "tour"=>"1"
select sum(mbus4.estimated_messages(qname)) from mbus4.queue;
--> sum
--> 0
