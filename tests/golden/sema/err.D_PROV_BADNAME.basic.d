provider disk2 { probe one(int); };
