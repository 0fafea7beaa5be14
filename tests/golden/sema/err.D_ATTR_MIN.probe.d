#pragma D option amin=Evolving/Evolving/Common
dtrace:::BEGIN { }
pid1:a.out:main:entry { }
#pragma D option amin=Evolving/Evolving/ISA
pid1:::entry { }
