/* Classes of C++: members of bases, references, scoped enumerations.
 * run: -c '{programs}/classes'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:classes:zoo??Cat??feed:entry
{
	printf("%s %d legs, diet %d, friend %s; keeper %s %d\n", stringof(args[0]->name), args[0]->legs_, args[0]->diet,
	    stringof(args[0]->friend_of->name), stringof(args[1]->name), args[1]->id);
	printf("born %d, oldest %d, fed %d, %d; ", classes`zoo::Animal::born, `zoo::oldest, a.out`zoo::fed, `_ZN3zoo6Animal4bornE);
	printf("with %d, meat %d, gladly %d, Cat %d\n", args[2], `meat, args[3], sizeof (struct Cat));
	printf("%d %d %d; ", sizeof (struct `zoo::Named), sizeof (struct classes`zoo::aquarium::Named), sizeof (struct Fish));
	printf("%d %d\n", ((struct `zoo::aquarium::Named *)&`zoo::aquarium::nemo)->tank, `zoo::aquarium::deep);
	print(args[0]->initials);
	printf("level %d\n", `zoo::aquarium::level);
	printf("%d %d\n", ((struct `zoo::aquarium::Pool<zoo::aquarium::Fish, 2> *)&`_ZN3zoo8aquarium4poolE)->guests[1].fins,
	    sizeof (struct `zoo::aquarium::Pool<zoo::aquarium::Fish, 2>::Gate));
}
