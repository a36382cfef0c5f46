package matrix

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"fiveways.dev/fiveways/test/brokertest"
)

var sqlProtocol = protocol{name: "sql", volatile: true, dial: dialSQL}

// hstoreType is the content type of a body that is the text of an hstore.
const hstoreType = "application/x-hstore"

type sqlEnd struct{ conn *pgx.Conn }

func dialSQL(ctx context.Context, b *brokertest.Broker) (endpoint, error) {
	conn, err := pgx.Connect(ctx, "postgres://guest@"+b.SQLAddr()+"/fiveways?sslmode=disable&timezone=UTC")
	return &sqlEnd{conn}, err
}

func (e *sqlEnd) close() { e.conn.Close(context.Background()) }

func (e *sqlEnd) declare(ctx context.Context, queue string, priorities int) error {
	if priorities > 0 {
		return errors.ErrUnsupported
	}
	_, err := e.conn.Exec(ctx, "select mbus4.create_queue($1, 2)", queue)
	return err
}

// pairs are the keys and values of an hstore in two arrays.
type pairs struct {
	keys   []string
	values []*string
}

func (p *pairs) add(key string, v *string) {
	p.keys, p.values = append(p.keys, key), append(p.values, v)
}

func (e *sqlEnd) send(ctx context.Context, queue string, m message) error {
	var headers, properties pairs
	for name, v := range m.properties {
		if name != "content_type" || v != hstoreType {
			headers.add(name, &v)
		}
	}
	for _, h := range m.headers {
		properties.add(h.name, h.text)
	}
	data, args := "hstore($2, $3)", []any{queue, "body", string(m.body)}
	switch {
	case m.properties["content_type"] == hstoreType:
		data = "coalesce($2, $3)::hstore"
		args[1] = nil
	case !utf8.Valid(m.body) || strings.ContainsRune(string(m.body), 0):
		args = []any{queue, "body_base64", base64.StdEncoding.EncodeToString(m.body)}
	}
	var iid any
	if m.id != "" {
		iid = m.id
	}
	args = append(args, headers.keys, headers.values, properties.keys, properties.values, m.delayed.Seconds(), m.expires.Seconds(), iid)
	_, err := e.conn.Exec(ctx, `select mbus4.post($1, `+data+`, hstore($4::text[], $5::text[]), hstore($6::text[], $7::text[]),
		case when $8::float > 0 then localtimestamp + $8::float * interval '1 second' end,
		case when $9::float > 0 then localtimestamp + $9::float * interval '1 second' end, iid := $10)`, args...)
	return err
}

func (e *sqlEnd) take(ctx context.Context, queue string) (m message, ok bool, err error) {
	var data, headers, properties pairs
	var whole string
	err = e.conn.QueryRow(ctx, `select iid, data::text, akeys(data), avals(data), akeys(headers), avals(headers), akeys(properties), avals(properties)
		from mbus4.consume($1)`, queue).
		Scan(&m.id, &whole, &data.keys, &data.values, &headers.keys, &headers.values, &properties.keys, &properties.values)
	if errors.Is(err, pgx.ErrNoRows) {
		return m, false, nil
	}
	if err != nil {
		return m, false, err
	}
	m.properties = map[string]string{}
	for i, name := range headers.keys {
		switch name {
		case "content_type", "content_encoding", "delivery_mode", "priority", "correlation_id", "reply_to", "expiration", "timestamp", "type",
			"user_id", "app_id":
			m.properties[name] = *headers.values[i]
		}
	}
	plain := len(data.keys) == 1 && strings.HasPrefix(data.keys[0], "body")
	switch {
	case !plain:
		m.properties["content_type"], m.body = hstoreType, []byte(whole)
	case data.keys[0] == "body":
		m.body = []byte(*data.values[0])
	default:
		if m.body, err = base64.StdEncoding.DecodeString(*data.values[0]); err != nil {
			return m, false, err
		}
	}
	for i, name := range properties.keys {
		if kept(name) {
			continue
		}
		h := header{name: name, text: properties.values[i]}
		if h.text != nil {
			h.value = *h.text
		}
		m.headers = append(m.headers, h)
	}
	return m, true, nil
}

func (e *sqlEnd) giveBack(ctx context.Context, queue string) error {
	tx, err := e.conn.Begin(ctx)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, "select * from mbus4.consume($1)", queue)
	if err != nil || tag.RowsAffected() != 1 {
		return fmt.Errorf("nothing to give back: %v", err)
	}
	return tx.Rollback(ctx)
}
