package openapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Path is where the document is served.
const Path = "/api/openapi.json"

// Register adds the path of the document to an API. It lists the routes that there are when it is
// asked for first; version is that of the broker.
func Register(a *rest.API, version string) {
	text := sync.OnceValues(func() ([]byte, error) {
		doc, err := Document(cmp.Or(version, "unknown"), a.Routes())
		if err != nil {
			return nil, err
		}
		return json.Marshal(doc)
	})
	a.Open(rest.Login, "GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		b, err := text()
		if err != nil {
			a.Refuse(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(b) //nolint:errcheck // the client has gone
	})
	a.Describe(map[string]rest.About{"GET " + Path: {Summary: "This document", Out: map[string]any{}}})
}
