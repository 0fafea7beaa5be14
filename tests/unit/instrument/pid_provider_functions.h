#pragma once

// Functions that the test of the pid provider finds in its own program.
extern "C" {
int ppt_function(int x);
int ppt_other(int x);
int ppt_function_alias(int x) noexcept;
int ppt_indirect(int x);  // its resolver chooses ppt_other
}

int ppt_mangled(int x, long);
