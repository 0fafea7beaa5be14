/* Types that lie in units of their own.
 * run: -c '{programs}/values_units'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:values_units:spell:entry
{
	printf("spell %c %d %d\n", args[0].last, args[1], sizeof (struct letters));
}

pid$target:values_units:take:entry
{
	printf("take %d %d\n", args[0]->small, args[0]->wide == HIGH);
}

pid$target:values_units:point_at:return
{
	printf("point at %d %d\n", args[1].x, args[1].y);
}
