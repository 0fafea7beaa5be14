struct process { int id; struct procces *next; };
struct process *p; struct unknown *u;
BEGIN { p->next->id; u++; u + 1; *u; u[1]; sizeof (struct proces); }
struct proces q;
