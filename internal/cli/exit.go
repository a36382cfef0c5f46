package cli

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"fiveways/internal/bench/amqp"
	benchetcd "fiveways/internal/bench/etcd"
	benchjobs "fiveways/internal/bench/jobs"
	benchsemaphore "fiveways/internal/bench/semaphore"
	benchsql "fiveways/internal/bench/sql"
	"fiveways/internal/config"
	"fiveways/internal/semaphores"
	"fiveways/internal/server"
	"fiveways/internal/sqlschema"
	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
	"fiveways/worker"
)

// The exit codes, as `fiveways --help` documents them.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // command line or configuration
	exitInUse   = 3 // listen address or data folder belongs to another process
	exitDamage  = 4 // the data folder is damaged
)

const exitHelp = `Exit codes:
  0  success
  1  failure
  2  wrong command line or configuration
  3  a listen address or the data folder is in use
  4  the data folder is damaged`

var (
	errUsage  = errors.New("wrong usage")
	errDamage = errors.New("damage found")
)

// usage is an error about the command line.
func usage(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errUsage}, args...)...)
}

// verdicts maps an error to its exit code and to what the user can do about it; the first that matches counts.
var verdicts = []struct {
	err  error
	code int
	hint string
}{
	{amqp.ErrInvalid, exitUsage, "`fiveways bench amqp --help` lists the options, with examples."},
	{benchsql.ErrInvalid, exitUsage, "`fiveways bench sql --help` lists the options, with examples."},
	{benchjobs.ErrInvalid, exitUsage, "`fiveways bench jobs --help` lists the options, with examples."},
	{benchsemaphore.ErrInvalid, exitUsage, "`fiveways bench semaphore --help` lists the options, with examples."},
	{benchetcd.ErrInvalid, exitUsage, "`fiveways bench etcd --help` lists the options, with examples."},
	{config.ErrInvalid, exitUsage, "`fiveways config` shows each setting and where it came from; docs/fiveways.toml explains them."},
	{server.ErrAddrInUse, exitInUse, "Stop the program that has the address (another broker, perhaps), or give the protocol another one: --amqp HOST:PORT, --sql HOST:PORT, --redis HOST:PORT, --etcd HOST:PORT, --http HOST:PORT, --metrics HOST:PORT (port 0 takes a free one), or off."},
	{server.ErrLocked, exitInUse, "Stop the broker that has the folder, or choose another one with --data DIR."},
	{vfs.ErrLocked, exitInUse, "Stop the broker that has the folder first; doctor works on a folder at rest."},
	{sqlschema.ErrTooOld, exitFailure, "Install it into a database of a newer PostgreSQL, or use the SQL protocol of the broker (fiveways serve)."},
	{sqlschema.ErrHstore, exitFailure, "Somebody who may has to run: CREATE EXTENSION hstore; (it comes with PostgreSQL, on Debian as postgresql-contrib) or GRANT USAGE ON SCHEMA of it."},
	{sqlschema.ErrBroker, exitFailure, "It has the schemas mbus4 and semaphore from the start: select mbus4.readme()."},
	{sqlschema.ErrOthers, exitFailure, "Choose another database, or drop the schema semaphore when nobody needs it any more."},
	{sqlschema.ErrForeign, exitFailure, "Choose another database, or drop those schemas when nobody needs them any more (the extension: DROP EXTENSION mbus CASCADE)."},
	{sqlschema.ErrNewer, exitFailure, "Use the fiveways that installed it, or a newer one."},
	{sqlschema.ErrRights, exitFailure, "Connect as the owner of the database, or let him run: GRANT CREATE ON DATABASE name TO user."},
	{sqlschema.ErrDSN, exitUsage, "It looks like postgres://user@host:5432/database or \"host=localhost user=me dbname=shop\"."},
	{sqlschema.ErrConnect, exitFailure, "Does psql connect with the same DSN? A password comes from PGPASSWORD or ~/.pgpass as well."},
	{worker.ErrInvalid, exitUsage, "A URL looks like redis://user:password@host:6380/vhost, or carmine://host:6379 for queues of Carmine."},
	{worker.ErrAlreadyQueued, exitFailure, "Choose another --id, or let it replace the body of that one with --update."},
	{worker.ErrLocked, exitFailure, "A worker has it. To be handled after that, enqueue it with --requeue."},
	{worker.ErrBackoff, exitFailure, "It was done a short time ago. To be handled when its backoff is over, enqueue it with --requeue."},
	{worker.ErrStale, exitFailure, "The lock has run out or the job was reported on; `fiveways job status QUEUE MID` shows where it is now. Nothing was changed."},
	{worker.ErrUnreadable, exitFailure, "A program of Clojure can read it. `fiveways migrate carmine --frozen` moves it as it is."},
	{worker.ErrNoRoom, exitFailure, "Jobs that are taken and done make room; taking goes on. What is short is in the log of the broker: memory_limit, the disk, or x-max-length of the queue."},
	{errNoRedis, exitUsage, "Name the broker: --url redis://host:port (of `fiveways migrate`: --to)."},
	{errNoBroker, exitFailure, "Name its data folder with --data DIR or its address with --url http://user@host:15672, or start one with `fiveways serve`."},
	{errLogin, exitFailure, "The URL names the user, http://user@host:15672; its password is in " + config.EnvPassword + ", or asked for. `fiveways user list` shows users and their tags."},
	{errForbidden, exitFailure, "`fiveways permission list` shows what a user may do, `fiveways permission set` gives more."},
	{errNotHTTP, exitFailure, "The broker prints the addresses of its protocols when it starts; that of HTTP is 127.0.0.1:15672 unless told otherwise."},
	{semaphores.ErrNotFound, exitFailure, "`fiveways semaphore list` shows those that are there, `fiveways semaphore set KEY` makes one."},
	{errNotMoved, exitFailure, "What was not moved is still at the source."},
	{errStillWaits, exitFailure, "It keeps its place in the line; `fiveways semaphore show KEY TASK` tells where it stands, `release` takes it out."},
	{errStreamOver, exitFailure, "When the broker is back, `fiveways semaphore tasks` tells how things stand; a queue bound to the exchange semaphore.events misses nothing."},
	{errOverrun, exitFailure, "`fiveways semaphore tasks` tells how things stand; a queue bound to the exchange semaphore.events misses nothing."},
	{syscall.ECONNREFUSED, exitFailure, "Is the server running there? A broker is started with `fiveways serve`."},
	{fs.ErrExist, exitFailure, "Choose another name, or take that file away first."},
	{fs.ErrPermission, exitFailure, "Give the user who runs fiveways the right to it, or choose another folder (--data DIR) or a port above 1023."},
	{syscall.EADDRNOTAVAIL, exitFailure, "The address must be one of this machine: 127.0.0.1 for programs here, 0.0.0.0 for all of the network."},
	{errDamage, exitDamage, ""},
	{store.ErrUnsupportedFormat, exitFailure, "A newer version of Fiveways wrote the folder; start that version, or choose another folder with --data DIR."},
	{store.ErrCorrupt, exitDamage, "Copy the folder, then look with `fiveways doctor DIR`; `fiveways doctor DIR --repair` cuts what is damaged and says what is lost."},
}

// report prints err with its way out and returns the exit code. A nil err is success.
func report(stderr io.Writer, command string, err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "fiveways: %v\n", err)
	if errors.Is(err, errUsage) {
		fmt.Fprintf(stderr, "Run `%s --help` for what it takes, with examples.\n", command)
		return exitUsage
	}
	for _, v := range verdicts {
		if errors.Is(err, v.err) {
			if v.hint != "" {
				fmt.Fprintln(stderr, v.hint)
			}
			return v.code
		}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		fmt.Fprintln(stderr, "Name the certificate to trust with --ca FILE; the name in the URL must be one that is in the broker's certificate.")
	}
	if hint := redisHint(err); hint != "" {
		fmt.Fprintln(stderr, hint)
	}
	return exitFailure
}
