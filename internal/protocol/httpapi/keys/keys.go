package keys

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"go.etcd.io/etcd/server/v3/lease"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

const (
	defaultPage = 50
	largestPage = 1000
	shownBytes  = 4 << 10 // limit of a value in a listing
)

// Key is a key with its current value.
type Key struct {
	Key         string  `json:"key"`
	KeyEncoding string  `json:"key_encoding,omitempty"` // base64 if the key is not text
	Value       *string `json:"value,omitempty"`        // in listings its beginning, if values were asked for
	Encoding    string  `json:"value_encoding,omitempty"`
	Bytes       int     `json:"value_bytes"`
	Created     int64   `json:"create_revision"`
	Modified    int64   `json:"mod_revision"`
	Version     int64   `json:"version"`
	Lease       string  `json:"lease,omitempty"` // its id in hexadecimal, as etcdctl shows it
}

// Page is a page of the keys, in order.
type Page struct {
	Keys     []Key  `json:"keys"`
	Total    int64  `json:"total"` // number of keys from the beginning of this page on
	Revision int64  `json:"revision"`
	Next     string `json:"next,omitempty"` // for ?after=, when there are more
}

// Value is the new value of a key.
type Value struct {
	Value    *string `json:"value"`
	Encoding string  `json:"value_encoding"` // string or base64
	Lease    string  `json:"lease"`          // lease that the key is attached to; "": none
}

// api serves the paths of this package.
type api struct {
	*rest.API
	store *keyspace.Store // nil: etcd's API is off
}

// Register adds the paths to an API. store is nil when etcd's API is off.
func Register(on *rest.API, store *keyspace.Store) {
	a := &api{on, store}
	a.Describe(about)
	a.Get(rest.Administration, "/api/keys", a.list)
	a.Get(rest.Administration, "/api/keys/{key}", a.get)
	rest.Put(a.API, rest.Administration, "/api/keys/{key}", a.put)
	a.Delete(rest.Administration, "/api/keys/{key}", a.delete)
}

var errOff = rest.Fail(http.StatusNotFound, "Object Not Found", "there are no keys: etcd's API is off; the setting etcd turns it on")

// virtual are the prefixes of keys that are not ordinary keys.
var virtual = []string{"/q/", "/queue/", "/semaphore/"}

// key returns the key that a path names.
func (a *api) key(r *http.Request) ([]byte, error) {
	name := rest.Name(r, "key")
	if a.store == nil {
		return nil, errOff
	}
	for _, begin := range virtual {
		if strings.HasPrefix(name, begin) {
			return nil, rest.BadRequest("keys below " + begin + " stand for queues and semaphores, which have paths of their own: /api/queues, /api/semaphores")
		}
	}
	return []byte(name), nil
}

func (a *api) list(r *http.Request) (any, error) {
	limit, err := rest.Number(r, "limit", defaultPage, largestPage)
	if err != nil {
		return nil, err
	}
	values, err := rest.Truth(r, "values")
	if err != nil {
		return nil, err
	}
	if a.store == nil {
		return nil, errOff
	}
	from, to := bounds([]byte(r.URL.Query().Get("prefix")))
	if text := r.URL.Query().Get("after"); text != "" {
		after, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || bytes.Compare(after, from) < 0 && !isEnd(from) || bytes.Compare(after, to) >= 0 && !isEnd(to) {
			return nil, rest.BadRequest("after is what a page before gave as next")
		}
		from = append(after, 0)
	}
	answer, err := a.store.Range(r.Context(), &pb.RangeRequest{Key: from, RangeEnd: to, Limit: int64(limit)})
	if err != nil {
		return nil, refusal(err)
	}
	out := Page{Keys: []Key{}, Total: answer.Count, Revision: answer.Header.GetRevision()}
	for _, kv := range answer.Kvs {
		k := shown(kv)
		if values {
			k.withValue(kv.Value, shownBytes)
		}
		out.Keys = append(out.Keys, k)
	}
	if answer.More {
		out.Next = base64.RawURLEncoding.EncodeToString(answer.Kvs[len(answer.Kvs)-1].Key)
	}
	return out, nil
}

