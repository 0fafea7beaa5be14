provider disk { probe one(int); };
provider disk { probe one(char *); probe two(); };
