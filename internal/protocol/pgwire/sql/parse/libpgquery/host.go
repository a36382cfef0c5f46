package libpgquery

// host is what the module imports: the way out of an error, and WASI's files, of which there are
// none.
type host struct{}

// thrown is the panic of an error of PostgreSQL.
type thrown struct{}

// badFile is WASI's EBADF.
const badFile = 8

func (host) Xthrow() { panic(thrown{}) }

func (host) Xfd_close(int32) int32                     { return badFile }
func (host) Xfd_fdstat_get(int32, int32) int32         { return badFile }
func (host) Xfd_read(_, _, _, _ int32) int32           { return badFile }
func (host) Xfd_seek(int32, int64, int32, int32) int32 { return badFile }
func (host) Xfd_write(_, _, _, _ int32) int32          { return badFile }
func (host) Xproc_exit(int32)                          { panic("exit") }
