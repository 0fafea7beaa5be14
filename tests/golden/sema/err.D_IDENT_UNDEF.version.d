inline int old = 1;
inline int new = 2;
#pragma D binding "1.4" old
#pragma D binding "1.6" new
#pragma D option version=1.5
BEGIN { trace(old); trace(new); }
