uint32_t* a; uint32_t b;
#pragma D option pspec
int c; self int d; struct s { uint32_t e; }; typedef struct s t;
BEGIN { a = NULL; b = c; self->d = sizeof (t); }
