package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/web"
)

// policy is the Content-Security-Policy: the page may load only what this broker serves and may not
// be framed, and scripts cannot turn text into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// file is a file in the form in which it is sent.
type file struct {
	kind   string // its media type
	etag   string
	plain  []byte
	packed []byte // compressed with gzip; nil if that is not smaller
}

// site is the page with all its files.
type site struct {
	index   *file
	files   map[string]*file
	version string // hash of the files that index loads
}

// embedded is the site in this binary, which is compressed once.
var embedded = sync.OnceValue(func() *site {
	s, err := load(web.Files)
	if err != nil {
		panic("page: files in the binary cannot be read: " + err.Error())
	}
	return s
})

// Register serves the page at /, and the files that it loads below /assets.
func Register(a *rest.API) {
	a.Describe(about)
	a.Open(rest.Anyone, "GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		embedded().index.serve(w, r)
	})
	a.Open(rest.Anyone, "GET /assets/{version}/{file...}", func(w http.ResponseWriter, r *http.Request) {
		s := embedded()
		f := s.files[r.PathValue("file")]
		if f == nil || r.PathValue("version") != s.version {
			a.Refuse(w, r, rest.NotFound("Not Found"))
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		f.serve(w, r)
	})
}

// load reads all files. In index.html, {{assets}} stands for the path of the other files.
func load(files fs.FS) (*site, error) {
	s := &site{files: map[string]*file{}}
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || mediaType(name) == "" {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		s.files[name] = newFile(name, body)
		sum.Write([]byte(name + s.files[name].etag)) //nolint:errcheck // a hash never fails
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.version = hex.EncodeToString(sum.Sum(nil)[:8])
	index := s.files["index.html"].plain
	s.index = newFile("index.html", bytes.ReplaceAll(index, []byte("{{assets}}"), []byte("assets/"+s.version)))
	delete(s.files, "index.html")
	return s, nil
}

// mediaTypes are the media types of the files that are served. Other files, such as licenses and
// shell scripts, are not.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

func mediaType(name string) string { return mediaTypes[path.Ext(name)] }

func newFile(name string, body []byte) *file {
	sum := sha256.Sum256(body)
	f := &file{kind: mediaType(name), etag: `"` + hex.EncodeToString(sum[:8]) + `"`, plain: body}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // fails only for unknown levels
	z.Write(body)                                              //nolint:errcheck // into memory
	z.Close()                                                  //nolint:errcheck // as above
	if packed.Len() < len(body) {
		f.packed = packed.Bytes()
	}
	return f
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", f.etag)
	if strings.Contains(r.Header.Get("If-None-Match"), f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = f.packed
		h.Set("Content-Encoding", "gzip")
	}
	w.Write(body) //nolint:errcheck // the client is gone
}
