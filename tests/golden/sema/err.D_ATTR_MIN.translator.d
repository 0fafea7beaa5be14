/* A translator is what a pragma says. */
#pragma D option amin=Evolving/Stable/Common
struct in { int len; };
struct out { int size; };
#pragma D attributes Unstable/Stable/Common translator
translator struct out < struct in *P > { size = P->len; };
dtrace:::BEGIN { x = rand(); trace(xlate <struct out *> ((struct in *)arg0)->size); }
