'use strict';
// Tutorial 4, routing: a direct exchange picks subscribers by severity.

const assert = require('node:assert/strict');
const { connect, drain, run } = require('./support');

const exchange = 'tut.node.direct_logs';

run(async () => {
  const connection = await connect();
  const channel = await connection.createConfirmChannel();
  await channel.deleteExchange(exchange);
  await channel.assertExchange(exchange, 'direct', { durable: false });

  const bound = async (...severities) => {
    const { queue } = await channel.assertQueue('', { exclusive: true });
    for (const severity of severities) await channel.bindQueue(queue, exchange, severity);
    return queue;
  };
  const disk = await bound('error');
  const screen = await bound('info', 'warning', 'error');

  for (const severity of ['info', 'error', 'debug', 'warning', 'error']) {
    channel.publish(exchange, severity, Buffer.from(severity));
  }
  await channel.waitForConfirms();
  assert.deepEqual(await drain(channel, disk), ['error', 'error']);
  assert.deepEqual(await drain(channel, screen), ['info', 'error', 'warning', 'error']);

  await channel.unbindQueue(screen, exchange, 'error');
  channel.publish(exchange, 'error', Buffer.from('last'));
  await channel.waitForConfirms();
  assert.deepEqual(await drain(channel, disk), ['last']);
  assert.deepEqual(await drain(channel, screen), []);

  await channel.deleteExchange(exchange);
  await connection.close();
});
