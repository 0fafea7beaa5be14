#pragma once
// The clauses of clause_bench.cpp as one would write them by hand for one program: no checks, no drops, one thread.

#include <cstdint>

#include "dvm/vm/host.h"

namespace dvm::bench {

struct StateInC {
  static constexpr unsigned kSlots = 1024, kRecords = 1 << 14;
  struct Key {
    char text[64];
    uint64_t count;
  };
  struct Record {
    uint64_t header[2];
    uint64_t values[5];
  };

  uint64_t count = 0;
  uint64_t buckets[127] = {};
  uint64_t thread_start = 1;
  Key keys[kSlots] = {};
  Record records[kRecords] = {};
  unsigned used = 0;
};

using ClauseInC = void (*)(StateInC&, const vm::Firing&);

void count(StateInC& state, const vm::Firing& firing);
void predicate(StateInC& state, const vm::Firing& firing);
void quantize(StateInC& state, const vm::Firing& firing);
void string(StateInC& state, const vm::Firing& firing);
void latency(StateInC& state, const vm::Firing& firing);
void printf(StateInC& state, const vm::Firing& firing);

inline constexpr struct {
  const char* name;
  ClauseInC function;
} kClausesInC[] = {{"count", count},   {"predicate", predicate}, {"quantize", quantize},
                   {"string", string}, {"latency", latency},     {"printf", printf}};

}  // namespace dvm::bench
