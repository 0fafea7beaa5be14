int x;
string x;
