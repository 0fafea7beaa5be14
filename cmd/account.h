#pragma once
// The ledger for people and machines: what a run executed and what it cost, for each clause on each probe.

#include <cstdio>
#include <span>
#include <string>

#include "dvm/runtime/handle.h"
#include "lab/calibrate/quiet_polls.h"
#include "runtime/cost/runs/ledger.h"

namespace dvm::cmd {

enum class AccountForm { table, json };

// Cycles are TSC cycles. Each row's count is exact; its cycles are the count times the mean of the timed ones, and "timed" says
// how many those were. A row that was never timed has no cycles.
void print_account(std::FILE* out, runtime::Handle& handle, std::span<const dif::Program* const> programs, AccountForm form);

// The measured time of a replay, and the prices to account for it.
struct LedgerContext {
  const vm::Profile& profile;
  runtime::Replayed replayed;
  double measured_ns;  // CPU time, from probes on to the last line
  const lab::QuietPolls& polls;
};
// Accounted beside measured clocks, and the difference.
void print_ledger(std::FILE* out, const runtime::Account& account, const LedgerContext& context);

}  // namespace dvm::cmd
