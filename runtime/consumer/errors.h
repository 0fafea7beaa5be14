#pragma once
// Messages on standard error, in dtrace's words: faults of clauses, and drops by kind.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/buffer/drops.h"
#include "runtime/consumer/printer.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// "dt_clause_0 for probe ID 1 (dtrace:::BEGIN)"
std::string place_text(const Ecb& ecb);
// "divide-by-zero"
std::string_view fault_text(dif::Fault fault);
// "error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): divide-by-zero at DIF offset 12"
std::string error_text(const ErrorRecord& error, const Enabling& enabling);
// A hint if a clause used the directory, arg0 of a system call, as its path: "the path of openat is arg1". Else empty.
std::string error_hint(const ErrorRecord& error, const Enabling& enabling);

// The number of faults of one clause and kind that were not printed.
struct MoreErrors {
  unsigned clause;
  dif::Fault fault;
  uint64_t count;
};
// "79995 more errors in dt_clause_0: divide-by-zero"
std::string more_errors_text(const MoreErrors& more);

// Limits the printed faults to the first ones of each clause and kind, and counts the others. All probes of a clause share the
// limit.
class ErrorLimit {
 public:
  static constexpr uint64_t kPrinted = 5;

  // False: the limit for its clause and kind is reached.
  bool admits(const ErrorRecord& error, const Enabling& enabling);
  // The faults that were not admitted.
  std::vector<MoreErrors> more() const;

 private:
  std::map<std::pair<unsigned, dif::Fault>, uint64_t> seen_;
};

// A line for each kind and CPU with new drops.
std::vector<DropLine> drops_between(const Drops& before, const Drops& now);
// "12 drops on CPU 0"
std::string drop_text(const DropLine& drop, bool with_tag);
// "12 values were read after their firing ..."
std::string late_text(uint64_t values);
std::string unknown_files_text(uint64_t values);
// The totals over all CPUs, in one line: "in all 12 drops, 3 aggregation drops".
std::string drops_summary(const Drops& drops);

}  // namespace dvm::runtime
