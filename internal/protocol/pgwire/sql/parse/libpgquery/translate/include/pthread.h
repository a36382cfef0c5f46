/* An instance of the parser is used by one goroutine at a time. */
#undef HAVE_PTHREAD
