#!/usr/sbin/dvm -s
#pragma D option quiet
BEGIN, dtrace:::END { }
pid$target:a.out:main:entry,
pid123::-:4a, tick-10ms
/pid == 5 / 2/
{ trace(1) }
syscall::*read*:entry /arg0 / 2 > 3/ { ; ; trace(1);; }
*:::[ab]?, :lib!c.so.6::return, pid1:libc.so.6:_Z3fooILi3EEvv:entry { }
pid$1:bash::entry, 5, p:std::a?new:4a, *operator?new* { }
