package definitions

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Options are what the paths need beside the broker. A field with the zero value is unused.
type Options struct {
	Product  string // name of the broker, in files
	Version  string // of the broker, in files
	RabbitMQ string // version of RabbitMQ, in files
	// CheckPolicy returns an error if a policy or an operator policy is invalid, given its value as
	// a parameter. If nil, all policies are accepted.
	CheckPolicy func(name string, operator bool, value json.RawMessage) error
}

// definitions serves the paths of one API.
type definitions struct {
	*rest.API
	o Options
}

// Register adds the paths to an API.
func Register(a *rest.API, o Options) {
	d := &definitions{a, o}
	a.Describe(about)
	a.Open(rest.Administration, "GET /api/definitions", func(w http.ResponseWriter, r *http.Request) {
		f, err := d.export()
		d.answer(w, r, f, err)
	})
	a.Open(rest.Administration, "GET /api/definitions/{vhost}", func(w http.ResponseWriter, r *http.Request) {
		f, err := d.exportOne(rest.Name(r, "vhost"))
		d.answer(w, r, f, err)
	})
	a.Handle(rest.Administration, "POST /api/definitions", func(r *http.Request) (rest.Answer, error) { return d.take(r, "") })
	a.Handle(rest.Administration, "POST /api/definitions/{vhost}", func(r *http.Request) (rest.Answer, error) {
		v, err := a.Broker.VHost(rest.Name(r, "vhost"))
		if err != nil {
			return rest.Answer{}, err
		}
		return d.take(r, v.Name)
	})
}

// answer sends a file. The query parameter download sets the file name for a browser.
func (d *definitions) answer(w http.ResponseWriter, r *http.Request, f *File, err error) {
	if err != nil {
		d.Refuse(w, r, err)
		return
	}
	if name := r.URL.Query().Get("download"); name != "" {
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	}
	rest.Write(w, http.StatusOK, f)
}

// patience is how long an import may take: each password of a user is hashed slowly, and each
// policy is compared with each queue.
const patience = time.Hour

// take imports the file in a request into one virtual host or, if vhost is "", into the whole
// broker.
func (d *definitions) take(r *http.Request, vhost string) (rest.Answer, error) {
	body, err := uploaded(r)
	if err != nil {
		return rest.Answer{}, err
	}
	var f File
	if err := json.NewDecoder(body).Decode(&f); err != nil {
		return rest.Answer{}, unparsed(rest.Unreadable(err))
	}
	rest.CallerOf(r.Context()).TakesTime(patience)
	l := loader{b: d.Broker, log: d.Log, check: d.o.CheckPolicy}
	return rest.Answer{Status: http.StatusNoContent}, unfit(l.load(&f, vhost))
}

// unparsed returns RabbitMQ's error for a file that is not valid JSON.
func unparsed(err error) error {
	var re *rest.Refused
	if what, found := "", false; errors.As(err, &re) {
		if what, found = strings.CutPrefix(re.Reason, "not_json"); found {
			return rest.BadRequest("failed_to_parse_json" + what)
		}
	}
	return err
}

// unfit returns the refusal of a file that refers to something that does not exist: 400 instead of
// 404, because the file is at fault, not the path.
func unfit(err error) error {
	if err == nil {
		return nil
	}
	if re := rest.RefusalOf(err); re.Status == http.StatusNotFound {
		return rest.BadRequest(re.Reason)
	}
	return err
}

// uploaded returns the file in a request: the body, or the field file of a browser's form.
func uploaded(r *http.Request) (io.Reader, error) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return r.Body, nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, rest.BadRequest(err.Error())
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, rest.BadRequest("the form has no part called file")
		}
		if err != nil {
			return nil, rest.Unreadable(err)
		}
		if part.FormName() == "file" {
			return part, nil
		}
	}
}

// Load imports a file of the whole broker. It logs what it cannot import unchanged.
func Load(b *broker.Broker, log *slog.Logger, file []byte, o Options) error {
	var f File
	if err := json.Unmarshal(file, &f); err != nil {
		return rest.Unreadable(err)
	}
	l := loader{b: b, log: log, check: o.CheckPolicy}
	return l.load(&f, "")
}
