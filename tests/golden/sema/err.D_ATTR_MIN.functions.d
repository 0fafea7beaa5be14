/* Functions are stable. */
dtrace:::BEGIN { x = rand(); }
#pragma D option amin=Standard/Standard/Common
