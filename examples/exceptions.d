#!/usr/bin/env -S dvm run -s
/*
 * Which exceptions does a C++ program throw?  dvm run examples/exceptions.d -p PID
 * The marker is libstdc++'s own; the second argument of throw is the std::type_info, which has the name of the type behind its vtable.
 */
#pragma D option quiet

libstdcxx$target:libstdc*::throw
{
	@types[copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8))] = count();
}
