'use strict';
// Shared by these tutorials: a connection, an inbox to wait for, and a runner that fails loudly.

const amqp = require('amqplib');

const deadlineMs = 30_000; // timeout for expected events; only a failing run reaches it

const connect = () => amqp.connect(process.env.AMQP_URL);

// Inbox is a consumer callback that collects its deliveries in order.
function inbox() {
  const messages = [];
  let wake = () => {};
  const handler = (message) => {
    messages.push(message);
    wake();
  };
  // wait resolves to all messages once there are count.
  handler.wait = (count) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${messages.length} of ${count} messages`)), deadlineMs);
      wake = () => {
        if (messages.length >= count) {
          clearTimeout(timer);
          resolve(messages);
        }
      };
      wake();
    });
  handler.messages = messages;
  return handler;
}

// drain empties a queue with basic.get, and finds every message confirmed before.
async function drain(channel, queue) {
  const bodies = [];
  for (;;) {
    const message = await channel.get(queue, { noAck: true });
    if (message === false) return bodies;
    bodies.push(message.content.toString());
  }
}

function run(main) {
  main().then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}

module.exports = { deadlineMs, connect, inbox, drain, run };
