package streams

import (
	"math"

	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// infoCommand returns XINFO with its subcommands.
func infoCommand() command.Command {
	return container("xinfo", "A container for stream introspection commands",
		sub("xinfo|stream", -3, readonly, "5.0.0", "Get information about a stream", xinfoStream),
		sub("xinfo|groups", 3, readonly, "5.0.0", "List the consumer groups of a stream", xinfoGroups),
		sub("xinfo|consumers", 4, readonly, "5.0.0", "List the consumers in a consumer group", xinfoConsumers),
		help("xinfo|help", infoHelp))
}

var infoHelp = []string{
	"XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"CONSUMERS <key> <groupname>",
	"    Show consumers of <groupname>.",
	"GROUPS <key>",
	"    Show the stream consumer groups.",
	"STREAM <key> [FULL [COUNT <count>]",
	"    Show information about the stream.",
	"HELP",
	"    Prints this help.",
}

// shownInFull is the default number of entries, and of pending entries per group and consumer, that
// XINFO STREAM FULL shows.
const shownInFull = 10

func xinfoStream(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.Info{Entries: -1}
	t.Queue = string(args[2])
	full := len(args) > 3
	if full {
		count := int64(shownInFull)
		if len(args) != 4 && len(args) != 6 || !command.Is(args[3], "FULL") || len(args) == 6 && !command.Is(args[4], "COUNT") {
			return late(args[2], command.SubSyntax(args), tellNoKey)
		}
		if len(args) == 6 {
			var ok bool
			if count, ok = command.Integer(args[5]); !ok {
				return late(args[2], command.ErrNotInteger, tellNoKey)
			}
			if count < 0 {
				count = shownInFull
			}
		}
		t.Groups, t.Consumers, t.Pending = true, true, true
		t.Entries = int(min(count, math.MaxInt32))
		t.Max = t.Entries
	}
	return many{&ask{t, &t.OnStream, tellNoKey, func(w *respwire.Writer) {
		if full {
			writeStreamInFull(w, t)
			return
		}
		w.Map(10)
		writeStreamHead(w, t)
		w.Field("groups", int64(t.GroupsThere))
		for i, name := range []string{"first-entry", "last-entry"} {
			w.BulkString(name)
			if i < len(t.Shown) {
				writeEntry(w, &t.Shown[i])
			} else {
				w.Null()
			}
		}
	}}, 2 + t.Max}, nil
}

func writeStreamHead(w *respwire.Writer, t *streams.Info) {
	id := func(name string, id stream.ID) {
		w.BulkString(name)
		writeID(w, id)
	}
	w.Field("length", int64(t.Len))
	w.Field("radix-tree-keys", int64(t.Blocks))
	w.Field("radix-tree-nodes", int64(t.Blocks)+1)
	id("last-generated-id", t.Last)
	id("max-deleted-entry-id", t.MaxDeleted)
	w.Field("entries-added", int64(t.Added))
	id("recorded-first-entry-id", t.FirstID)
}

func writeStreamInFull(w *respwire.Writer, t *streams.Info) {
	w.Map(9)
	writeStreamHead(w, t)
	w.BulkString("entries")
	writeEntries(w, t.Shown)
	w.BulkString("groups")
	w.Array(len(t.GroupInfos))
	for i := range t.GroupInfos {
		g := &t.GroupInfos[i]
		w.Map(7)
		writeGroupHead(w, g)
		w.Field("pel-count", int64(g.Total))
		w.BulkString("pending")
		w.Array(len(g.Pending))
		for k := range g.Pending {
			p := &g.Pending[k]
			w.Array(4)
			writeID(w, p.ID)
			w.BulkString(p.Consumer)
			w.Int(p.Time)
			w.Int(int64(p.Count))
		}
		w.BulkString("consumers")
		w.Array(len(g.Consumers))
		for k := range g.Consumers {
			writeConsumerInFull(w, &g.Consumers[k])
		}
	}
}

// writeGroupHead writes name, last-delivered-id, entries-read and lag.
func writeGroupHead(w *respwire.Writer, g *streams.GroupInfo) {
	w.TextField("name", g.Name)
	writeGroupStand(w, g)
}

func writeGroupStand(w *respwire.Writer, g *streams.GroupInfo) {
	w.BulkString("last-delivered-id")
	writeID(w, g.Last)
	number := func(name string, n int64, known bool) {
		w.BulkString(name)
		if known {
			w.Int(n)
		} else {
			w.Null()
		}
	}
	number("entries-read", g.Read, g.Read != stream.Unknown)
	number("lag", g.Lag, g.HasLag)
}

func writeConsumerInFull(w *respwire.Writer, c *streams.ConsumerInfo) {
	w.Map(4)
	w.TextField("name", c.Name)
	w.Field("seen-time", c.Seen)
	w.Field("pel-count", int64(c.Pending))
	w.BulkString("pending")
	w.Array(len(c.List))
	for k := range c.List {
		p := &c.List[k]
		w.Array(3)
		writeID(w, p.ID)
		w.Int(p.Time)
		w.Int(int64(p.Count))
	}
}

func xinfoGroups(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.Info{Entries: -1, Groups: true}
	t.Queue = string(args[2])
	return &ask{t, &t.OnStream, tellNoKey, func(w *respwire.Writer) {
		w.Array(len(t.GroupInfos))
		for i := range t.GroupInfos {
			g := &t.GroupInfos[i]
			w.Map(6)
			w.TextField("name", g.Name)
			w.Field("consumers", int64(g.There))
			w.Field("pending", int64(g.Total))
			writeGroupStand(w, g)
		}
	}}, nil
}

func xinfoConsumers(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.Info{Entries: -1, Groups: true, Consumers: true}
	t.Queue = string(args[2])
	return &ask{t, &t.OnStream, tellNoKey, func(w *respwire.Writer) {
		for i := range t.GroupInfos {
			if t.GroupInfos[i].Name == string(args[3]) {
				writeConsumers(w, t.GroupInfos[i].Consumers)
				return
			}
		}
		w.Error(string(noSuchGroup(args[2], args[3])))
	}}, nil
}

func writeConsumers(w *respwire.Writer, list []streams.ConsumerInfo) {
	w.Array(len(list))
	for i := range list {
		c := &list[i]
		w.Map(3)
		w.TextField("name", c.Name)
		w.Field("pending", int64(c.Pending))
		w.Field("idle", c.Idle)
	}
}
