/* An alloca() of more than option scratchsize is refused before anything runs. */
#pragma D option scratchsize=48
BEGIN { this->p = alloca(49); exit(0); }
