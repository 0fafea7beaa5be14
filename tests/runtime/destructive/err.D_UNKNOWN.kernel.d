/* What acts on a kernel is known by name. */
BEGIN { breakpoint(); panic(); }
