package jobs

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/bench/jobs/lua"
)

// job is the part of a taken job that a report needs.
type job struct{ mid, token string }

// dialect is the command set of a server. The methods that add a command do not read its reply.
type dialect interface {
	enqueue(c *conn, queue, mid, body string)
	take(c *conn, queue string, count int)
	// taken reads the reply of take.
	taken(c *conn, jobs []job) ([]job, error)
	done(c *conn, queue string, j job)
	// remove removes a queue completely.
	remove(c *conn, queue string) error
}

// commands is the dialect of the broker.
type commands struct{}

func (commands) enqueue(c *conn, queue, mid, body string) {
	c.command("JOB.ENQUEUE", queue, body, "ID", mid)
}

func (commands) take(c *conn, queue string, count int) {
	c.begin(4)
	c.arg("JOB.TAKE")
	c.arg(queue)
	c.arg("COUNT")
	c.number(int64(count))
}

func (commands) taken(c *conn, jobs []job) ([]job, error) {
	_, n, _, err := c.next()
	for ; n > 0 && err == nil; n-- {
		var j job
		if j, err = c.namedJob(); err == nil {
			jobs = append(jobs, j)
		}
	}
	return jobs, err
}

// namedJob reads a job in the form of names and values.
func (c *conn) namedJob() (j job, err error) {
	_, n, _, err := c.next()
	for ; n > 1 && err == nil; n -= 2 {
		var name []byte
		if name, err = c.value(); err != nil {
			return j, err
		}
		switch string(name) {
		case "mid":
			j.mid, err = c.text()
		case "token":
			j.token, err = c.text()
		default:
			err = c.skip()
		}
	}
	return j, err
}

func (commands) done(c *conn, queue string, j job) {
	c.command("JOB.DONE", queue, j.mid, j.token)
}

func (commands) remove(c *conn, queue string) error {
	return c.do("QUEUE.CLEAR", queue)
}

// scripts is the dialect of a real Redis with the reference scripts. The work on the wire is the
// same: EVALSHA with the key of the queue.
type scripts struct{ enqueueSHA, takeSHA, reportSHA string }

func loadScripts(c *conn) (s scripts, err error) {
	for _, l := range []struct {
		sha  *string
		text string
	}{{&s.enqueueSHA, lua.Enqueue}, {&s.takeSHA, lua.Take}, {&s.reportSHA, lua.Report}} {
		if *l.sha, err = c.ask("SCRIPT", "LOAD", l.text); err != nil {
			return s, err
		}
	}
	return s, nil
}

// call begins a script call with n further arguments.
func (scripts) call(c *conn, sha, queue string, n int) {
	c.begin(5 + n)
	c.arg("EVALSHA")
	c.arg(sha)
	c.arg("1")
	c.arg(lua.Key(queue))
	c.number(time.Now().UnixMilli())
}

func (s scripts) enqueue(c *conn, queue, mid, body string) {
	s.call(c, s.enqueueSHA, queue, 5)
	c.arg(mid)
	c.arg(body)
	c.arg("0")
	c.arg("0")
	c.arg("")
}

func (s scripts) take(c *conn, queue string, count int) {
	s.call(c, s.takeSHA, queue, 2)
	c.number(int64(count))
	c.arg("3600000")
}

func (scripts) taken(c *conn, jobs []job) ([]job, error) {
	_, n, _, err := c.next()
	for ; n > 0 && err == nil; n-- {
		var j job
		if j, err = c.placedJob(); err == nil {
			jobs = append(jobs, j)
		}
	}
	return jobs, err
}

// placedJob reads a job in the form of mid, body, attempt, token and more.
func (c *conn) placedJob() (j job, err error) {
	_, n, _, err := c.next()
	for i := 0; i < n && err == nil; i++ {
		switch i {
		case 0:
			j.mid, err = c.text()
		case 3:
			j.token, err = c.text()
		default:
			err = c.skip()
		}
	}
	return j, err
}

func (s scripts) done(c *conn, queue string, j job) {
	s.call(c, s.reportSHA, queue, 4)
	c.arg(j.mid)
	c.arg(j.token)
	c.arg("done")
	c.arg("0")
}

// remove deletes the keys in steps, so that it does not block the server for long.
func (scripts) remove(c *conn, queue string) error {
	const step = "local page = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000) " +
		"for _, key in ipairs(page[2]) do redis.call('DEL', key) end return page[1]"
	for cursor := "0"; ; {
		next, err := c.ask("EVAL", step, "0", cursor, lua.Key(queue)+":*")
		if err != nil || next == "0" {
			return err
		}
		cursor = next
	}
}

// speak detects the dialect of a server.
func speak(c *conn) (dialect, error) {
	err := c.do("JOB.STATUS", "bench", "none")
	if err == nil {
		return commands{}, nil
	}
	if !errors.Is(err, ErrReply) || !strings.Contains(strings.ToLower(err.Error()), "unknown command") {
		return nil, err
	}
	return loadScripts(c)
}

// server returns a description of the server: name, version, and persistence settings.
func server(c *conn) (string, error) {
	info, err := c.ask("INFO", "server")
	if err != nil {
		return "", err
	}
	name := "Redis " + field(info, "redis_version")
	if v := field(info, "fiveways_version"); v != "" {
		name = "Fiveways " + v
	}
	on, err := c.config("appendonly")
	if err != nil {
		return name, nil // the server does not report it
	}
	sync, err := c.config("appendfsync")
	if err != nil || on != "yes" {
		return name + ", appendonly " + on, nil
	}
	return name + ", appendonly yes, appendfsync " + sync, nil
}

func field(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return v
		}
	}
	return ""
}

// config returns a setting of the server.
func (c *conn) config(name string) (string, error) {
	c.command("CONFIG", "GET", name)
	if err := c.flush(); err != nil {
		return "", err
	}
	_, n, _, err := c.next()
	if err != nil {
		return "", err
	}
	if n != 2 {
		return "", fmt.Errorf("jobs bench: CONFIG GET answers %d values", n)
	}
	if err := c.skip(); err != nil {
		return "", err
	}
	return c.text()
}
