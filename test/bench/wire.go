package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
)

// Frame types and the frame end octet (AMQP 0-9-1, 2.3.5).
const (
	frameMethod = 1
	frameHeader = 2
	frameBody   = 3
	frameEnd    = 206
)

// A methodID is a class in the upper and a method in the lower 16 bits.
type methodID uint32

const (
	connectionStart   methodID = 10<<16 | 10
	connectionStartOK methodID = 10<<16 | 11
	connectionTune    methodID = 10<<16 | 30
	connectionTuneOK  methodID = 10<<16 | 31
	connectionOpen    methodID = 10<<16 | 40
	connectionOpenOK  methodID = 10<<16 | 41
	connectionClose   methodID = 10<<16 | 50
	channelOpen       methodID = 20<<16 | 10
	channelOpenOK     methodID = 20<<16 | 11
	channelClose      methodID = 20<<16 | 40
	exchangeDeclare   methodID = 40<<16 | 10
	exchangeDeclareOK methodID = 40<<16 | 11
	queueDeclare      methodID = 50<<16 | 10
	queueDeclareOK    methodID = 50<<16 | 11
	queueBind         methodID = 50<<16 | 20
	queueBindOK       methodID = 50<<16 | 21
	basicQos          methodID = 60<<16 | 10
	basicQosOK        methodID = 60<<16 | 11
	basicConsume      methodID = 60<<16 | 20
	basicConsumeOK    methodID = 60<<16 | 21
	basicCancel       methodID = 60<<16 | 30
	basicPublish      methodID = 60<<16 | 40
	basicAck          methodID = 60<<16 | 80
	basicNack         methodID = 60<<16 | 120
	confirmSelect     methodID = 85<<16 | 10
	confirmSelectOK   methodID = 85<<16 | 11
)

var errRefused = errors.New("bench: the broker refused")

func appendShort(b []byte, s string) []byte { return append(append(b, byte(len(s))), s...) }

func appendLong(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func appendFrame(b []byte, typ byte, channel uint16, payload []byte) []byte {
	b = append(b, typ)
	b = binary.BigEndian.AppendUint16(b, channel)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(append(b, payload...), frameEnd)
}

func appendMethod(b []byte, channel uint16, m methodID, args []byte) []byte {
	return appendFrame(b, frameMethod, channel, append(binary.BigEndian.AppendUint32(nil, uint32(m)), args...))
}

// appendPublish encodes a publish of size zero bytes on channel 1: method, header with only a
// delivery mode, and one body frame.
func appendPublish(b []byte, exchange, key string, size int, persist bool) []byte {
	args := append(appendShort(appendShort([]byte{0, 0}, exchange), key), 0)
	b = appendMethod(b, 1, basicPublish, args)
	b = appendHeader(b, size, persist)
	return appendFrame(b, frameBody, 1, make([]byte, size))
}

func appendHeader(b []byte, size int, persist bool) []byte {
	mode := byte(1)
	if persist {
		mode = 2
	}
	h := binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, uint64(size))
	return appendFrame(b, frameHeader, 1, append(h, 0x10, 0, mode))
}

// conn is an AMQP connection. Its buffer is small at first, because the idle-connection case holds
// thousands; walk allocates a large one.
type conn struct {
	net.Conn
	version string // of the broker, from its server-properties
}

// dial opens a connection as guest on vhost "/", without heartbeats and without a channel.
func dial(addr string) (*conn, error) { return dialFrom(nil, addr) }

// dialFrom is dial from a local address; nil means any.
func dialFrom(source net.Addr, addr string) (*conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, LocalAddr: source}
	n, err := d.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	k := &conn{Conn: n}
	if err := k.handshake(); err != nil {
		n.Close()
		return nil, err
	}
	return k, nil
}

func (k *conn) handshake() error {
	k.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := k.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	start, err := k.expect(connectionStart)
	if err != nil {
		return err
	}
	k.version = cmp.Or(propertyString(start, "fiveways_version"), propertyString(start, "version"))
	args := appendShort([]byte{0, 0, 0, 0}, "PLAIN")
	args = appendShort(appendLong(args, "\x00guest\x00guest"), "en_US")
	tune, err := k.call(0, connectionStartOK, args, connectionTune)
	if err != nil {
		return err
	}
	if len(tune) < 8 {
		return fmt.Errorf("bench: short connection.tune: %w", io.ErrUnexpectedEOF)
	}
	frames := appendMethod(nil, 0, connectionTuneOK, append(tune[:6:6], 0, 0)) // channel-max and frame-max as offered
	frames = appendMethod(frames, 0, connectionOpen, append(appendShort(nil, "/"), 0, 0))
	if _, err := k.Write(frames); err != nil {
		return err
	}
	if _, err := k.expect(connectionOpenOK); err != nil {
		return err
	}
	return k.SetDeadline(time.Time{})
}

