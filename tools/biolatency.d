#!/usr/bin/env -S dvm run -s
/*
 * biolatency: how long requests to disks take
 *
 *   -D           $1 = 0  A distribution for each disk
 *   -d SECONDS   $2 = 0  Stop after this time; 0: at Ctrl-C
 *
 * Times are in microseconds, from the issue of a request to its completion.
 *
 * Rows of @: disk distribution_us
 * Needs: io:::start io:::done
 */
#pragma D option quiet

io:::start
{
	issued[arg0] = timestamp;
}

io:::done
/issued[arg0] && args[0]->b_resid == 0/
{
	@[$1 != 0 ? args[1]->dev_statname : "all disks"] = quantize((timestamp - issued[arg0]) / 1000);
	issued[arg0] = 0;
}

tick-1s
/$2 > 0 && ++seconds >= $2/
{
	exit(0);
}

dtrace:::END
{
	printf("microseconds\n");
	printa("%s%@d\n", @);
}
