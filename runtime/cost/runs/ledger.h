#pragma once
// The ledger: the counts of a run, priced by a profile. Equation (4) with the counts of a whole run instead of a firing's, and
// the consumer's steps. Rows of an ECB are priced by the engine that ran it; under option engine=auto by both, as its firings are
// divided.
//
//   part          counts                                                   rows
//   source        events, bytes, pieces of memory, firings                 source/replay, capture/recorded
//   preparation   machine states, ECBs                                     prepare
//   DIF           instructions, variables, subroutines, bytes              opcode, variable, subroutine
//   actions       aggregating functions and other actions                  aggregation, action
//   values kept   values in records and keys, bytes; keys merged a read    record, key
//   consumer      snapshots, copied bytes, records, steps                  consumer
//   counting      clauses, evaluations, steps                              account

#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/cost/prices.h"

namespace dvm::runtime {

struct Replayed {
  uint64_t events = 0, bytes = 0;  // of the recording
  uint64_t pieces = 0;             // of memory that its events have
  bool is_quiet = true;            // nothing is printed of a record but what the script prints
};

struct LedgerPart {
  std::string name;
  vm::Cost cost;
};

struct Ledger {
  std::vector<LedgerPart> parts;
  double native_share = 0;        // part of the ECBs' runs that was machine code, and is priced as such
  std::set<std::string> missing;  // rows without a price, which cost nothing here
  vm::Cost total() const;
};

Ledger price_account(const Account& account, const Replayed& replayed, const vm::Profile& profile);

}  // namespace dvm::runtime
