// Takes orders of coffee by SQL: posts, and consumes in transactions, with node-postgres (npm install pg).
//
// SQL_URL says where; without it postgres://guest@127.0.0.1:5433/fiveways.
const { Client } = require('pg')

async function main () {
  const client = new Client({ connectionString: process.env.SQL_URL || 'postgres://guest@127.0.0.1:5433/fiveways' })
  await client.connect()
  await client.query("select mbus4.create_queue('coffee', 4)")

  // A post outside of a transaction is on disk when its promise is kept. hstore(text[], text[]) spares quoting keys and values.
  const drinks = ['espresso', 'tea']
  for (const [i, drink] of drinks.entries()) {
    await client.query("select mbus4.post('coffee', hstore($1::text[], $2::text[]), properties => hstore('table', $3))",
      [['drink'], [drink], String(i + 1)])
  }

  // node-postgres does not know hstore: ask for JSON, or for single values.
  const order = async () =>
    (await client.query("select hstore_to_json(data) as data, properties->'table' as table from mbus4.consume('coffee')")).rows[0]

  // What is consumed is gone when its transaction commits, and back when it does not.
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
    if (!got) break // nothing that can be had now
  }

  await client.query("select mbus4.drop_queue('coffee')")
  await client.end()
}

main().catch((e) => { console.error(e); process.exit(1) })
