'use strict';
// Tutorial 3, publish/subscribe: a fanout exchange copies every log line to every subscriber.

const assert = require('node:assert/strict');
const { connect, inbox, run } = require('./support');

const exchange = 'tut.node.logs';

async function subscriber() {
  const connection = await connect();
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await channel.bindQueue(queue, exchange, '');
  const received = inbox();
  await channel.consume(queue, received, { noAck: true });
  return { connection, queue, received };
}

run(async () => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.deleteExchange(exchange);
  await channel.assertExchange(exchange, 'fanout', { durable: false });
  channel.publish(exchange, '', Buffer.from('nobody listens yet')); // dropped, as there is no queue

  const subscribers = [await subscriber(), await subscriber(), await subscriber()];
  assert.equal(new Set(subscribers.map((s) => s.queue)).size, 3);
  assert.ok(subscribers.every((s) => s.queue.startsWith('amq.gen-')));

  const lines = Array.from({ length: 20 }, (_, n) => `line ${n}`);
  for (const line of lines) channel.publish(exchange, 'ignored', Buffer.from(line));
  for (const { connection: own, received } of subscribers) {
    const messages = await received.wait(lines.length);
    assert.deepEqual(messages.map((m) => m.content.toString()), lines);
    assert.ok(messages.every((m) => m.fields.exchange === exchange && m.fields.routingKey === 'ignored'));
    await own.close();
  }

  await channel.deleteExchange(exchange);
  await connection.close();
});
