struct in { int len; };
typedef struct out { int size; } out_t;
translator out_t < struct in *P > { size = P->len + P->len; };
provider disk { probe start(struct in *b, int unit, char *name) : (out_t *b, char *name, int unit, struct in *b); };
disk42:::start { trace(args[0]->size); trace(args[1]); trace(args[2]); trace(args[3]->len); }
