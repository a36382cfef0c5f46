'use strict';
// Tutorial 1, hello: one producer, one queue, one consumer.

const assert = require('node:assert/strict');
const { connect, inbox, run } = require('./support');

run(async () => {
  const queue = 'tut.node.hello';
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.deleteQueue(queue);
  const declared = await channel.assertQueue(queue, { durable: false });
  assert.deepEqual(declared, { queue, messageCount: 0, consumerCount: 0 });
  channel.sendToQueue(queue, Buffer.from('Hello World!'));

  const received = inbox();
  await channel.consume(queue, received, { noAck: true });
  const [message] = await received.wait(1);
  assert.equal(message.content.toString(), 'Hello World!');
  assert.equal(message.fields.exchange, '');
  assert.equal(message.fields.routingKey, queue);
  assert.equal(message.fields.deliveryTag, 1);
  assert.equal(message.fields.redelivered, false);

  await channel.deleteQueue(queue);
  await connection.close();
});
