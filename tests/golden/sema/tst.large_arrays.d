/* No variable holds it, but it can be declared. */
extern int berths[240][310][150];
int cells[1000000];
BEGIN { cells[7] = sizeof (cells); }
