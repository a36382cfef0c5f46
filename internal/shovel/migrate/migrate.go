package migrate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"

	"fiveways.dev/fiveways/internal/shovel"
)

// API sends a request to the HTTP API of a broker. in is encoded as the JSON body, and the answer
// is decoded into out. Both may be nil.
type API func(ctx context.Context, method, path string, in, out any) error

// Options describe a migration.
type Options struct {
	Source      API             // management API of the RabbitMQ; nil with Definitions, which then also name the queues
	SourceURI   string          // AMQP, with user and password; its virtual host is ignored
	Definitions json.RawMessage // used instead of those of Source
	Target      API             // as an administrator
	TargetURI   string          // AMQP; its user, password and virtual host are ignored
	VHost       string          // only this one; "": all
	Queues      *regexp.Regexp  // drain only these
	DryRun      bool            // change nothing
	SkipDrain   bool            // only definitions
	Progress    func(Queue)     // called from time to time with the queue that is being moved
}

// Queue is the result of moving a queue.
type Queue struct {
	VHost    string `json:"vhost"`
	Name     string `json:"name"`
	Messages uint64 `json:"messages"` // number reported by the source; 0 if unknown
	Moved    uint64 `json:"moved"`
	Skipped  string `json:"skipped,omitempty"` // why nothing was tried
	Error    string `json:"error,omitempty"`   // why not everything was moved
}

// Report is the result of a migration.
type Report struct {
	Definitions map[string]int `json:"definitions"` // number of each kind
	Passwords   []string       `json:"passwords"`   // the users whose password hashes are among them
	Queues      []Queue        `json:"queues"`
	Moved       uint64         `json:"moved"`
	Failed      int            `json:"failed"` // queues
}

// Run migrates. The report also covers what was done before an error. A queue that could not be
// moved does not cause an error, but is counted in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	r := Report{Definitions: map[string]int{}, Passwords: []string{}, Queues: []Queue{}}
	definitions, err := o.definitions(ctx)
	if err != nil {
		return r, err
	}
	queues, err := r.read(definitions)
	if err != nil {
		return r, err
	}
	if o.Source != nil {
		if queues, err = sourceQueues(ctx, o.Source); err != nil {
			return r, err
		}
	}
	r.Queues = o.chosen(queues)
	if o.DryRun {
		return r, nil
	}
	if err := o.define(ctx, definitions); err != nil {
		return r, err
	}
	if o.SkipDrain {
		return r, nil
	}
	err = o.drain(ctx, &r)
	for _, q := range r.Queues {
		r.Moved += q.Moved
		if q.Error != "" {
			r.Failed++
		}
	}
	return r, err
}

// define imports the definitions into the target. Definitions of a single virtual host do not
// include the virtual host itself.
func (o *Options) define(ctx context.Context, definitions json.RawMessage) error {
	if o.VHost != "" {
		path := "/api/vhosts/" + url.PathEscape(o.VHost)
		if o.Target(ctx, http.MethodGet, path, nil, nil) != nil {
			if err := o.Target(ctx, http.MethodPut, path, map[string]any{}, nil); err != nil {
				return fmt.Errorf("target: virtual host '%s': %w", o.VHost, err)
			}
		}
	}
	if err := o.Target(ctx, http.MethodPost, definitionsPath(o.VHost), definitions, nil); err != nil {
		return fmt.Errorf("target: definitions: %w", err)
	}
	return nil
}

func definitionsPath(vhost string) string {
	if vhost == "" {
		return "/api/definitions"
	}
	return "/api/definitions/" + url.PathEscape(vhost)
}

func (o *Options) definitions(ctx context.Context) (all json.RawMessage, err error) {
	if o.Definitions != nil {
		return o.Definitions, nil
	}
	if o.Source == nil {
		return nil, errors.New("neither the management API of the source nor a definitions file is given")
	}
	if err := o.Source(ctx, http.MethodGet, definitionsPath(o.VHost), nil, &all); err != nil {
		return nil, fmt.Errorf("source: definitions: %w", err)
	}
	return all, nil
}

// read counts what a definitions file contains, and finds its queues and passwords.
func (r *Report) read(definitions json.RawMessage) (queues []Queue, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(definitions, &members); err != nil {
		return nil, fmt.Errorf("the definitions are not a JSON object: %w", err)
	}
	for kind, value := range members {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) == nil {
			r.Definitions[kind] = len(list)
		}
	}
	var named struct {
		Queues []listed `json:"queues"`
		Users  []struct {
			Name string `json:"name"`
			Hash string `json:"password_hash"`
		} `json:"users"`
	}
	if err := json.Unmarshal(definitions, &named); err != nil {
		return nil, fmt.Errorf("the queues and users of the definitions: %w", err)
	}
	for _, q := range named.Queues {
		queues = append(queues, q.queue())
	}
	for _, u := range named.Users {
		if u.Hash != "" {
			r.Passwords = append(r.Passwords, u.Name)
		}
	}
	return queues, nil
}

