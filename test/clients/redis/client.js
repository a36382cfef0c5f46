'use strict';
// Tests ioredis with the broker at REDIS_URL: lists, transactions, channels, jobs, streams.

const assert = require('node:assert/strict');
const { Redis } = require('ioredis');

async function lists(r) {
  await r.del('js.list', 'js.done');
  assert.equal(await r.lpush('js.list', 'a', 'b', 'c'), 3);
  assert.deepEqual(await r.lrange('js.list', 0, -1), ['c', 'b', 'a']);
  assert.equal(await r.rpop('js.list'), 'a');
  assert.equal(await r.lmove('js.list', 'js.done', 'RIGHT', 'LEFT'), 'b');
  assert.deepEqual(await r.brpop('js.none', 'js.list', 5), ['js.list', 'c']);
  assert.equal(await r.exists('js.list'), 0);
  assert.equal(await r.type('js.done'), 'list');
  assert.deepEqual(await r.keys('js.d*'), ['js.done']);
}

async function waiting(r, other) {
  const taken = other.blpop('js.wait', 20);
  while (!(await r.info('clients')).includes('blocked_clients:1')) await new Promise(setImmediate);
  await r.rpush('js.wait', 'x');
  assert.deepEqual(await taken, ['js.wait', 'x']);
  assert.equal(await other.blpop('js.wait', 0.05), null);
}

async function transactions(r, other) {
  await r.del('js.a', 'js.b');
  assert.deepEqual(await r.multi().lpush('js.a', '1').lpush('js.b', '2').rpop('js.a').exec(), [[null, 1], [null, 1], [null, '1']]);
  await r.watch('js.b');
  await other.lpush('js.b', '3');
  assert.equal(await r.multi().lpush('js.b', '4').exec(), null);
  const pipeline = r.pipeline();
  for (let i = 0; i < 1000; i++) pipeline.lpush('js.a', i);
  for (let i = 0; i < 1000; i++) pipeline.rpop('js.a');
  const replies = await pipeline.exec();
  for (let i = 0; i < 1000; i++) assert.deepEqual(replies[1000 + i], [null, String(i)]);
}

async function channels(r, listener) {
  const got = [];
  let enough;
  const all = new Promise((resolve) => { enough = resolve; });
  const note = (...what) => { if (got.push(what) === 2) enough(); };
  listener.on('message', (channel, text) => note('message', channel, text));
  listener.on('pmessage', (pattern, channel, text) => note('pmessage', channel, text));
  await listener.subscribe('js.news');
  await listener.psubscribe('js.*');
  assert.equal(await r.publish('js.news', 'hello'), 2);
  await all;
  assert.deepEqual(got, [['message', 'js.news', 'hello'], ['pmessage', 'js.news', 'hello']]);
  await listener.unsubscribe('js.news');
  await listener.punsubscribe('js.*');
}

async function jobs(r) {
  await r.call('QUEUE.CLEAR', 'js.jobs');
  assert.deepEqual(await r.call('JOB.ENQUEUE', 'js.jobs', 'work', 'ID', 'm1'), ['added', 'm1']);
  await assert.rejects(r.call('JOB.ENQUEUE', 'js.jobs', 'work', 'ID', 'm1'), /ALREADYQUEUED/);
  const [flat] = await r.call('JOB.TAKE', 'js.jobs');
  const job = {};
  for (let i = 0; i < flat.length; i += 2) job[flat[i]] = flat[i + 1];
  assert.deepEqual([job.mid, job.body, job.attempt], ['m1', 'work', 1]);
  assert.equal(await r.call('JOB.STATUS', 'js.jobs', 'm1'), 'locked');
  assert.equal(await r.call('JOB.DONE', 'js.jobs', 'm1', job.token), 'OK');
}

async function streams(r) {
  await r.del('js.stream');
  const id = await r.xadd('js.stream', '*', 'n', '1');
  assert.equal(await r.xlen('js.stream'), 1);
  assert.deepEqual(await r.xrange('js.stream', '-', '+'), [[id, ['n', '1']]]);
  assert.equal(await r.xgroup('CREATE', 'js.stream', 'g', '0'), 'OK');
  assert.deepEqual(await r.xreadgroup('GROUP', 'g', 'me', 'STREAMS', 'js.stream', '>'), [['js.stream', [[id, ['n', '1']]]]]);
  assert.equal(await r.xack('js.stream', 'g', id), 1);
  assert.equal((await r.xpending('js.stream', 'g'))[0], 0);
}

async function main() {
  const open = () => new Redis(process.env.REDIS_URL, { connectionName: 'js' });
  const r = open();
  const other = open();
  assert.equal(await r.ping(), 'PONG');
  assert.equal(await r.client('GETNAME'), 'js');
  await lists(r);
  await waiting(r, other);
  await transactions(r, other);
  await jobs(r);
  await streams(r);
  await channels(r, other);
  await r.quit();
  await other.quit();
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
