'use strict';
// Tutorial 6, RPC: requests with replyTo and correlationId, answered into an exclusive queue of the caller.

const assert = require('node:assert/strict');
const { connect, inbox, run } = require('./support');

const queue = 'tut.node.rpc_queue';

function fib(n) {
  let [a, b] = [0, 1];
  for (let i = 0; i < n; i++) [a, b] = [b, a + b];
  return a;
}

async function serve() {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.prefetch(1);
  await channel.consume(queue, (request) => {
    const { replyTo, correlationId } = request.properties;
    channel.sendToQueue(replyTo, Buffer.from(String(fib(Number(request.content)))), { correlationId });
    channel.ack(request);
  });
  return connection;
}

run(async () => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.deleteQueue(queue);
  await channel.assertQueue(queue, { durable: false });
  const server = await serve();

  const replyTo = (await channel.assertQueue('', { exclusive: true })).queue;
  const replies = inbox();
  await channel.consume(replyTo, replies, { noAck: true });
  const numbers = [30, 5, 0, 1, 12];
  for (const n of numbers) {
    channel.sendToQueue(queue, Buffer.from(String(n)), { replyTo, correlationId: `call-${n}` });
  }
  const got = (await replies.wait(numbers.length)).map((m) => [m.properties.correlationId, Number(m.content)]);
  assert.deepEqual(got, numbers.map((n) => [`call-${n}`, fib(n)]));

  await server.close();
  await channel.deleteQueue(queue);
  await connection.close();
});
