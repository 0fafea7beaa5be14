/* Without option scratchsize there are 64 KiB. */
BEGIN { this->p = alloca(65537); exit(0); }
