/* Values that are smaller than their registers.
 * run: -c '{programs}/values'
 * needs: uprobes
 */
#pragma D option quiet

pid$target:values:answer:entry
{
	printf("answer %d %s\n", args[0], args[0] ? "yes" : "no");
}

pid$target:values:spell:entry
{
	printf("spell %c %d\n", args[0].last, args[1]);
}

pid$target:values:unpack:entry
{
	printf("unpack %d %d\n", args[0].value, args[1]);
}

pid$target:values:point_at:return
{
	printf("point at %d %d\n", args[1].x, args[1].y);
}

pid$target:values:on_stack:entry
{
	printf("on stack %d %d\n", args[6].x, args[6].y);
}

pid$target:values:take:entry
{
	print(*args[0]);
	print(args[0]->small);
}

pid$target:values:wave:entry
{
	printf("%d %d\n", args[1], sizeof (a.out`amplitude));
	print(a.out`amplitude);
}
