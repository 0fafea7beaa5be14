#pragma once
// A test that cannot run here says why. Where every test must run (continuous integration sets DVM_NO_SKIP=1), that is a failure.

#include <gtest/gtest.h>

#include <cstdlib>

#define DVM_SKIP(reason)                                                          \
  do {                                                                            \
    if (std::getenv("DVM_NO_SKIP") != nullptr) FAIL() << "skipped: " << (reason); \
    GTEST_SKIP() << (reason);                                                     \
  } while (false)
