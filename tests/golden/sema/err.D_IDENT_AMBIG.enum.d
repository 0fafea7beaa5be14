/* @program: GREEN is an enumerator of the type that it is compared with, and a variable. */
int GREEN, RED[int];
pid1:a.out:visit:entry
/args[0]->color == GREEN/
{
}
