// Sends three mails by background jobs, with ioredis (npm install ioredis).
//
// REDIS_URL is the address of the broker (default redis://127.0.0.1:6380).
const { Redis } = require('ioredis')

// RESP2 returns a map as an array of names and values.
const map = (v) => Array.isArray(v) ? Object.fromEntries(v.flatMap((name, i) => i % 2 ? [] : [[name, v[i + 1]]])) : v

async function main () {
  const broker = new Redis(process.env.REDIS_URL || 'redis://127.0.0.1:6380')

  // A job with an id that is already queued is not added again.
  for (const [number, to] of [[1, 'ann'], [2, 'bob'], [2, 'bob'], [3, 'eve']]) {
    try {
      await broker.call('JOB.ENQUEUE', 'examples.mails', JSON.stringify({ number, to }), 'ID', `mail-${number}`)
    } catch (e) {
      if (!e.message.startsWith('ALREADYQUEUED')) throw e
      console.log(`mail ${number} is queued already`)
    }
  }

  for (let sent = 0; sent < 3;) { // a real worker never ends
    for (const taken of await broker.call('JOB.TAKE', 'examples.mails', 'LOCK', 60000, 'BLOCK', 2000) || []) { // returns as soon as a job is enqueued
      const job = map(taken)
      const mail = JSON.parse(job.body)
      const lease = [job.queue, job.mid, job.token] // unless reported within a minute, the job is queued again
      if (mail.to === 'bob' && job.attempt === 1) {
        console.log(`mail ${mail.number}: ${mail.to} does not answer`)
        await broker.call('JOB.RETRY', ...lease, 'BACKOFF', 300)
      } else {
        console.log(`mail ${mail.number}: sent to ${mail.to}, attempt ${job.attempt}`)
        await broker.call('JOB.DONE', ...lease, 'BACKOFF', 1000) // the id is remembered for a second, during which it is rejected
        sent++
      }
    }
  }
  broker.disconnect()
}

main().catch((e) => { console.error(e); process.exit(1) })
