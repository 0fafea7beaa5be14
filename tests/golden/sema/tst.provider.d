/* Declared probes give args[ ] their types, translated where the declaration says so. */
struct in { int len; };
typedef struct out { int size; } out_t;
translator out_t < struct in *P > { size = P->len; };
#pragma D attributes Evolving/Evolving/ISA provider disk provider
provider disk {
	probe start(struct in *b, int unit, char *name) : (string name, out_t *b);
	probe io__done(short, unsigned char);
	probe idle();
};
provider disk { probe idle(void); };
disk42:::start { this->name = args[0]; this->size = args[1]->size; this->all = *args[1]; }
disk*:::io-done { this->s = args[0]; this->u = args[1]; }
