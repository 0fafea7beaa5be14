/* How a file is opened, as <fcntl.h> of Linux on x86-64 has it. */
inline int O_RDONLY = 0;
inline int O_WRONLY = 1;
inline int O_RDWR = 2;
inline int O_ACCMODE = 3;
inline int O_CREAT = 0100;
inline int O_EXCL = 0200;
inline int O_NOCTTY = 0400;
inline int O_TRUNC = 01000;
inline int O_APPEND = 02000;
inline int O_NONBLOCK = 04000;
inline int O_NDELAY = 04000;
inline int O_DSYNC = 010000;
inline int O_ASYNC = 020000;
inline int O_DIRECT = 040000;
inline int O_LARGEFILE = 0;
inline int O_DIRECTORY = 0200000;
inline int O_NOFOLLOW = 0400000;
inline int O_NOATIME = 01000000;
inline int O_CLOEXEC = 02000000;
inline int O_SYNC = 04010000;
inline int O_RSYNC = 04010000;
inline int O_FSYNC = 04010000;
inline int O_PATH = 010000000;
inline int O_TMPFILE = 020200000;

/* An open file of the process that fired, as it was then. */
typedef struct fileinfo {
	string fi_name;		/* the last component of fi_pathname */
	string fi_dirname;	/* the others */
	string fi_pathname;
	long long fi_offset;	/* position */
	string fi_fs;		/* type of the file system */
	string fi_mount;	/* where that is mounted */
	int fi_oflags;		/* O_... */
} fileinfo_t;

struct dvm_file { char unused; };	/* the pointer is the descriptor */

translator fileinfo_t < struct dvm_file *F > {
	fi_pathname = dvm_file_text[8 * (uintptr_t)F];
	fi_name = basename(dvm_file_text[8 * (uintptr_t)F]);
	fi_dirname = dvm_file_text[8 * (uintptr_t)F + 3];
	fi_fs = dvm_file_text[8 * (uintptr_t)F + 1];
	fi_mount = dvm_file_text[8 * (uintptr_t)F + 2];
	fi_offset = dvm_file_number[8 * (uintptr_t)F];
	fi_oflags = (int)dvm_file_number[8 * (uintptr_t)F + 1];
};

inline fileinfo_t fds[int fd] = xlate <fileinfo_t> ((struct dvm_file *)(uintptr_t)fd);
#pragma D binding "1.1" fds
