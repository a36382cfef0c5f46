/* WASI has none; PostgreSQL's list of settings names these. */
#define LOG_EMERG	0
#define LOG_ALERT	1
#define LOG_CRIT	2
#define LOG_ERR		3
#define LOG_WARNING	4
#define LOG_NOTICE	5
#define LOG_INFO	6
#define LOG_DEBUG	7
#define LOG_PID		1
#define LOG_NDELAY	8
#define LOG_NOWAIT	16
#define LOG_LOCAL0	(16 << 3)
#define LOG_LOCAL1	(17 << 3)
#define LOG_LOCAL2	(18 << 3)
#define LOG_LOCAL3	(19 << 3)
#define LOG_LOCAL4	(20 << 3)
#define LOG_LOCAL5	(21 << 3)
#define LOG_LOCAL6	(22 << 3)
#define LOG_LOCAL7	(23 << 3)

void		openlog(const char *, int, int);
void		syslog(int, const char *, ...);
void		closelog(void);
