"""Programs in C that act as others that cannot be had here: their markers, or functions of their names, and no more.

A language's program calls outer(), which calls inner() nine times. A server's program handles one query after another.
"""

import os
import pathlib
import subprocess

# Each: the provider's declaration, what marks the entry of function NAME, what marks its return, and other markers of a round.
LANGUAGES = {
    "perl": ("probe sub__entry(char *, char *, int, char *); probe sub__return(char *, char *, int, char *);",
             'PERL_SUB_ENTRY(NAME, "busy.pl", 2, "main")', 'PERL_SUB_RETURN(NAME, "busy.pl", 2, "main")', ""),
    "tcl": ("probe proc__entry(char *, int, void *); probe proc__return(char *, int); probe cmd__entry(char *, int, void *);"
            "probe cmd__return(char *, int); probe inst__start(char *, int, void *); probe inst__done(char *, int, void *);"
            "probe obj__create(void *); probe obj__free(void *);",
            "TCL_PROC_ENTRY(NAME, 0, 0)", "TCL_PROC_RETURN(NAME, 0)",
            'TCL_CMD_ENTRY("set", 1, 0); TCL_CMD_RETURN("set", 0); TCL_INST_START("push", 1, 0); TCL_INST_DONE("push", 1, 0);'
            "TCL_OBJ_CREATE(&NAMES); TCL_OBJ_FREE(&NAMES);"),
    "sh": ("".join(f"probe {what}__{end}(char *, char *, int);" for what in ("function", "builtin", "command") for end in ("entry", "return"))
           + "probe line(char *, int); probe subshell__entry(char *, int); probe subshell__return(char *, int); probe script__start(char *);",
           'SH_FUNCTION_ENTRY("busy.sh", NAME, 2)', 'SH_FUNCTION_RETURN("busy.sh", NAME, 0)',
           'SH_LINE("busy.sh", 3); SH_BUILTIN_ENTRY("busy.sh", "echo", 3); SH_BUILTIN_RETURN("busy.sh", "echo", 0);'
           'SH_COMMAND_ENTRY("busy.sh", "/bin/ls", 4); usleep(50); SH_COMMAND_RETURN("busy.sh", "/bin/ls", 0);'
           'SH_COMMAND_ENTRY("busy.sh", "/bin/echo", 5); usleep(50); SH_COMMAND_RETURN("busy.sh", "/bin/echo", 0);'
           'SH_SUBSHELL_ENTRY("busy.sh", getpid()); SH_SUBSHELL_RETURN("busy.sh", 0);'),
    "javascript": ("probe execute__start(char *, int); probe execute__done(char *, int); probe function__entry(char *, char *, char *);"
                   "probe function__info(char *, char *, char *, int, char *, int); probe function__return(char *, char *, char *);"
                   "probe object__create__start(char *, char *); probe object__create__done(char *, char *);"
                   "probe object__create(char *, char *, uintptr_t, int); probe object__finalize(char *, char *, uintptr_t);",
                   'JAVASCRIPT_FUNCTION_ENTRY("busy.js", "Busy", NAME); JAVASCRIPT_FUNCTION_INFO("busy.js", "Busy", NAME, 2, "busy.js", 3)',
                   'JAVASCRIPT_FUNCTION_RETURN("busy.js", "Busy", NAME)',
                   'JAVASCRIPT_EXECUTE_START("busy.js", 1); JAVASCRIPT_OBJECT_CREATE_START("busy.js", "Date");'
                   'JAVASCRIPT_OBJECT_CREATE_DONE("busy.js", "Date"); JAVASCRIPT_OBJECT_CREATE("busy.js", "Date", round, 3);'
                   'if (round > 5) JAVASCRIPT_OBJECT_FINALIZE("busy.js", "Date", round - 5); JAVASCRIPT_EXECUTE_DONE("busy.js", 1);'),
    "mysql": ("probe query__start(char *, int, char *, char *, char *); probe query__done(int); probe query__exec__start(char *);"
              "probe query__exec__done(int); probe query__cache__hit(char *, int); probe query__cache__miss(char *);",
              'MYSQL_QUERY_START("select " NAME, 7, "shop", "ada", "localhost"); MYSQL_QUERY_CACHE_MISS("select " NAME);'
              'MYSQL_QUERY_EXEC_START("select " NAME); usleep(2000); MYSQL_QUERY_EXEC_DONE(0)', "MYSQL_QUERY_DONE(0)",
              'MYSQL_QUERY_START("select 1", 7, "shop", "ada", "localhost"); MYSQL_QUERY_CACHE_HIT("select 1", 1); MYSQL_QUERY_DONE(0);'),
}

