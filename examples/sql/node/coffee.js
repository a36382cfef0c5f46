// Takes coffee orders over SQL with node-postgres (npm install pg): it posts orders, and consumes them in
// transactions.
//
// SQL_URL is the address of the broker (default postgres://guest@127.0.0.1:5433/fiveways).
const { Client } = require('pg')

async function main () {
  const client = new Client({ connectionString: process.env.SQL_URL || 'postgres://guest@127.0.0.1:5433/fiveways' })
  await client.connect()
  await client.query("select mbus4.create_queue('coffee', 4)")

  // A post outside a transaction is on disk when its promise is fulfilled. With hstore(text[], text[]) keys and
  // values need no quoting.
  const drinks = ['espresso', 'tea']
  for (const [i, drink] of drinks.entries()) {
    await client.query("select mbus4.post('coffee', hstore($1::text[], $2::text[]), properties => hstore('table', $3))",
      [['drink'], [drink], String(i + 1)])
  }

  // node-postgres does not support hstore: select JSON, or single values.
  const order = async () =>
    (await client.query("select hstore_to_json(data) as data, properties->'table' as table from mbus4.consume('coffee')")).rows[0]

  // A consumed message is removed if its transaction commits, and returns if it rolls back.
  await client.query('begin')
  try {
    const got = await order()
    throw new Error(`${got.data.drink} for table ${got.table}: the machine is broken`)
  } catch (e) {
    console.log(e.message)
    await client.query('rollback')
  }

  for (;;) {
    await client.query('begin')
    const got = await order()
    if (got) console.log(`${got.data.drink} for table ${got.table}: made`)
    await client.query('commit')
    if (!got) break // no message is available now
  }

  await client.query("select mbus4.drop_queue('coffee')")
  await client.end()
}

main().catch((e) => { console.error(e); process.exit(1) })