// isEnd reports whether a bound means the end of all keys.
func isEnd(bound []byte) bool { return len(bound) == 1 && bound[0] == 0 }

// bounds returns the first key with a prefix and the first key after all keys with it, in etcd's
// form: "\x00" means the end of all keys.
func bounds(prefix []byte) (from, to []byte) {
	if len(prefix) == 0 {
		return []byte{0}, []byte{0}
	}
	to = bytes.Clone(prefix)
	for i := len(to) - 1; i >= 0; i-- {
		if to[i] < 0xff {
			to[i]++
			return prefix, to[:i+1]
		}
	}
	return prefix, []byte{0}
}

func shown(kv *mvccpb.KeyValue) Key {
	k := Key{Bytes: len(kv.Value), Created: kv.CreateRevision, Modified: kv.ModRevision, Version: kv.Version}
	if k.Key, k.KeyEncoding = rest.ShowBytes(kv.Key, -1); k.KeyEncoding == "string" {
		k.KeyEncoding = ""
	}
	if kv.Lease != 0 {
		k.Lease = strconv.FormatInt(kv.Lease, 16)
	}
	return k
}

func (k *Key) withValue(value []byte, most int) {
	text, encoding := rest.ShowBytes(value, most)
	k.Value, k.Encoding = &text, encoding
}

func (a *api) get(r *http.Request) (any, error) {
	key, err := a.key(r)
	if err != nil {
		return nil, err
	}
	answer, err := a.store.Range(r.Context(), &pb.RangeRequest{Key: key})
	if err != nil {
		return nil, refusal(err)
	}
	if len(answer.Kvs) == 0 {
		return nil, errNoKey
	}
	k := shown(answer.Kvs[0])
	k.withValue(answer.Kvs[0].Value, -1)
	return k, nil
}

var errNoKey = rest.NotFound("there is no such key")

func (a *api) put(r *http.Request, in Value) (created bool, err error) {
	key, err := a.key(r)
	if err != nil {
		return false, err
	}
	if in.Value == nil {
		return false, rest.BadRequest("value is missing")
	}
	put := &pb.PutRequest{Key: key, PrevKv: true}
	if put.Value, err = rest.ReadBytes(*in.Value, in.Encoding); err != nil {
		return false, err
	}
	if in.Lease != "" {
		if put.Lease, err = strconv.ParseInt(in.Lease, 16, 64); err != nil {
			return false, rest.BadRequest("lease is the id of a lease in hexadecimal")
		}
	}
	if alarm := a.Broker.Alarm(); alarm != nil && alarm.Reason == broker.LowOnDisk {
		return false, errNoSpace
	}
	answer, err := a.store.Put(r.Context(), put)
	if err != nil {
		return false, refusal(err)
	}
	return answer.PrevKv == nil, nil
}

func (a *api) delete(r *http.Request) error {
	key, err := a.key(r)
	if err != nil {
		return err
	}
	answer, err := a.store.DeleteRange(r.Context(), &pb.DeleteRangeRequest{Key: key})
	if err == nil && answer.Deleted == 0 {
		return errNoKey
	}
	return refusal(err)
}

var errNoSpace = rest.Fail(http.StatusInsufficientStorage, "no_space", "there is no room for more keys; delete some, or raise the setting etcd_quota or the free disk space")

// refusal converts errors of the store to refusals.
func refusal(err error) error {
	switch {
	case errors.Is(err, etcderrors.ErrNoSpace):
		return errNoSpace
	case errors.Is(err, etcderrors.ErrRequestTooLarge):
		return rest.Fail(http.StatusRequestEntityTooLarge, "bad_request", "key and value together are longer than the setting etcd_max_request_size")
	case errors.Is(err, lease.ErrLeaseNotFound):
		return rest.NotFound("there is no such lease")
	}
	return err
}
