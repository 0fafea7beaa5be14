/* @program: an enumerator of the program is no constant of the script, but for what it is compared with. */
pid1:a.out:visit:entry
/!GREEN/
{
}
