// In a file of their own, since their machine code must be optimised: that of the tests takes a minute to optimise.
#include "tests/unit/instrument/pid_provider_functions.h"

extern "C" {
__attribute__((noinline, used)) int ppt_function(int x) { return x + 41; }
__attribute__((noinline, used)) int ppt_other(int x) { return x + 43; }
int ppt_function_alias(int) noexcept __attribute__((alias("ppt_function"), noinline, used));
using Function = int (*)(int);
Function ppt_resolver() { return ppt_other; }
int ppt_indirect(int) __attribute__((ifunc("ppt_resolver")));
}

__attribute__((noinline, used)) int ppt_mangled(int x, long) { return x + 47; }
