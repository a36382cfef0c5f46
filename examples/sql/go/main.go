// Command go takes coffee orders over SQL with pgx: it posts orders, and consumes them in
// transactions.
//
// SQL_URL is the address of the broker (default postgres://guest@127.0.0.1:5433/fiveways).
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, cmp.Or(os.Getenv("SQL_URL"), "postgres://guest@127.0.0.1:5433/fiveways?sslmode=disable"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if err := registerHstore(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "select mbus4.create_queue('coffee', 4)"); err != nil {
		return err
	}

	// A post outside a transaction is on disk when it returns.
	for table, drink := range []string{"espresso", "tea"} {
		_, err := conn.Exec(ctx, "select mbus4.post('coffee', $1, properties => hstore('table', $2::text))",
			hstore(map[string]string{"drink": drink}), fmt.Sprint(table+1))
		if err != nil {
			return err
		}
	}

	// A consumed message is removed if its transaction commits, and returns if it rolls back.
	broken := errors.New("the machine is broken")
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		drink, table, err := order(ctx, tx)
		fmt.Printf("%s for table %s: %v\n", drink, table, broken)
		return cmp.Or(err, broken)
	})
	if !errors.Is(err, broken) {
		return err
	}
	for {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			drink, table, err := order(ctx, tx)
			if err == nil {
				fmt.Printf("%s for table %s: made\n", drink, table)
			}
			return err
		})
		if errors.Is(err, pgx.ErrNoRows) {
			break // no message is available now
		}
		if err != nil {
			return err
		}
	}
	_, err = conn.Exec(ctx, "select mbus4.drop_queue('coffee')")
	return err
}

// order consumes one order.
func order(ctx context.Context, tx pgx.Tx) (drink, table string, err error) {
	var data pgtype.Hstore
	err = tx.QueryRow(ctx, "select data, properties->'table' from mbus4.consume('coffee')").Scan(&data, &table)
	if d := data["drink"]; d != nil {
		drink = *d
	}
	return drink, table, err
}

// registerHstore registers hstore with pgx. Its OID differs between databases.
func registerHstore(ctx context.Context, conn *pgx.Conn) error {
	var oid uint32
	if err := conn.QueryRow(ctx, "select oid from pg_type where typname = 'hstore'").Scan(&oid); err != nil {
		return err
	}
	conn.TypeMap().RegisterType(&pgtype.Type{Name: "hstore", OID: oid, Codec: pgtype.HstoreCodec{}})
	return nil
}

func hstore(m map[string]string) pgtype.Hstore {
	h := pgtype.Hstore{}
	for k, v := range m {
		h[k] = &v
	}
	return h
}
