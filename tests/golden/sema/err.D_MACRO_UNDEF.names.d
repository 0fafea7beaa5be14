BEGIN { trace($pidd); trace($target1); }
#pragma D option strsize=$9
pid$nosuch:::entry { }
BEGIN { trace($$8); trace($$nosuch); }
