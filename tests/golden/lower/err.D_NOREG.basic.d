/* No variable is left to keep a value in. */
/* @repeat 64256 this int v#; */
BEGIN { x = rand() + (rand() + (rand() + (rand() + (rand() + (rand() + (rand() + (rand() + rand()))))))); }