// propertyString finds a long-string field in an encoded table without decoding the rest. It
// returns "" if the field does not exist.
func propertyString(table []byte, name string) string {
	_, rest, ok := bytes.Cut(table, append(appendShort(nil, name), 'S'))
	if !ok || len(rest) < 4 {
		return ""
	}
	n := binary.BigEndian.Uint32(rest)
	if uint64(n) > uint64(len(rest)-4) {
		return ""
	}
	return string(rest[4 : 4+n])
}

// dialChannel is dial with channel 1 open.
func dialChannel(addr string) (*conn, error) {
	k, err := dial(addr)
	if err != nil {
		return nil, err
	}
	if _, err := k.call(1, channelOpen, []byte{0}, channelOpenOK); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// call sends one method, waits for its answer, and returns the answer's arguments.
func (k *conn) call(channel uint16, m methodID, args []byte, answer methodID) ([]byte, error) {
	if _, err := k.Write(appendMethod(nil, channel, m, args)); err != nil {
		return nil, err
	}
	return k.expect(answer)
}

// expect reads frames up to the method want. It reads no byte beyond it, so walk may follow.
func (k *conn) expect(want methodID) ([]byte, error) {
	for {
		var h [7]byte
		if _, err := io.ReadFull(k, h[:]); err != nil {
			return nil, err
		}
		payload := make([]byte, binary.BigEndian.Uint32(h[3:])+1)
		if _, err := io.ReadFull(k, payload); err != nil {
			return nil, err
		}
		if h[0] != frameMethod || len(payload) < 5 {
			continue
		}
		if err := refusal(payload); err != nil {
			return nil, err
		}
		if methodOf(payload) == want {
			return payload[4 : len(payload)-1], nil
		}
	}
}

func methodOf(payload []byte) methodID { return methodID(binary.BigEndian.Uint32(payload)) }

// refusal returns an error that wraps errRefused if a method payload closes the channel or the
// connection.
func refusal(payload []byte) error {
	switch methodOf(payload) {
	case connectionClose, channelClose:
		return fmt.Errorf("%w: close %q", errRefused, payload[4:])
	case basicCancel:
		return fmt.Errorf("%w: consumer cancelled", errRefused)
	case basicNack:
		return fmt.Errorf("%w: message nacked", errRefused)
	}
	return nil
}

// walkBuffer holds any frame up to the largest frame-max a broker offers by default (128 KiB) and
// many small ones.
const walkBuffer = 256 << 10

// walk passes every frame to visit until the connection ends or visit fails, and calls pause after
// all frames of a read. The payload is valid only during the call.
func (k *conn) walk(visit func(typ byte, payload []byte) error, pause func() error) error {
	buf := make([]byte, walkBuffer)
	have := 0
	for {
		n, err := k.Read(buf[have:])
		have += n
		at := 0
		for have-at >= 8 {
			size := int(binary.BigEndian.Uint32(buf[at+3:]))
			if size+8 > len(buf) {
				return fmt.Errorf("bench: frame of %d bytes exceeds the buffer", size)
			}
			if have-at < size+8 {
				break
			}
			if err := visit(buf[at], buf[at+7:at+7+size]); err != nil {
				return err
			}
			at += size + 8
		}
		have = copy(buf, buf[at:have])
		if err := pause(); err != nil {
			return err
		}
		if err != nil {
			return err
		}
	}
}

// declareQueue declares a queue with arguments.
func (k *conn) declareQueue(name string, durable bool, args ...message.Field) error {
	_, err := k.call(1, queueDeclare, queueDeclareArgs(name, durable, false, args...), queueDeclareOK)
	return err
}

// queueDepth returns the number of ready messages, by a passive declare.
func (k *conn) queueDepth(name string) (int64, error) {
	ok, err := k.call(1, queueDeclare, queueDeclareArgs(name, true, true), queueDeclareOK)
	if err != nil {
		return 0, err
	}
	at := 1 + len(name)
	if len(ok) < at+8 {
		return 0, fmt.Errorf("bench: short queue.declare-ok: %w", io.ErrUnexpectedEOF)
	}
	return int64(binary.BigEndian.Uint32(ok[at:])), nil
}

func queueDeclareArgs(name string, durable, passive bool, args ...message.Field) []byte {
	var flags byte
	if passive {
		flags |= 1
	}
	if durable {
		flags |= 2
	}
	return message.AppendTable(append(appendShort([]byte{0, 0}, name), flags), args)
}
