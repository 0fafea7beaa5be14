/* Aggregations of every kind over recorded values, with a predicate and a fault.
 * replay: threads.dvm
 */
#pragma D option quiet

pid$target:threads:work:entry
/arg0 % 2 == 0/
{
	@n = count(); @sum = sum(arg0); @min = min(arg0); @max = max(arg0); @avg = avg(arg0); @dev = stddev(arg0);
	@q = quantize(arg0);
}
pid$target:threads:work:entry /arg0 == 7/ { zero = 0; trace(arg0 / zero); }
ERROR { @faults[arg4] = count(); }
