/* Arguments in vector registers: bits of argN, and numbers of a declared args[N].
 * run: -x backend=agent -c '{programs}/markers_O0 2'
 * program: markers_O0
 * backend: agent
 */
#pragma D option quiet

provider dvmtest { probe vectors(double, long, float); };

dvmtest$target:::vectors
{
	printf("%x %d %x %f %.1f\n", arg0, arg1, arg2, args[0], args[2]);
	@[args[0]] = sum(args[1]);
}
