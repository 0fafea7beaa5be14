/*
 * ASSERTION: the use that speculations are for: record each call, and decide at its end which calls to print.
 * SECTION: Speculative Tracing/Speculation Example
 * replay: ../recorded/looper.dvm
 */
#pragma D option quiet
#pragma D option nspec=4

pid$target:looper:func:entry { self->s = speculation(); self->n = n++; }
pid$target:looper:func:entry /self->s/ { speculate(self->s); printf("call %d of \"%s\"", self->n, copyinstr(arg0)); }
pid$target:looper:func:return /self->s/ { speculate(self->s); printf(" gave %d\n", arg1); }
pid$target:looper:func:return /self->s && self->n % 20 == 0/ { commit(self->s); self->s = 0; }
pid$target:looper:func:return /self->s/ { discard(self->s); self->s = 0; }
