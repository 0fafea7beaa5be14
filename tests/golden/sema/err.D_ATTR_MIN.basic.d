#pragma D option amin=Evolving/Stable/Common
#pragma D attributes Unstable/Stable/Common shaky
inline int shaky = 1;
inline int array[int n] = n;
#pragma D attributes Stable/Stable/ISA array
inline int firm = 2;
dtrace:::BEGIN { trace(firm); trace(shaky); trace(array[1]); trace(pid); }
