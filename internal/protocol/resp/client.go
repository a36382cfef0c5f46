package resp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
)

// clientCommands returns CLIENT with its subcommands.
func clientCommands() []command.Command {
	const about = command.NoScript | anywhere
	sub := func(name string, arity int, f command.Flags, since, summary string, now func(c *conn, args [][]byte)) command.Command {
		return command.Command{Name: "client|" + name, Arity: arity, Flags: about | f, Group: "connection", Since: since, Summary: summary, Now: on(now)}
	}
	return []command.Command{withHelp("5.0.0", command.Command{Name: "client", Arity: -2, Group: "connection", Since: "2.4.0", Summary: "A container for client connection commands",
		Subs: []command.Command{
			sub("id", 2, command.Fast, "5.0.0", "Returns the client ID for the current connection", func(c *conn, _ [][]byte) { c.w.Int(int64(c.id)) }),
			sub("getname", 2, command.Fast, "2.6.9", "Get the current connection name", clientGetName),
			sub("setname", 3, command.Fast, "2.6.9", "Set the current connection name", clientSetName),
			sub("setinfo", 4, command.Fast, "7.2.0", "Tell the server the name and the version of the client's library", clientSetInfo),
			sub("info", 2, 0, "6.2.0", "Returns information about the current client connection", clientInfo),
			sub("list", -2, 0, "2.4.0", "Get the list of client connections", clientList),
			sub("kill", -3, 0, "2.4.0", "Kill the connection of a client", clientKill),
			sub("unblock", -3, 0, "5.0.0", "Unblock a client that waits for a message, from a different connection", clientUnblock),
			sub("reply", 3, 0, "3.2.0", "Instruct the server whether to reply to commands", clientReply),
			sub("no-evict", 3, 0, "7.0.0", "Set client eviction mode for the current connection; there is none here", onOff),
			sub("no-touch", 3, 0, "7.2.0", "Controls whether commands alter the last use of keys; nothing does here", onOff),
			sub("getredir", 2, command.Fast, "6.0.0", "Get tracking notifications redirection client ID if any", func(c *conn, _ [][]byte) { c.w.Int(-1) }),
		}})}
}

// face is the part of a connection's state that other connections see.
type face struct {
	name        string
	user, vhost string
}

func clientGetName(c *conn, _ [][]byte) {
	if name := c.face.Load().name; name != "" {
		c.w.BulkString(name)
		return
	}
	c.w.Null()
}

func clientSetName(c *conn, args [][]byte) {
	if e := c.setName(string(args[2])); e != "" {
		c.w.Error(string(e))
		return
	}
	c.w.OK()
}

// setName sets the name of the connection; "" removes it.
func (c *conn) setName(name string) command.Error {
	if !isGraphic(name) {
		return "ERR Client names cannot contain spaces, newlines or special characters."
	}
	c.change(func(f *face) { f.name = name })
	return ""
}

func isGraphic(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}

// change replaces the connection's face with a copy that fn has modified.
func (c *conn) change(fn func(*face)) {
	f := *c.face.Load()
	fn(&f)
	c.face.Store(&f)
}

func clientSetInfo(c *conn, args [][]byte) {
	what, value := strings.ToLower(string(args[2])), string(args[3])
	switch {
	case what != "lib-name" && what != "lib-ver":
		c.w.Error(fmt.Sprintf("ERR Unrecognized option '%s'", command.Quoted(args[2])))
	case !isGraphic(value):
		c.w.Error(fmt.Sprintf("ERR %s cannot contain spaces, newlines or special characters.", what))
	default:
		c.w.OK()
	}
}

func clientInfo(c *conn, _ [][]byte) { c.w.Verbatim(c.describe()) }

// describe returns the connection's line in CLIENT LIST. Any goroutine may call it.
func (c *conn) describe() string {
	f := c.face.Load()
	now := time.Now()
	last, idle := "NULL", now.Sub(c.opened)
	if d := c.last.Load(); d != nil {
		last, idle = d.Name, now.Sub(time.UnixMilli(c.lastAt.Load()))
	}
	version := 2
	if c.resp3.Load() {
		version = 3
	}
	channels, patterns, shards := c.subscribed[0].Load(), c.subscribed[1].Load(), c.subscribed[3].Load()
	return fmt.Sprintf("id=%d addr=%v laddr=%v fd=-1 name=%s age=%d idle=%d flags=%s db=0 sub=%d psub=%d ssub=%d multi=%d cmd=%s user=%s redir=-1 resp=%d\n",
		c.id, c.nc.RemoteAddr(), c.nc.LocalAddr(), f.name, int(now.Sub(c.opened).Seconds()), max(0, int(idle.Seconds())), c.flags(c.listens()),
		channels, patterns, shards, c.queued.Load(), last, f.user, version)
}

// flags returns the client's flags as in CLIENT LIST: P for subscribed, x for in a transaction, b
// for blocked, N for none of these.
func (c *conn) flags(subscribed bool) string {
	text := ""
	if subscribed {
		text += "P"
	}
	if c.queued.Load() >= 0 {
		text += "x"
	}
	if c.waits.active() {
		text += "b"
	}
	if text == "" {
		return "N"
	}
	return text
}

// mayManage reports whether the client may see and kill another client: itself, a client of the
// same user, or any client if its user is an administrator.
func (c *conn) mayManage(other *conn) bool {
	return other == c || other.face.Load().user == c.user || c.isAdministrator()
}

