/* Declarations with types of the traced program, a class and a typedef, that the script does not declare.
 * run: -c '{programs}/classes'
 * needs: uprobes
 */
#pragma D option quiet

Cat *cat;
Cat *cats[int];
self const Cat *mine;
this Cat *here;
inline Cat *NONE = (Cat *)NULL;
typedef Cat tom_t;
struct pair { Cat *left, *right; Cat whole; int last; };
struct legs { int number; };
translator struct legs < Cat *C > { number = C->legs_; };

pid$target:classes:zoo??Cat??feed:entry
{
	this->here = (tom_t *)arg0;
	cat = cats[1] = self->mine = this->here;
	printf("%d %d ", this->here->legs_, xlate <struct legs> (this->here).number);
	printf("%d %d\n", cat == self->mine, cats[1] == NONE);
	printf("%d %d %d\n", sizeof (Cat), sizeof (Cat *), offsetof(struct pair, last) - sizeof (Cat));
}
