/* WASI has none; a header of PostgreSQL's replication wants this length. */
#define NI_MAXHOST 1025
