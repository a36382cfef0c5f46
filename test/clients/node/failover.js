'use strict';
// amqplib on a cluster: it has one address and does not reconnect, so this program does. It publishes and consumes until
// its input ends; each line of input is a request to show that it works. NODES are the URLs of the nodes.

const readline = require('node:readline');
const { setTimeout: delay } = require('node:timers/promises');
const amqp = require('amqplib');
const { deadlineMs, run } = require('./support');

const queue = 'failover.node';
const nodes = process.env.NODES.split(' ');

let asked = 1; // requests to show that it works; the driver sends one after each kill
let over = false;
let shown = 0;
let proof; // the first message published since the request
let count = 0;

const confirmed = new Set();
const seen = new Set();
const settled = new Set(); // acknowledged on the same channel before a confirmed publish

readline
  .createInterface({ input: process.stdin })
  .on('line', () => asked++)
  .on('close', () => {
    over = true;
    setTimeout(() => fail(`confirmed, and not come: ${missing()}`), deadlineMs);
  });

// connect tries the nodes in turn until one accepts the connection.
async function connect() {
  for (let i = 0; ; i++) {
    try {
      return await amqp.connect(nodes[i % nodes.length]);
    } catch (error) {
      console.log('not at', nodes[i % nodes.length], error.message);
      await delay(50);
    }
  }
}

async function publish(channel, acked) {
  const body = String(++count); // unique for each attempt, because an unconfirmed message may exist as well
  if (proof === undefined && shown < asked) proof = body;
  const before = [...acked];
  try {
    await new Promise((resolve, reject) => {
      channel.sendToQueue(queue, Buffer.from(body), { persistent: true }, (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    proof = undefined;
    throw error;
  }
  confirmed.add(body);
  before.forEach((one) => settled.add(one));
}

function fail(what) {
  console.log(what);
  process.exit(1);
}

const missing = () => [...confirmed].filter((body) => !seen.has(body));

async function work(connection) {
  const channel = await connection.createConfirmChannel();
  channel.on('error', () => {}); // the connection reports it
  const acked = [];
  await channel.assertQueue(queue, { durable: true });
  await channel.prefetch(10);
  await channel.consume(queue, (message) => {
    const body = message.content.toString();
    if (settled.has(body)) fail(`${body} was settled, and comes again`);
    if (seen.has(body) && !message.fields.redelivered) fail(`${body} comes again, but not as redelivered`);
    seen.add(body);
    channel.ack(message);
    acked.push(body);
  });
  while (!over || missing().length) {
    if (!over) await publish(channel, acked);
    await delay(10);
    if (seen.has(proof)) {
      proof = undefined;
      shown++;
      console.log('works');
    }
  }
}

async function main() {
  for (;;) {
    const connection = await connect();
    connection.on('error', (error) => console.log('connects again after', error.message));
    const lost = new Promise((resolve) => connection.on('close', () => resolve(true)));
    const again = await Promise.race([lost, work(connection).then(() => false, () => lost)]);
    if (!again) return connection.close();
  }
}

run(main);
