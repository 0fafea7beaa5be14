self uint64_t hiwat;

replay:::firing /arg1 > self->hiwat/ { self->hiwat = arg1; printf("%s/%d: new high %d\n", execname, tid, arg1); }
