package floor

import (
	"encoding/binary"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// sqlAnswerer answers statements about queues with rows of one text column. It parses message
// frames itself, and decodes and encodes with pgproto3, as package pgwire does.
type sqlAnswerer struct {
	greeted    bool
	statements map[string]statement // prepared, by name
	portal     statement            // the last one that was bound

	parse    pgproto3.Parse
	bind     pgproto3.Bind
	describe pgproto3.Describe
}

// statement is what to do for a statement.
type statement struct {
	keep string // "" if it only reads
	rows int
	row  string
}

// The rows of mbus4.post and of mbus4.consume, whose columns have about as many bytes.
const (
	postRow    = "work.1"
	consumeRow = `1 2026-11-28 14:38:47.655896 work.1 2026-11-28 13:38:47.655896 {} "seenby"=>"{fiveways}", "source_db"=>"fiveways", ` +
		`"destination"=>"work", "enqueue_time"=>"2026-11-28 14:38:47.655896", "destination_queue"=>"work" ` +
		`"to"=>"vasya", "what"=>"a pound of tea, please", "order"=>"4711"`
)

func meaning(text string) statement {
	switch {
	case strings.Contains(text, ".post("):
		return statement{text, 1, postRow}
	case strings.Contains(text, ".consumen"):
		return statement{strings.Repeat(text, 100), 100, consumeRow}
	case strings.Contains(text, ".consume("):
		return statement{text, 1, consumeRow}
	}
	return statement{"", 1, "0"}
}

var errSQL = errors.New("floor: a message that no null server answers")

// maxMessage is larger than any message of the loads.
const maxMessage = 1 << 20

func (a *sqlAnswerer) answer(b []byte, r *reply) (int, error) { return whole(b, r, a.request) }

// request answers one message.
func (a *sqlAnswerer) request(b []byte, r *reply) (int, error) {
	head := 1 // the byte of the kind; the first message has none
	if !a.greeted {
		head = 0
	}
	if len(b) < head+4 {
		return 0, nil
	}
	n := head + int(binary.BigEndian.Uint32(b[head:]))
	if n < head+4 || n > maxMessage {
		return 0, errSQL
	}
	if len(b) < n {
		return 0, nil
	}
	if !a.greeted {
		a.greeted, a.statements = true, map[string]statement{}
		return n, r.messages(&pgproto3.AuthenticationOk{}, &pgproto3.ParameterStatus{Name: "server_version", Value: "15.0"},
			&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"}, &pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"},
			&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}}, &pgproto3.ReadyForQuery{TxStatus: 'I'})
	}
	return n, a.message(b[0], b[head+4:n], r)
}

func (a *sqlAnswerer) message(kind byte, body []byte, r *reply) error {
	switch kind {
	case 'P':
		if err := a.parse.Decode(body); err != nil {
			return err
		}
		a.statements[a.parse.Name] = meaning(a.parse.Query)
		return r.messages(&pgproto3.ParseComplete{})
	case 'B':
		if err := a.bind.Decode(body); err != nil {
			return err
		}
		a.portal = a.statements[a.bind.PreparedStatement]
		return r.messages(&pgproto3.BindComplete{})
	case 'D':
		if err := a.describe.Decode(body); err != nil {
			return err
		}
		if a.describe.ObjectType == 'S' {
			if err := r.messages(&pgproto3.ParameterDescription{}); err != nil {
				return err
			}
		}
		return r.messages(&pgproto3.RowDescription{Fields: column})
	case 'E':
		r.keep = append(r.keep, a.portal.keep...)
		return r.rows(a.portal)
	case 'S':
		return r.messages(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	case 'C':
		return r.messages(&pgproto3.CloseComplete{})
	}
	return errSQL // X ends the connection too
}

// textOID is the OID of the type text.
const textOID = 25

var column = []pgproto3.FieldDescription{{Name: []byte("mbus4"), DataTypeOID: textOID, DataTypeSize: -1, TypeModifier: -1}}

func (r *reply) rows(s statement) error {
	row := pgproto3.DataRow{Values: [][]byte{[]byte(s.row)}}
	for range s.rows {
		if err := r.messages(&row); err != nil {
			return err
		}
	}
	return r.messages(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
}

func (r *reply) messages(all ...pgproto3.BackendMessage) (err error) {
	for _, m := range all {
		if r.out, err = m.Encode(r.out); err != nil {
			return err
		}
	}
	return nil
}
