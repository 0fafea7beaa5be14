/* DTrace's providers that dvm does not have are known, and what depends on their arguments is not told. */
io:::start { @[args[0]->b_flags] = sum(args[0]->b_bcount); }
