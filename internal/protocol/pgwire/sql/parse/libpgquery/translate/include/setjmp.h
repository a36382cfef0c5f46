/*
 * PostgreSQL leaves the parser by a long jump when a text is wrong. Here it calls Go, which panics
 * and recovers where it called parse: nothing in C catches an error.
 */
#ifndef SETJMP_H
#define SETJMP_H

typedef int jmp_buf[1];
typedef int sigjmp_buf[1];

__attribute__((noreturn, import_module("env"), import_name("throw"))) void throw(void);

#define sigsetjmp(buffer, mask) 0
#define siglongjmp(buffer, value) throw()

#endif
