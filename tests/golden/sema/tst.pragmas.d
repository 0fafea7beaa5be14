#pragma ident "a text"
#ident "a text"
#pragma weak of another language
#pragma D option quiet
#pragma D option strsize=64
#pragma D depends_on provider such
inline int known = 1;
#pragma D attributes Evolving/Private/ISA known
#pragma D binding "1.5" known
#pragma D binding "1.0" translator
struct o { int a; };
translator struct o < int N > { a = N; };
#pragma D option version=1.6
BEGIN { trace(known); }
# 5 "file.d"
#pragma D option bufsize=4m
#pragma D attributes Stable/Stable/Common provider x name
