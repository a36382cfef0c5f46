package httpapi

import (
	"net/http"
	"time"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// backups serves the path for backups of the data folder.
func (a *API) backups() { a.Open(rest.Administration, "GET /api/backup", a.backup) }

// backupPatience is the timeout for writing a part of a backup. A client that stops reading is
// disconnected, so that the files kept for it are released.
const backupPatience = time.Minute

// backup answers with a tar archive of the data folder. On an error in the middle it aborts the
// connection, so that the client does not mistake an incomplete archive for a whole one.
func (a *API) backup(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-tar")
	w.Header().Set("Content-Disposition", `attachment; filename="fiveways.tar"`)
	if err := a.Broker.Backup(patientWriter{w, http.NewResponseController(w)}); err != nil {
		a.Log.Error("backup failed", "err", err)
		panic(http.ErrAbortHandler)
	}
	a.Log.Info("backup written", "user", rest.CallerOf(r.Context()).User)
}

// patientWriter sets a new deadline for each write.
type patientWriter struct {
	w    http.ResponseWriter
	conn *http.ResponseController
}

func (p patientWriter) Write(b []byte) (int, error) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(backupPatience)) // only writers of tests do not support deadlines
	return p.w.Write(b)
}
