// Sends three mails with Node's built-in fetch, and receives the jobs as Server-Sent Events.
//
// BROKER_URL is the address of the broker, with a user (default http://guest:guest@127.0.0.1:15672).
const broker = new URL(process.env.BROKER_URL || 'http://guest:guest@127.0.0.1:15672')
const headers = { Authorization: 'Basic ' + btoa(`${broker.username}:${broker.password}`), 'Content-Type': 'application/json' }
const queue = `${broker.origin}/api/queues/%2F/examples.mails`

async function ask (method, path, body) {
  const answer = await fetch(queue + path, { method, headers, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error((await answer.json()).reason)
  return answer
}

// messages yields the messages of the queue as they arrive.
async function * messages () {
  const stream = await ask('GET', '/stream?prefetch=10&lease=1m') // unless acked within a minute, another worker gets the message
  let text = ''
  for await (const part of stream.body.pipeThrough(new TextDecoderStream())) {
    const events = (text + part).split('\n\n')
    text = events.pop() // may be incomplete
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '))
      if (data) yield JSON.parse(data.slice(6))
    }
  }
}

async function main () {
  await ask('PUT', '', { durable: true })
  for (const [number, to] of [[1, 'ann'], [2, 'bob'], [3, 'eve']]) {
    await ask('POST', '/messages', { payload: JSON.stringify({ number, to }), properties: { content_type: 'application/json' } })
  }

  let sent = 0
  for await (const message of messages()) { // a real worker never ends
    const mail = JSON.parse(message.payload)
    const attempt = message.returns + 1
    if (mail.to === 'bob' && attempt === 1) {
      console.log(`mail ${mail.number}: ${mail.to} does not answer`)
      await ask('POST', '/messages/nack', { tokens: [message.token], delay: '300ms' })
      continue
    }
    console.log(`mail ${mail.number}: sent to ${mail.to}, attempt ${attempt}`)
    await ask('POST', '/messages/ack', { tokens: [message.token] })
    if (++sent === 3) return
  }
}

main().then(() => process.exit(0), (e) => { console.error(e.message); process.exit(1) })
