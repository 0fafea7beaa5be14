// For tests that look at a stack. Under AddressSanitizer, local variables would otherwise lie in memory of its own.

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
