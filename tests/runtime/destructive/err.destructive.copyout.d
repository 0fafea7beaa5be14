/* A subroutine is destructive too, also in a predicate's or an argument's expression.
 * run: -c '{programs}/victim 1'
 */
BEGIN { printf("%d", (copyoutstr("x", 0, 1), 1)); exit(0); }
