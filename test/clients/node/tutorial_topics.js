'use strict';
// Tutorial 5, topics: binding keys with * (one word) and # (any number of words).

const assert = require('node:assert/strict');
const { connect, drain, run } = require('./support');

const exchange = 'tut.node.topic_logs';

// Binding keys of a queue -> the routing keys that must reach it, each once.
const queues = [
  { keys: ['*.orange.*'], want: ['quick.orange.rabbit', 'lazy.orange.elephant'] },
  { keys: ['*.*.rabbit', 'lazy.#'], want: ['quick.orange.rabbit', 'lazy.orange.elephant', 'lazy.pink.rabbit', 'lazy'] },
  { keys: ['#'], want: ['quick.orange.rabbit', 'lazy.orange.elephant', 'quick.brown.fox', 'lazy.pink.rabbit', 'orange', 'lazy'] },
  { keys: ['*'], want: ['orange', 'lazy'] },
];

run(async () => {
  const connection = await connect();
  const channel = await connection.createConfirmChannel();
  await channel.deleteExchange(exchange);
  await channel.assertExchange(exchange, 'topic', { durable: false });
  for (const q of queues) {
    q.name = (await channel.assertQueue('', { exclusive: true })).queue;
    for (const key of q.keys) await channel.bindQueue(q.name, exchange, key);
  }

  for (const key of queues[2].want) channel.publish(exchange, key, Buffer.from(key));
  await channel.waitForConfirms();
  for (const q of queues) assert.deepEqual(await drain(channel, q.name), q.want, q.keys.join(' '));

  await channel.deleteExchange(exchange);
  await connection.close();
});
