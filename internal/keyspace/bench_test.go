package keyspace

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// loadKeys puts n keys of 16 bytes with values of 100 bytes, a hundred per transaction.
func loadKeys(tb testing.TB, s *Store, n int) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	for i := 0; i < n; i += 100 {
		t := &pb.TxnRequest{}
		for j := i; j < i+100; j++ {
			value := make([]byte, 100)
			for k := 0; k < 96; k += 8 {
				binary.LittleEndian.PutUint64(value[k:], rng.Uint64())
			}
			t.Success = append(t.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestPut{
				RequestPut: &pb.PutRequest{Key: fmt.Appendf(nil, "/bench/%09d", j), Value: value},
			}})
		}
		if _, err := s.Txn(context.Background(), t); err != nil {
			tb.Fatal(err)
		}
	}
}

// discardLog applies entries and keeps nothing.
type discardLog struct {
	store *Store
	index uint64
}

func (l *discardLog) Record(entry []byte) (uint64, error) {
	l.index++
	l.store.Apply(l.index, entry)
	return l.index, nil
}

func (l *discardLog) RecordAll(entries [][]byte, _ bool, done func(int, uint64, error)) {
	for i, entry := range entries {
		index, err := l.Record(entry)
		done(i, index, err)
	}
}

func residentMiB(tb testing.TB) float64 {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		tb.Fatal(err)
	}
	return kb / 1024
}

// BenchmarkMillionKeys loads a million keys, and measures the memory of the process, ranges, a
// dump, and a start from the dump. Run it with -benchtime 1x.
func BenchmarkMillionKeys(b *testing.B) {
	const n = 1_000_000
	for b.Loop() {
		s := New(Options{})
		if err := s.Start(&discardLog{store: s}); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		loadKeys(b, s, n)
		b.ReportMetric(time.Since(begin).Seconds(), "load-s")
		b.ReportMetric(residentMiB(b), "loaded-MiB")
		measureRange(b, s, n)
		dump := measureDump(b, s)
		_ = s.Close()
		s = nil
		debug.FreeOSMemory()
		begin = time.Now()
		again := New(Options{})
		if err := again.Restore(dump); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "restore-s")
		b.ReportMetric(residentMiB(b), "restored-MiB")
		_ = again.Close()
		again = nil
		debug.FreeOSMemory()
	}
}

// BenchmarkReplay applies puts as during a start, a hundred per entry.
func BenchmarkReplay(b *testing.B) {
	s, log := New(Options{}), &fakeLog{}
	log.store = s
	if err := s.Start(log); err != nil {
		b.Fatal(err)
	}
	loadKeys(b, s, 100_000)
	_ = s.Close()
	b.ResetTimer()
	b.ReportAllocs()
	for b.Loop() {
		again := New(Options{})
		for i, entry := range log.entries {
			again.Apply(uint64(i+1), entry)
		}
		_ = again.Close()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/100_000, "µs/put")
}

func measureRange(b *testing.B, s *Store, n int) {
	b.Helper()
	begin := time.Now()
	all, err := s.Range(context.Background(), &pb.RangeRequest{Key: []byte("/bench/"), RangeEnd: []byte("/bench0")})
	if err != nil || len(all.Kvs) != n {
		b.Fatal(len(all.Kvs), err)
	}
	b.ReportMetric(time.Since(begin).Seconds(), "range-all-s")
	rng := rand.New(rand.NewPCG(3, 3))
	begin = time.Now()
	for range 100_000 {
		if _, err := s.Range(context.Background(), &pb.RangeRequest{Key: fmt.Appendf(nil, "/bench/%09d", rng.IntN(n))}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(time.Since(begin).Seconds()*10, "get-µs")
}

func measureDump(b *testing.B, s *Store) *os.File {
	b.Helper()
	begin := time.Now()
	dump, err := os.Create(filepath.Join(b.TempDir(), "dump"))
	if err != nil {
		b.Fatal(err)
	}
	size, write := s.Freeze()
	if err := write(dump); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(begin).Seconds(), "dump-s")
	written, err := dump.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = dump.Seek(0, io.SeekStart)
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(written)/float64(size), "dump/size")
	return dump
}

// BenchmarkPut measures the store's own share of a put, without the log.
func BenchmarkPut(b *testing.B) {
	s := New(Options{QuotaBytes: -1})
	defer s.Close()
	if err := s.Start(&discardLog{store: s}); err != nil {
		b.Fatal(err)
	}
	value := make([]byte, 100)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		if _, err := s.Put(context.Background(), &pb.PutRequest{Key: fmt.Appendf(nil, "/bench/%05d", i%10000), Value: value}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDurablePuts measures puts of many concurrent callers, each durable on the disk of the
// folder for temporary files; syncs/put shows how well they share syncs.
func BenchmarkDurablePuts(b *testing.B) {
	for _, callers := range []int{1, 16, 128} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			s := New(Options{QuotaBytes: -1})
			log, err := broker.Open(vfs.OS{}, b.TempDir(), broker.Options{StateMachines: map[uint32]statemachine.Machine{statemachine.Keys: s}, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				b.Fatal(err)
			}
			n := &node{Store: s, b: log}
			defer n.close()
			if err := s.Start(log.StateMachine(statemachine.Keys)); err != nil {
				b.Fatal(err)
			}
			before := log.Stats().Log.Syncs
			var all sync.WaitGroup
			left := make(chan struct{}, b.N)
			for range b.N {
				left <- struct{}{}
			}
			close(left)
			b.ResetTimer()
			for c := range callers {
				all.Go(func() {
					for range left {
						if _, err := s.Put(context.Background(), &pb.PutRequest{Key: fmt.Append(nil, "k", c), Value: make([]byte, 100)}); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(log.Stats().Log.Syncs-before)/float64(b.N), "syncs/put")
		})
	}
}
