#pragma once
// The ledger: the counts of a run, priced by a profile. This is equation (4) with the counts of a whole run instead of those of
// one firing, and the steps of the consumer. Rows of an ECB have the prices of the engine that ran it. Under option engine=auto,
// both engines' prices are used, in proportion to their firings. price_account() lists the parts.

#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/cost/prices.h"

namespace dvm::runtime {

struct Replayed {
  uint64_t events = 0, bytes = 0;  // of the recording
  uint64_t pieces = 0;             // of captured memory in its events
  bool is_quiet = true;            // records print only the text of the script
};

struct LedgerPart {
  std::string name;
  vm::Cost cost;
};

struct Ledger {
  std::vector<LedgerPart> parts;
  double native_share = 0;        // fraction of the ECBs' runs by machine code, with its prices
  std::set<std::string> missing;  // rows without a price, which cost nothing here
  vm::Cost total() const;
};

Ledger price_account(const Account& account, const Replayed& replayed, const vm::Profile& profile);

}  // namespace dvm::runtime
