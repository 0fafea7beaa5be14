/*
 * The arguments of the io probes. Of a request to a disk the probe passes, as arg1 and arg3 to arg9, what is told of it here: the address
 * of the disk's name, the operation, bytes, sector, bytes that are done, status, and the disk's numbers.
 */
#pragma D depends_on library errno.d
#pragma D depends_on library io.d

struct dvm_request { char unused; };
struct dvm_disk { char unused; };	/* the pointer is the address of its name */
struct dvm_request_file { char unused; };	/* Linux does not say which */

inline int B_DONE = 0x2;
inline int B_ERROR = 0x4;
inline int B_PAGEIO = 0x10;
inline int B_PHYS = 0x20;
inline int B_READ = 0x40;
inline int B_WRITE = 0x100;
inline int B_ASYNC = 0x400;

typedef struct bufinfo {
	int b_flags;
	size_t b_bcount;	/* bytes of the request */
	caddr_t b_addr;		/* 0: a request has many buffers */
	uint64_t b_blkno;	/* in blocks of 512 bytes */
	uint64_t b_lblkno;
	size_t b_resid;		/* bytes that are not transferred yet */
	size_t b_bufsize;
	caddr_t b_iodone;	/* 0 */
	int b_error;
	dev_t b_edev;
} bufinfo_t;

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;	/* -1: Linux does not number the disks of a driver */
	string dev_name;	/* "<unknown>": of the driver */
	string dev_statname;	/* of the disk, also where the request is one to a partition */
	string dev_pathname;
} devinfo_t;

/* blk_status_t of <linux/blk_types.h>, as the kernel turns it into an error. */
inline int dvm_request_error =
    arg7 == 0 ? 0 : arg7 == 1 ? EOPNOTSUPP : arg7 == 2 ? ETIMEDOUT : arg7 == 3 ? ENOSPC : arg7 == 4 ? ENOLINK : arg7 == 5 ? EREMOTEIO :
    arg7 == 6 ? EBADE : arg7 == 7 ? ENODATA : arg7 == 8 ? EILSEQ : arg7 == 9 ? ENOMEM : arg7 == 12 ? EAGAIN : EIO;

/* REQ_OP_READ and REQ_OP_WRITE are 0 and 1; of the flags REQ_SYNC, REQ_FUA and REQ_PREFLUSH say that a thread waits. */
inline int dvm_request_flags = (probename == "done" ? B_DONE : 0) | (dvm_request_error != 0 ? B_ERROR : 0) |
    ((arg3 & 0xff) == 0 ? B_READ : ((arg3 & 0xff) == 1 ? B_WRITE : 0) | ((arg3 & 0x60800) == 0 ? B_ASYNC : 0));

translator bufinfo_t < struct dvm_request *R > {
	b_flags = dvm_request_flags;
	b_bcount = (size_t)arg4;
	b_addr = NULL;
	b_blkno = (uint64_t)arg5;
	b_lblkno = (uint64_t)arg5;
	b_resid = (size_t)(arg4 - arg6);
	b_bufsize = (size_t)arg4;
	b_iodone = NULL;
	b_error = dvm_request_error;
	b_edev = (dev_t)((arg8 << 20) | arg9);
};

translator devinfo_t < struct dvm_disk *D > {
	dev_major = (int)arg8;
	dev_minor = (int)arg9;
	dev_instance = -1;
	dev_name = "<unknown>";
	dev_statname = stringof((char *)D);
	dev_pathname = strjoin("/dev/", stringof((char *)D));
};

translator fileinfo_t < struct dvm_request_file *F > {
	fi_name = "<unknown>";
	fi_dirname = "<unknown>";
	fi_pathname = "<unknown>";
	fi_offset = 0;
	fi_fs = "<unknown>";
	fi_mount = "<unknown>";
	fi_oflags = 0;
};

provider io {
	probe start(struct dvm_request *r, struct dvm_disk *d, struct dvm_request_file *f) : (bufinfo_t *r, devinfo_t *d, fileinfo_t *f);
	probe done(struct dvm_request *r, struct dvm_disk *d, struct dvm_request_file *f) : (bufinfo_t *r, devinfo_t *d, fileinfo_t *f);
	probe wait__start(struct dvm_request *r, struct dvm_disk *d, struct dvm_request_file *f) : (bufinfo_t *r, devinfo_t *d, fileinfo_t *f);
	probe wait__done(struct dvm_request *r, struct dvm_disk *d, struct dvm_request_file *f) : (bufinfo_t *r, devinfo_t *d, fileinfo_t *f);
};