// listed is a queue in the management API's form.
type listed struct {
	VHost     string         `json:"vhost"`
	Name      string         `json:"name"`
	Messages  uint64         `json:"messages"`
	Type      string         `json:"type"`
	Exclusive bool           `json:"exclusive"`
	Arguments map[string]any `json:"arguments"`
}

func (l *listed) queue() Queue {
	q := Queue{VHost: l.VHost, Name: l.Name, Messages: l.Messages}
	switch {
	case l.Exclusive:
		q.Skipped = "exclusive: it goes with its connection"
	case l.Type == "stream" || l.Arguments["x-queue-type"] == "stream":
		q.Skipped = "a stream keeps what is consumed: it cannot be drained"
	}
	return q
}

func sourceQueues(ctx context.Context, source API) (queues []Queue, err error) {
	var all []listed
	if err := source(ctx, http.MethodGet, "/api/queues?columns=vhost,name,messages,type,exclusive,arguments", nil, &all); err != nil {
		return nil, fmt.Errorf("source: queues: %w", err)
	}
	for _, q := range all {
		queues = append(queues, q.queue())
	}
	return queues, nil
}

// chosen returns the queues to be drained or reported.
func (o *Options) chosen(queues []Queue) []Queue {
	chosen := []Queue{}
	for _, q := range queues {
		if q.VHost == "" {
			q.VHost = o.VHost // a file of one virtual host does not name it
		}
		if (o.VHost == "" || q.VHost == o.VHost) && (o.Queues == nil || o.Queues.MatchString(q.Name)) {
			chosen = append(chosen, q)
		}
	}
	return chosen
}

// mover is the user of the target that publishes the moved messages. It has the tag impersonator,
// because messages keep their user_id.
const mover = "fiveways-migrate"

// drain moves the messages of all queues, as a temporary user that is deleted at the end.
func (o *Options) drain(ctx context.Context, r *Report) (err error) {
	password := rand.Text()
	user := map[string]any{"password": password, "tags": []string{"impersonator"}}
	if err := o.Target(ctx, http.MethodPut, "/api/users/"+mover, user, nil); err != nil {
		return fmt.Errorf("target: user %s: %w", mover, err)
	}
	defer func() { // even if ctx is done
		gone := o.Target(context.WithoutCancel(ctx), http.MethodDelete, "/api/users/"+mover, nil, nil)
		if gone != nil {
			err = errors.Join(err, fmt.Errorf("target: user %s is still there; delete it: %w", mover, gone))
		}
	}()
	allowed := map[string]bool{}
	for i := range r.Queues {
		q := &r.Queues[i]
		if q.Skipped != "" || ctx.Err() != nil {
			continue
		}
		if !allowed[q.VHost] {
			all := map[string]string{"configure": ".*", "write": ".*", "read": ".*"}
			if err := o.Target(ctx, http.MethodPut, "/api/permissions/"+url.PathEscape(q.VHost)+"/"+mover, all, nil); err != nil {
				return fmt.Errorf("target: permission in virtual host '%s': %w", q.VHost, err)
			}
			allowed[q.VHost] = true
		}
		if err := o.drainQueue(ctx, q, password); err != nil {
			q.Error = err.Error()
		}
	}
	return ctx.Err()
}

func (o *Options) drainQueue(ctx context.Context, q *Queue, password string) (err error) {
	from, err := inVHost(o.SourceURI, q.VHost, nil)
	if err != nil {
		return fmt.Errorf("source: %w", err)
	}
	to, err := inVHost(o.TargetURI, q.VHost, url.UserPassword(mover, password))
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	bridge, err := openBridge(to, q.Name)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	defer func() { err = errors.Join(err, bridge.close()) }()
	p, err := shovel.Run(ctx, shovel.Options{
		Source: shovel.Source{URI: from, Queue: q.Name}, Target: shovel.Target{URI: to, Exchange: bridge.exchange}, Once: true,
		Progress: func(p shovel.Progress) {
			q.Moved = p.Moved
			if o.Progress != nil {
				o.Progress(*q)
			}
		},
	})
	q.Moved = p.Moved
	return err
}

// inVHost returns an AMQP URI with another virtual host, and with another user unless user is nil.
func inVHost(uri, vhost string, user *url.Userinfo) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", errors.New("its URI cannot be parsed") // the parser's error would contain the password
	}
	u.Path, u.RawPath = "/"+vhost, "/"+url.PathEscape(vhost)
	if user != nil {
		u.User = user
	}
	return u.String(), nil
}