func (c *conn) isAdministrator() bool {
	u, err := c.srv.broker.User(c.user)
	if err != nil {
		return false
	}
	return slices.Contains(u.Tags, catalog.TagAdministrator)
}

// selection is the filter of a command that selects clients.
type selection struct {
	id          uint64
	ids         []uint64
	addr, laddr string
	user, kind  string
}

func (s *selection) has(c *conn) bool {
	kind := "normal"
	if c.listens() {
		kind = "pubsub"
	}
	return (len(s.ids) == 0 || slices.Contains(s.ids, c.id)) && (s.id == 0 || s.id == c.id) && (s.kind == "" || s.kind == kind) && (s.user == "" || s.user == c.face.Load().user) &&
		(s.addr == "" || s.addr == c.nc.RemoteAddr().String()) && (s.laddr == "" || s.laddr == c.nc.LocalAddr().String())
}

func clientList(c *conn, args [][]byte) {
	var s selection
	switch {
	case len(args) == 2:
	case len(args) == 4 && strings.EqualFold(string(args[2]), "TYPE"):
		if s.kind = strings.ToLower(string(args[3])); !isClientType(s.kind) {
			c.w.Error(fmt.Sprintf("ERR Unknown client type '%s'", args[3]))
			return
		}
	case len(args) > 3 && strings.EqualFold(string(args[2]), "ID"):
		for _, a := range args[3:] {
			id, ok := command.Integer(a)
			if !ok {
				c.w.Error("ERR Invalid client ID")
				return
			}
			s.ids = append(s.ids, uint64(id))
		}
	default:
		c.w.Error(string(command.ErrSyntax))
		return
	}
	var text strings.Builder
	for _, other := range c.srv.conns.all() {
		if s.has(other) && c.mayManage(other) {
			text.WriteString(other.describe())
		}
	}
	c.w.Verbatim(text.String())
}

func isClientType(s string) bool {
	return slices.Contains([]string{"normal", "master", "slave", "replica", "pubsub"}, s)
}

// clientKill implements CLIENT KILL address, and CLIENT KILL with filters.
func clientKill(c *conn, args [][]byte) {
	s, skipMe, e := killFilters(args[2:])
	if e != "" {
		c.w.Error(string(e))
		return
	}
	killed := 0
	for _, other := range c.srv.conns.all() {
		if !s.has(other) || !c.mayManage(other) || other == c && skipMe {
			continue
		}
		killed++
		if other == c {
			c.over = true // once this command is answered
		} else {
			other.end("")
		}
	}
	switch {
	case len(args) > 3:
		c.w.Int(int64(killed))
	case killed > 0:
		c.w.OK()
	default:
		c.w.Error("ERR No such client")
	}
}

func killFilters(args [][]byte) (s selection, skipMe bool, e command.Error) {
	if len(args) == 1 {
		s.addr = string(args[0])
		return s, false, ""
	}
	if len(args)%2 != 0 {
		return s, false, command.ErrSyntax
	}
	skipMe = true
	for i := 0; i < len(args); i += 2 {
		value := string(args[i+1])
		switch strings.ToUpper(string(args[i])) {
		case "ID":
			id, err := strconv.ParseInt(value, 10, 64)
			if err != nil || id < 1 {
				return s, false, "ERR client-id should be greater than 0"
			}
			s.id = uint64(id)
		case "TYPE":
			if s.kind = strings.ToLower(value); !isClientType(s.kind) {
				return s, false, command.Errorf("ERR Unknown client type '%s'", value)
			}
		case "ADDR":
			s.addr = value
		case "LADDR":
			s.laddr = value
		case "USER":
			s.user = value
		case "SKIPME":
			if skipMe = strings.EqualFold(value, "yes"); !skipMe && !strings.EqualFold(value, "no") {
				return s, false, command.ErrSyntax
			}
		default:
			return s, false, command.ErrSyntax
		}
	}
	return s, skipMe, ""
}

// clientReply implements CLIENT REPLY ON|OFF|SKIP.
func clientReply(c *conn, args [][]byte) {
	switch strings.ToUpper(string(args[2])) {
	case "ON":
		c.muted = loud
		c.w.OK()
	case "OFF":
		c.flush()
		c.muted = quiet
	case "SKIP":
		if c.muted != quiet {
			c.muted = skipNext
		}
	default:
		c.w.Error(string(command.ErrSyntax))
	}
}

// onOff answers a switch that has no effect here.
func onOff(c *conn, args [][]byte) {
	switch strings.ToUpper(string(args[2])) {
	case "ON", "OFF":
		c.w.OK()
	default:
		c.w.Error(string(command.ErrSyntax))
	}
}

// clientUnblock implements CLIENT UNBLOCK id [TIMEOUT|ERROR].
func clientUnblock(c *conn, args [][]byte) {
	id, ok := command.Integer(args[2])
	mode := "TIMEOUT"
	if len(args) == 4 {
		mode = strings.ToUpper(string(args[3]))
	}
	switch {
	case len(args) > 4:
		c.w.Error(string(command.SubSyntax(args)))
		return
	case mode != "TIMEOUT" && mode != "ERROR":
		c.w.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
		return
	case !ok:
		c.w.Error(string(command.ErrNotInteger))
		return
	}
	other := c.srv.conns.find(uint64(id))
	if other == nil || !c.mayManage(other) || !other.waits.unblock(mode == "ERROR") {
		c.w.Int(0)
		return
	}
	c.w.Int(1)
}
