// node-postgres: text and binary results, named statements, cursors, the pool.
const assert = require('assert')
const { Client, Pool } = require('pg')
const Cursor = require('pg-cursor')

const url = process.env.SQL_URL

// node-postgres needs a parser for hstore, registered for the type's OID.
function parseHstore (text) {
  const pairs = {}
  for (const m of text.matchAll(/"((?:[^"\\]|\\.)*)"=>(?:NULL|"((?:[^"\\]|\\.)*)")/g)) {
    pairs[m[1].replace(/\\(.)/g, '$1')] = m[2] === undefined ? null : m[2].replace(/\\(.)/g, '$1')
  }
  return pairs
}

async function failsWith (promise, code) {
  await assert.rejects(promise, (e) => { assert.strictEqual(e.code, code, e.message); return true })
}

async function main () {
  const client = new Client({ connectionString: url, application_name: 'node test' })
  const notices = []
  client.on('notice', (n) => notices.push(n.message))
  await client.connect()
  const one = async (...args) => Object.values((await client.query(...args)).rows[0])[0]
  assert.strictEqual(await one('show application_name'), 'node test')

  const types = await client.query("select oid, typarray from pg_type where typname = 'hstore'")
  assert.strictEqual(types.rows.length, 1)
  client.setTypeParser(types.rows[0].oid, parseHstore)

  await client.query("select mbus4.create_queue('with_pg', 64)")
  const iid = await one('select mbus4.post($1, $2, properties => $3)', ['with_pg', '"k"=>"v ü \\"\'\\\\", "null"=>NULL', 'STATE=>DONE'])
  assert.match(iid, /^with_pg\./)

  // transactions
  await client.query('begin')
  let got = (await client.query("select iid, data, properties->'STATE' as state, added, received from mbus4.consume('with_pg')")).rows
  assert.strictEqual(got.length, 1)
  assert.deepStrictEqual(got[0].data, { k: 'v ü "\'\\', null: null })
  assert.strictEqual(got[0].state, 'DONE')
  assert.ok(got[0].added instanceof Date && Array.isArray(got[0].received))
  await client.query('rollback')
  got = (await client.query({ text: 'select iid from mbus4.consume($1)', values: ['with_pg'], rowMode: 'array' })).rows
  assert.deepStrictEqual(got, [[iid]])
  assert.strictEqual((await client.query("select * from mbus4.consume('with_pg')")).rowCount, 0)

  // types; the driver's readers of binary doubles, times and arrays are wrong with any server, so these are text only
  for (const binary of [false, true]) {
    const row = (await client.query({
      text: 'select $1::int as i, $2::bigint as b, $3::text as t, $4::bool as o', values: [1, '1099511627776', 'ü', true], binary
    })).rows[0]
    assert.deepStrictEqual([row.i, String(row.b), row.t, row.o], [1, '1099511627776', 'ü', true])
  }
  const texts = (await client.query('select $1::float8 as f, $2::int[] as a, $3::timestamptz as z', [0.1, [1, null, 3], '2024-02-29T12:00:00.5Z'])).rows[0]
  assert.deepStrictEqual(texts, { f: 0.1, a: [1, null, 3], z: new Date('2024-02-29T12:00:00.500Z') })

  // a named statement, executed repeatedly
  for (let i = 0; i < 20; i++) {
    await client.query({ name: 'post', text: "select mbus4.post('with_pg', hstore('n', $1::text))", values: [String(i)] })
  }
  await client.query('begin')
  const cursor = client.query(new Cursor("select data->'n' as n from mbus4.consumen_with_pg_by_default($1)", [100]))
  assert.deepStrictEqual((await cursor.read(3)).map((r) => r.n), ['0', '1', '2'])
  assert.strictEqual((await cursor.read(100)).length, 17)
  await cursor.close()
  await client.query('commit')

  // several statements in one text
  const results = await client.query('select 1 as a; select 2 as b')
  assert.deepStrictEqual(results.map((r) => r.rows[0]), [{ a: 1 }, { b: 2 }])

  // errors and notices
  await failsWith(client.query("select mbus4.post('no_such_queue', 'a=>1')"), 'P0001')
  await failsWith(client.query('select 1/0'), '22012')
  await failsWith(client.query('select $1::int', ['x']), '22P02')
  await failsWith(client.query('select * frm x'), '42601')
  await client.query('begin')
  await failsWith(client.query('select no_such_function()'), '42883')
  await failsWith(client.query('select 1'), '25P02')
  await client.query('rollback')
  await client.query('begin; begin; rollback')
  assert.ok(notices.some((n) => n.includes('already a transaction')), notices.join())

  // cancel, as another connection of the pool does it
  const pid = await one('select pg_backend_pid()')
  assert.strictEqual(pid, client.processID)
  const sleep = client.query('select pg_sleep(60)')
  setTimeout(() => new Client({ connectionString: url }).cancel(client, client._getActiveQuery()), 300)
  await failsWith(sleep, '57014')
  // PostgreSQL signals a backend twice; the second signal may cancel what comes next
  await client.query('select pg_sleep(0.1)').catch((e) => assert.strictEqual(e.code, '57014'))
  await client.query("select mbus4.drop_queue('with_pg')")
  await client.end()

  const pool = new Pool({ connectionString: url, max: 4 })
  const sums = await Promise.all(Array.from({ length: 20 }, (_, i) => pool.query('select $1::int + 1 as n', [i])))
  assert.deepStrictEqual(sums.map((r) => r.rows[0].n), Array.from({ length: 20 }, (_, i) => i + 1))
  await pool.end()

  if (process.env.APP_URL) {
    const app = new Client({ connectionString: process.env.APP_URL })
    await app.connect()
    await app.end()
    const wrong = new Client({ connectionString: process.env.APP_URL.replace('secret', 'wrong') })
    await failsWith(wrong.connect(), '28P01')
  }
}

main().catch((e) => { console.error(e); process.exit(1) })
