/*
 * ASSERTION: a key that fits its buffer but has no room for its value there is refused before anything is traced.
 * SECTION: Aggregations/Aggregation Drops
 */
#pragma D option aggsize=8

BEGIN { @[1] = count(); exit(0); }
