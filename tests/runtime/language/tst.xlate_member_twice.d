/* Of two definitions of a member, the first makes the member and the last a copy of the structure. */
#pragma D option quiet
struct crate { int w; int h; };
translator struct crate < int N > { w = N + 2; h = 1; w = N + 5; };
BEGIN { this->c = xlate <struct crate> (3); printf("%d %d %d %d\n", xlate <struct crate *> (3)->w, xlate <struct crate> (3).w, this->c.w, this->c.h); exit(0); }
