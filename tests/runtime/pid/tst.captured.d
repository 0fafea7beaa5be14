/* Memory as it was at the firing, though the process overwrites it at once and ends: sizes that are arguments or words in memory,
 * addresses that lie behind one and two pointers, directly or in clause-local variables.
 * run: -c '{programs}/buffers'
 * needs: uprobes
 */
#pragma D option quiet

struct piece { uintptr_t base; size_t length; };
struct person { long age; uintptr_t name; uintptr_t next; };

pid$target:buffers:main:entry
{
	printf("%s of %d\n", basename(copyinstr(*(uintptr_t *)copyin(arg1, 8))), arg0);
}

pid$target:buffers:put:entry
/arg2 < 10/
{
	printf("put [%s]\n", stringof(copyin(arg1, arg2)));
	printf("put [%s] as a string\n", copyinstr(arg1, arg2));
}

pid$target:buffers:put:entry
/arg2 >= 10/
{
	this->text = stringof(copyin(arg1, arg2 < 1000 ? arg2 : 1000));
	printf("put %d characters, at the start [%s]\n", strlen(this->text), substr(this->text, 0, 6));
}

pid$target:buffers:put_piece:entry
{
	this->piece = (struct piece *)copyin(arg0, sizeof (struct piece));
	printf("piece [%s]\n", stringof(copyin(this->piece->base, this->piece->length)));
}

pid$target:buffers:greet:entry
{
	this->first = *(uintptr_t *)copyin(arg0, 8);
	this->person = (struct person *)copyin(this->first, sizeof (struct person));
	printf("%s, %d, then %d\n", copyinstr(this->person->name), this->person->age, *(long *)copyin(this->person->next, 8));
}
