struct in { int len; };
struct out { int size; };
provider disk { probe one(struct in *b) : (struct out *b); };
