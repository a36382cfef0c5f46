'use strict';
// Tutorial 2, work queue: durable queue, persistent tasks, fair dispatch, redelivery when a worker dies.
// With the argument "stuck" it is a worker that prints its first task and never finishes it.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { connect, inbox, run } = require('./support');

const queue = 'tut.node.task_queue';

async function startWorker(callback) {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.prefetch(1);
  await channel.consume(queue, callback);
  return { connection, channel };
}

async function stuck() {
  await startWorker((message) => process.stdout.write(message.content));
  await new Promise(() => {});
}

async function main() {
  const connection = await connect();
  const channel = await connection.createConfirmChannel();
  await channel.deleteQueue(queue);
  await channel.assertQueue(queue, { durable: true });
  const tasks = [0, 1, 2, 3, 4, 5].map((n) => `task ${n}`);

  // A worker that does not finish its first task gets no second one.
  const worker = spawn(process.execPath, [__filename, 'stuck'], { stdio: ['ignore', 'pipe', 'inherit'] });
  for (const task of tasks) channel.sendToQueue(queue, Buffer.from(task), { persistent: true });
  await channel.waitForConfirms();
  const [first] = await once(worker.stdout, 'data');
  assert.equal(first.toString(), tasks[0]);
  assert.equal((await channel.checkQueue(queue)).messageCount, 5);

  // Fair dispatch: a worker that acknowledges gets all other tasks, in order.
  const received = inbox();
  const quick = await startWorker(received);
  for (let n = 1; n <= 5; n++) {
    const messages = await received.wait(n);
    quick.channel.ack(messages[n - 1]);
  }
  assert.deepEqual(received.messages.map((m) => m.content.toString()), tasks.slice(1));
  assert.ok(received.messages.every((m) => m.properties.deliveryMode === 2 && !m.fields.redelivered));

  // The stuck worker is killed; its task goes to the other one, marked as redelivered.
  worker.kill('SIGKILL');
  const again = (await received.wait(6))[5];
  assert.equal(again.content.toString(), tasks[0]);
  assert.equal(again.fields.redelivered, true);
  quick.channel.ack(again);
  await quick.channel.close();
  await quick.connection.close();

  assert.equal(await channel.get(queue), false);
  await channel.deleteQueue(queue);
  await connection.close();
}

run(process.argv[2] === 'stuck' ? stuck : main);
