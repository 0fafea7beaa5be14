#pragma D option amin=Evolving/Evolving/Common
dtrace:::BEGIN { }
pid1:a.out:main:entry { }
