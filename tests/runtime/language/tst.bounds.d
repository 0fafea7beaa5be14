/* An index that is in no element ends the clause; the others are found.
 * run: -q
 */
int row[6];
struct part { int before; short of[3]; int behind; } part;
this char letters[4];
string word;

BEGIN { i = 5; row[i] = 7; printf("%d\n", row[i]); part.of[i - 3] = 2; printf("%d %d\n", part.of[2], part.behind); }
BEGIN { i = 6; printf("%d\n", row[i]); }
BEGIN { i = -1; row[i] = 1; }
BEGIN { i = 3; part.of[i] = 1; }
BEGIN { i = 3; part.of[i]++; }
BEGIN { i = 4; this->letters[i] = 'x'; }
BEGIN { word = "hello"; i = 4; word[i] = 'y'; printf("%s\n", word); i = 256; word[i] = 'z'; }
BEGIN { printf("%d %s\n", part.behind, word); exit(0); }
ERROR { printf("fault %d: %d\n", arg4, arg5); }
