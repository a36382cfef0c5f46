package definitions

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Options are what the paths need beside the broker. A zero value means nothing of the kind.
type Options struct {
	Product  string // name of the broker, in files
	Version  string // of the broker, in files
	RabbitMQ string // version of RabbitMQ, in files
	// CheckPolicy refuses a policy or an operator policy, by its value as a parameter; nil: all are
	// taken.
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

// answer sends a file; ?download= is what a browser is to call it.
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

// take imports the file that a request brings, for one virtual host or, with "", for all of them.
func (d *definitions) take(r *http.Request, vhost string) (rest.Answer, error) {
	body, err := uploaded(r)
	if err != nil {
		return rest.Answer{}, err
	}
	var f File
	if err := json.NewDecoder(body).Decode(&f); err != nil {
		return rest.Answer{}, unparsed(rest.Unreadable(err))
	}
	l := loader{b: d.Broker, log: d.Log, check: d.o.CheckPolicy}
	return rest.Answer{Status: http.StatusNoContent}, unfit(l.load(&f, vhost))
}

// unparsed has the word that RabbitMQ has for a file that is no JSON.
func unparsed(err error) error {
	var re *rest.Refused
	if what, found := "", false; errors.As(err, &re) {
		if what, found = strings.CutPrefix(re.Reason, "not_json"); found {
			return rest.BadRequest("failed_to_parse_json" + what)
		}
	}
	return err
}

// unfit is the refusal of a file that needs what is not there: the file is at fault, not the path.
func unfit(err error) error {
	if err == nil {
		return nil
	}
	if re := rest.RefusalOf(err); re.Status == http.StatusNotFound {
		return rest.BadRequest(re.Reason)
	}
	return err
}

// uploaded is the file in a request: its body, or what a form of a browser calls file.
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

// Load imports a file of the whole broker. What it cannot take as it is it says in the log.
func Load(b *broker.Broker, log *slog.Logger, file []byte, o Options) error {
	var f File
	if err := json.Unmarshal(file, &f); err != nil {
		return rest.Unreadable(err)
	}
	l := loader{b: b, log: log, check: o.CheckPolicy}
	return l.load(&f, "")
}
