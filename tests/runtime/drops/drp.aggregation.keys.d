/*
 * ASSERTION: a key that finds no room in the aggregation buffer is an aggregation drop; those that have room count on.
 * SECTION: Aggregations/Aggregation Drops
 */
#pragma D option quiet
#pragma D option aggsize=128

BEGIN { @[1] = count(); @[2] = count(); @[3] = count(); @[4] = count(); @[5] = count(); @[1] = count(); exit(0); }
