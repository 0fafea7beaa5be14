/* Option scratchsize limits what the alloca()s of a clause take together, in whole words. */
#pragma D option quiet
#pragma D option scratchsize=41
BEGIN { this->p = alloca(48); printf("%d\n", this->p != NULL); }
BEGIN { this->p = alloca(24); this->q = alloca(24); printf("both\n"); }
BEGIN { this->p = alloca(24); this->q = alloca(25); printf("not reached\n"); }
BEGIN { exit(0); }
ERROR { printf("fault %d\n", arg4); }
