/* @repeat 64256 int a#; */
int last;
BEGIN { another = 1; }