CALLS = r"""
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include "provider.h"
static void *NAMES;
static void work(void) { for (volatile int i = 0; i < 500; i++); free(malloc(64)); }
#define NAME "inner"
static void inner(void) { ENTRY; work(); RETURN; }
#undef NAME
#define NAME "outer"
static void outer(void) { ENTRY; for (int i = 0; i < 9; i++) inner(); write(1, "", 1); RETURN; }
int main(void) { for (uintptr_t round = 1;; round++) { outer(); (void)NAMES; OTHERS usleep(10000); } }
"""

# Functions that scripts with pid probes name: the program's name, the functions, and a round of calls.
KEEP = "__attribute__((noipa)) "
FUNCTIONS = {
    "mysqld": (KEEP + "int dispatch_command(int command, void *thread, char *query) { return usleep(200); }", 'dispatch_command(3, 0, "select 1");'),
    "mysql": (KEEP + "int mysql_real_query(void *handle, char *query, long length) { return usleep(200); }", 'mysql_real_query(0, "select 1", 8);'),
    "postgres": (KEEP + "void exec_simple_query(char *query) { usleep(200); }", 'exec_simple_query("select 1");'),
    "named": ("struct name { unsigned magic; char *text; };" + KEEP + "int getname(struct name *name, int n) { name->text = \"example.org\"; return 0; }",
              "struct name name; getname(&name, 1);"),
    "ypserv": (KEEP + "int ypset_current_map(char *map, char *domain, int *error) { return 1; }"
               + KEEP + "int finddatum(void *file, char *key) { return 0; }", 'ypset_current_map("hosts.byname", "example", 0); finddatum(0, "here");'),
    "proftpd": (KEEP + "char *pr_netio_telnet_gets(char *buffer, long size, void *in, void *out) { return \"RETR file\\n\"; }"
                + KEEP + "int pr_netio_read(void *in, char *buffer, long size, int least) { return usleep(20), 100; }"
                + KEEP + "int pr_netio_write(void *out, char *buffer, long size) { return usleep(20), 100; }"
                + KEEP + "int pr_cmd_dispatch(void *command) { return usleep(200); }"
                + KEEP + "int xfer_retr(void *command) { return usleep(200); }" + KEEP + "int xfer_stor(void *command) { return usleep(200); }",
                "pr_netio_telnet_gets(0, 0, 0, 0); pr_netio_read(0, 0, 100, 0); pr_netio_write(0, 0, 100); xfer_retr(0); xfer_stor(0);"),
    "ftpd": (KEEP + "char *getline_(char *buffer, int size, void *in) __asm__(\"getline\");"
             + KEEP + "char *getline_(char *buffer, int size, void *in) { return \"RETR file\\r\\n\"; }", "getline_(0, 0, 0);"),
    "syslogger": ("", 'syslog(6, "a word of %d", 1);'),
    "resolver": ("", 'struct addrinfo *found = 0; if (!getaddrinfo("localhost", "80", 0, &found)) freeaddrinfo(found);'),
}
SERVER = "#define _GNU_SOURCE\n#include <netdb.h>\n#include <sys/socket.h>\n#include <syslog.h>\n#include <unistd.h>\n{0}\n" \
         "int main(void) {{ for (;;) {{ {1} usleep(10000); }} }}\n"


# A program that ends, for commands that trace one from its start.
ENDS = KEEP + "int inner(int n) { return n + 1; }" + KEEP + "int outer(int n) { for (int i = 0; i < 9; i++) n = inner(n); return n; }" \
       + "int main(void) { return outer(0) != 9; }"


def compile_c(code, program, *flags):
    """The program's path; None without a compiler."""
    source = program.with_suffix(".c")
    source.write_text(code)
    ran = subprocess.run([os.environ.get("CC", "cc"), "-g", "-O1", "-w", "-fno-builtin", f"-I{program.parent}", *flags, "-o", program, source])
    return str(program) if ran.returncode == 0 else None


def language(provider, dvm, folder):
    """A program with the provider's markers, in the folder; None if it cannot be made."""
    declaration, entry, left, others = LANGUAGES[provider]
    (folder / "provider.d").write_text(f"provider {provider} {{ {declaration} }};\n")
    subprocess.run([dvm, "header", "-s", folder / "provider.d", "-o", folder / "provider.h"], check=True)
    return compile_c(CALLS, folder / provider, f"-DENTRY={entry}", f"-DRETURN={left}", f"-DOTHERS={others}")


def ends(folder):
    """A program whose main() calls outer() once and inner() nine times."""
    return compile_c(ENDS, pathlib.Path(folder) / "ends")


def functions(name, folder):
    """A program of that name with the functions that scripts name."""
    return compile_c(SERVER.format(*FUNCTIONS[name]), pathlib.Path(folder) / name)
