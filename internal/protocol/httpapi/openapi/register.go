package openapi

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// Path is the path of the document.
const Path = "/api/openapi.json"

// Register adds the path of the document to an API. The document is generated on the first request
// from the routes that exist then. version is the version of the broker.
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
		w.Write(b) //nolint:errcheck // the client is gone
	})
	a.Describe(map[string]rest.About{"GET " + Path: {Summary: "This document", Out: map[string]any{}}})
}
