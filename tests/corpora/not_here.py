"""What published scripts name that only a kernel, or another system, has: one table for both programs of this folder."""

import re

from scripts import providers_of

# Providers whose probes lie in a kernel, or whose arguments only the program that has them describes.
KERNEL_PROVIDERS = {"fbt", "sdt", "mib", "ip", "tcp", "udp", "sctp", "iscsi", "nfsv3", "nfsv4", "smb", "fc", "srp", "xpv", "lockstat", "vfs",
                    "cpc", "fpuinfo", "fsinfo", "vtrace", "mach_trap", "ioport", "nfsclient", "zfs", "hyprlofs", "cifs", "priv", "objc"}
FOREIGN_SERVERS = {"http", "ftp"}
NOT_HERE = KERNEL_PROVIDERS | FOREIGN_SERVERS

# The first message about a script, and what it proves if the group is what the second column says.
PROOFS = (
    (re.compile(r"define conversion for member: (t_lwp|v_type)"), "the kernel's thread"),
    (re.compile(r"failed to resolve (`\w+): (?:Unknown symbol name|there is no traced program)"), "a variable of the kernel"),
    (re.compile(r"index \d+ is out of range for (\w+?)\**:"), NOT_HERE),
    (re.compile(r"dvm has no (\w+) provider, for "), NOT_HERE),
    (re.compile(r"has no tracepoint for (\w+:::[\w-]+)"), "Linux has no tracepoint for it"),
    (re.compile(r"Linux has no (sdt:::[\w-]+)"), "Linux has no such tracepoint"),
    (re.compile(r"(probes of \w+ have no function) on Linux"), "it names a function of Solaris' kernel"),
    (re.compile(r"probe description (\w+?):\S* does not match"), NOT_HERE),
    (re.compile(r"index \d+ is out of range for (sched:::change-pri)"), "Linux has no tracepoint for it"),
    (re.compile(r"failed to set option '(zone)'"), "Linux has no zones"),
    (re.compile(r"no struct (vnode|vnop_read_args|smb_request) definition"), "a structure of the kernel"),
    (re.compile(r"failed to resolve type (callout_t|conn_t|kstat_named_t|mac_client_impl_t|mpt_t|sata_pkt_t|taskq_t):"), "a type of the kernel"),
    (re.compile(r"(tcp_state_string) has not yet been declared"), "the library of provider tcp"),
    (re.compile(r"failed to resolve (MAP_INITDATA|TH_RST):"), "a constant of Solaris' headers"),
    (re.compile(r"fatal error: ((?:sys/(?:vnode|isa_defs|byteorder)|inet/common)\.h): No such file"), "a header of Solaris' kernel"),
)


def needs(message):
    """What the script needs that Linux does not have, by dvm's first message; None if the message does not prove that."""
    for pattern, what in PROOFS:
        found = pattern.search(message)
        if found and (isinstance(what, str) or found[1] in what):
            return f"{found[1]}: {what if isinstance(what, str) else 'not a provider of programs'}"
    return None


def names_kernel_probe(text):
    """Whether the script names a probe that lies in a kernel; some of vminfo are here too. providers_of() cuts digits off."""
    return not providers_of(text).isdisjoint(NOT_HERE | {"nfsv", "vminfo"})


# A script that no dtrace compiles as it was published, and why.
BROKEN = {
    "disk_io.d": "a macro of two lines without a backslash",
    "scsicmds.d": "a part of a script",
    "ngelink.d": "switchrate without a value",
    # Examples of the Dynamic Tracing Guide, as illumos publishes it: chapter and number.
    "chapter1-4.d": "a part of a script: another clause assigns i",
    "chapter1-9.d": "a part of a script: another clause assigns i",
    "chapter1-17.d": "a part of a script: another clause assigns ts",
    "chp-structs-1.d": "maxbytes is read before it is assigned",
    "chp-sched-5.d": "a misprint: --1",
    "chp-sched-7.d": "a misprint: a dash for --",
    "chp-sched-14.d": "a misprint: %25 for %25s",
}


def is_command_line(text):
    """A shell command that was published as a script, or one for dtrace -n."""
    return re.match(r"\s*(?:#!\S*dtrace -\w*n|dtrace )", text) is not None


# Scripts that have faults through no fault of dvm's, and why.
FAULTY = {
    "tcl_insflow.d": "Tcl passes a name that it has not initialised",
    "dtruss": "open* also means openat, whose first argument is no path",
    "fserrors.d": "open* also means openat, whose first argument is no path",
    "filebyproc.d": "open* also means openat, whose first argument is no path",
    "pathopens.d": "open* also means openat, whose first argument is no path",
}

# Scripts that print other rows here than they did on Solaris, and why (docs/dtrace-differences.md).
OTHERWISE = {
    "procsystime": "its first assignment makes self->start an int, which cuts timestamps",
    "iosnoop": "it keeps a pointer to pr_psargs, which lasts for the firing only",
    "so1stbyte.d": "its first assignment makes self->connected an int, which cuts timestamps",
    "php_flowtime.d": "it declares self->last as an int, which cuts timestamps",
    "pl_flowtime.d": "it declares self->last as an int, which cuts timestamps",
    "py_flowtime.d": "it declares self->last as an int, which cuts timestamps",
    "crash.d": "a process that crashes may end before dvm can stop it",
    "guess.d": "it traces the system calls of dtrace itself",
    "ldapsyslog.d": "the last string that syslog() of glibc measures is not the message",
}

# Scripts that cannot be tried, and why.
UNTRIED = {
    "watchexec.d": "it starts a program of its author, and again for each such start",
    "woof.d": "it prints nothing, but plays a sound",
    "j_who.d": "it needs a program that calls Java from C",
    "sshkeysnoop.d": "it needs a person who types a password",
    "wpm.d": "it needs a person who types",
    "keylatency.d": "it needs a person who types",
    "errinfo": "it reads the errors' numbers from a header of Solaris",
    "dexplorer": "it runs all the others for minutes, into a folder",
    "diskhits": "it wants the file of each disk request, which Linux does not tell",
    "install": "it installs the collection",
    "test.ksh": "a test of its own",
    "sshconnect.d": "it needs a person who types a password",
}
