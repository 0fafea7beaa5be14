#pragma once
// System calls, and helpers that all code in a traced thread uses. Part of fire.cpp.

#include <cstdint>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

// Marks functions that are rarely called by the functions of fire.cpp that preserve all registers.
#ifndef DVM_RARELY
#define DVM_RARELY
#endif

inline constexpr long kPrctl = 157;
inline constexpr uint64_t kPage = 4096;

// Marks functions with assembly labels, which may exist only once. Clang makes no copies of functions.
#ifdef __clang__
#define DVM_ONCE DVM_RARELY
#else
#define DVM_ONCE [[gnu::noclone]] DVM_RARELY
#endif

[[gnu::always_inline]] inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

[[gnu::always_inline]] inline uint64_t load(const uint64_t& from) { return __atomic_load_n(&from, __ATOMIC_RELAXED); }
[[gnu::always_inline]] inline uint16_t load(const uint16_t& from) { return __atomic_load_n(&from, __ATOMIC_RELAXED); }

[[gnu::always_inline]] inline ArmedPage& armed_page(const Context& context) {
  return *reinterpret_cast<ArmedPage*>(context.armed);
}

[[gnu::always_inline]] inline bool is_muted(const Context& context) { return load(armed_page(context).muted) != 0; }

[[gnu::noinline]] inline void wait_a_little() {
  const uint64_t time[2] = {0, 1'000'000};  // a millisecond
  constexpr long kPpoll = 271;
  call(kPpoll, 0, 0, reinterpret_cast<long>(time), 0, 8);
}

[[gnu::always_inline]] inline uint64_t thread_pointer() {
  uint64_t thread;
  asm volatile("rdfsbase %0" : "=r"(thread));
  return thread;
}

}  // namespace dvm::runtime::inside
