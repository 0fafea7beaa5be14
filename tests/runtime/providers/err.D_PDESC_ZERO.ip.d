/* DTrace's providers that dvm does not have are known, and what depends on their arguments is not told. */
ip:::send { @[args[2]->ip_saddr] = sum(args[2]->ip_plength); }
