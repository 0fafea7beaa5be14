/* A string variable to which 0 is assigned holds no string, and so does one of a thread, or an element, that was never stored: it
 * equals NULL, prints as an empty string, and is given on as NULL. An empty string is not NULL. */
#pragma D option quiet
string global, other;
string element[int];
self string mine;
self string my_element[int];
this string local;
BEGIN {
  printf("never stored: %d %d %d, [%s] [%s] [%s]\n", element[2] == NULL, self->mine == NULL, self->my_element[2] == NULL, element[2],
         self->mine, self->my_element[2]);
  global = element[1] = self->mine = self->my_element[1] = this->local = "x";
  printf("stored: %d %d %d %d %d\n", global == NULL, element[1] == NULL, self->mine == NULL, self->my_element[1] == NULL, this->local == NULL);
  global = 0; element[1] = 0; self->mine = 0; self->my_element[1] = 0; this->local = 0;
  printf("zero: %d %d %d %d %d\n", global == NULL, element[1] == NULL, self->mine == NULL, self->my_element[1] == NULL, this->local == NULL);
  printf("zero: %d %d %d %d %d\n", global != NULL, NULL != element[1], self->mine != NULL, NULL != self->my_element[1], this->local != NULL);
  printf("[%s] [%s] [%s] [%s] [%s]\n", global, element[1], self->mine, self->my_element[1], this->local);
  trace(self->mine); trace(global);
}
BEGIN { global = element[1] = self->mine = self->my_element[1] = this->local = ""; }
BEGIN { printf("empty: %d %d %d %d\n", global == NULL, element[1] == NULL, self->mine == NULL, self->my_element[1] == NULL); }
BEGIN { self->mine = 0; other = "x"; other = self->mine; element[3] = "x"; element[3] = other; }
BEGIN { printf("given on: %d %d [%s]\n", other == NULL, element[3] == NULL, 1 + pid > 0 ? other : "x"); }
BEGIN { @keys[self->mine, 1, other] = count(); @keys["", 1, ""] = count(); printa("[%s] %d [%s] %@d\n", @keys); }
BEGIN { named[self->mine] = 7; printf("key: %d %d, %d %d\n", named[""], named[other], self->mine == "", self->mine < "a"); }
BEGIN /self->mine != NULL/ { printf("not reached\n"); }
BEGIN { printf("%d\n", strlen(self->mine)); }
ERROR { printf("no string to be measured: %d\n", arg4); exit(0); }
