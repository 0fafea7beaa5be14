provider disk { probe one(int a) : (int a, int b); };
