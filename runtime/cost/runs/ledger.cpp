// Covered by tests/unit/runtime/ledger_test.cpp and tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/runs/ledger.h"

#include <algorithm>
#include <map>

#include "dvm/vm/operands.h"
#include "runtime/buffer/record.h"
#include "runtime/cost/model.h"
#include "runtime/cost/table_uses.h"

namespace dvm::runtime {
namespace {

Row row_at(vm::DifRow::Table table, size_t at) { return row_of(vm::DifRow{table, static_cast<unsigned>(at)}); }

class LedgerPricing {
 public:
  explicit LedgerPricing(const vm::Profile& profile) : prices_(profile), native_prices_(profile, {}, native_execution(profile)) {}

  // The part of what is added from now on that ran as machine code, from 0 to 1.
  void run_natively(double share) { native_ = share; }

  // Adds so many uses, with all of their bytes together.
  void add(vm::Cost& to, Row row, uint64_t uses, uint64_t bytes = 0) {
    if (uses == 0) return;
    const auto count = static_cast<double>(uses);
    const double each = static_cast<double>(bytes) / count;
    if (native_ < 1) to += prices_.of(row, each).times(count * (1 - native_));
    if (native_ > 0) to += native_prices_.of(row, each).times(count * native_);
  }
  // A row that the interpreter does not have.
  void add_native(vm::Cost& to, Row row, uint64_t uses) {
    if (native_ > 0) to += native_prices_.of_optional(row).times(static_cast<double>(uses) * native_);
  }
  void add(vm::Cost& to, Row row, const vm::Tally& tally) { add(to, row, tally.count, tally.units); }

  // By the name that the account has for it.
  void add_named(vm::Cost& to, const std::string& name, const vm::Tally& tally) {
    if (const std::optional<Row> row = find_row(name)) return add(to, *row, tally);
    prices_.miss(name);
  }

  // Adds the extra cost of finding several keys instead of a single one.
  void add_among(vm::Cost& to, const TableRows& rows, double found, double keys) {
    if (keys <= 1) return;
    if (native_ < 1) to.clocks += table_use(prices_, rows, (1 - native_) * found).among(keys);
    if (native_ > 0) to.clocks += table_use(native_prices_, rows, native_ * found).among(keys);
  }

  // An instruction that another row prices costs nothing as an opcode.
  void add_dif(vm::Cost& to, const vm::Counts& counts) {
    using Table = vm::DifRow::Table;
    for (size_t i = 1; i < counts.opcodes.size(); i++) {
      const vm::Tally &all = counts.opcodes[i], &variant = counts.variants[i];
      add(to, row_at(Table::opcode, i), all.count - counts.elsewhere[i], all.units - variant.units);
      add(to, row_at(Table::variant, i), variant);
    }
    for (size_t i = 0; i < counts.variables.size(); i++) add(to, row_at(Table::variable, i), counts.variables[i]);
    for (size_t i = 0; i < counts.subroutines.size(); i++) add(to, row_at(Table::subroutine, i), counts.subroutines[i]);
    for (size_t i = 1; i < counts.strings.size(); i++) add(to, row_of(static_cast<vm::StringPlace>(i)), counts.strings[i]);
    add(to, "tuple/integer"_row, counts.key_values);
    add(to, "tuple/string"_row, counts.key_references);
  }
  std::set<std::string> missing() const {
    std::set<std::string> all = prices_.missing();
    all.insert(native_prices_.missing().begin(), native_prices_.missing().end());
    return all;
  }

 private:
  static Execution native_execution(const vm::Profile& profile) { return {EngineId::llvm, execution_of(profile).backend}; }

  Prices prices_, native_prices_;
  double native_ = 0;
};

// The part of the firings of these ECBs that ran as machine code. Their counts, which do not tell, are divided like the firings.
double native_share(std::span<const EcbAccount> ecbs) {
  double native = 0, all = 0;
  for (const EcbAccount& ecb : ecbs) {
    const auto firings = static_cast<double>(ecb.firings);
    all += firings;
    if (ecb.engine == engine_folder(EngineId::llvm)) native += firings - static_cast<double>(ecb.interpreted);
  }
  return all > 0 ? native / all : 0;
}
double native_share(const EcbAccount& ecb) { return native_share({&ecb, 1}); }

std::string action_name(const std::string& name) {
  const std::string aggregating = "aggregation/" + name;
  return find_row(aggregating) ? aggregating : "action/" + name;
}

vm::Tally tally_of(const std::vector<std::pair<std::string, vm::Tally>>& tallies, std::string_view name) {
  for (const auto& [one, tally] : tallies)
    if (one == name) return tally;
  return {};
}

// Of several keys each is waited for, more the more there are: as many as a table had when it was read, on the average.
void add_many_keys(LedgerPricing& pricing, vm::Cost& to, const Account& account) {
  const vm::Tally build = tally_of(account.consumer, "aggregation_build");
  if (build.units == 0) return;
  uint64_t found = 0;
  for (const EcbAccount& ecb : account.ecbs) found += ecb.keyed;
  pricing.add_among(to, kKeyRows, static_cast<double>(found),
                    static_cast<double>(build.units) / static_cast<double>(build.count));
}

// The same of variables with keys, as many as there are at the end. One that a firing has looked up is near when it stores to it.
void add_many_tuples(LedgerPricing& pricing, vm::Cost& to, const Account& account) {
  uint64_t stored = 0;
  for (const EcbAccount& ecb : account.ecbs)
    for (const dif::OpcodeInfo& row : dif::kOpcodes)
      if (row.format == dif::Format::stv && row.tuple == dif::TupleUse::key)
        stored += ecb.counts.opcodes[static_cast<size_t>(row.opcode)].count;
  pricing.add_among(to, kTupleRows, static_cast<double>(stored), static_cast<double>(account.live_dynamic));
}

// Firings in which one of these clauses ran its actions: of the clauses of a probe, those of the one that did so most often.
uint64_t firings_with(const Account& account, bool (*counts)(const EcbAccount&)) {
  std::map<uint32_t, uint64_t> of_probes;
  for (const EcbAccount& ecb : account.ecbs)
    if (counts(ecb)) of_probes[ecb.probe_id] = std::max(of_probes[ecb.probe_id], ecb.predicate_hits);
  uint64_t firings = 0;
  for (const auto& [probe, hits] : of_probes) firings += hits;
  return firings;
}

bool is_any(const EcbAccount&) { return true; }

// Clauses of all firings whose actions ran behind those of another one.
uint64_t further_bodies(const Account& account) {
  uint64_t bodies = 0;
  for (const EcbAccount& ecb : account.ecbs) bodies += ecb.predicate_hits;
  return bodies - firings_with(account, is_any);
}

// Clauses with DIF, of all firings, that came behind another one.
uint64_t further_clauses(const Account& account, uint64_t started) {
  uint64_t clauses = 0;
  for (const EcbAccount& ecb : account.ecbs)
    if (ecb.counts.opcodes[static_cast<size_t>(dif::Opcode::ret)].count > 0) clauses += ecb.firings;
  return clauses - std::min(clauses, started);
}

vm::Cost price_source(LedgerPricing& pricing, const Account& account, const Replayed& replayed) {
  vm::Cost cost;
  pricing.add(cost, "source/replay/trigger"_row, replayed.events, replayed.bytes);
  pricing.add(cost, "capture/recorded"_row, replayed.pieces);
  pricing.add(cost, "source/replay/handler"_row, account.events);
  return cost;
}

vm::Cost price_preparation(LedgerPricing& pricing, const Account& account) {
  vm::Cost cost;
  pricing.run_natively(0);
  pricing.add(cost, "prepare/machine"_row, account.events);  // the shorter way to machine code is one without an account
  pricing.run_natively(native_share(account.ecbs));
  const uint64_t started = tally_of(account.stages, "prepare").count;
  pricing.add(cost, "prepare/dif"_row, started);
  pricing.add(cost, "prepare/clause"_row, further_clauses(account, started));
  if (account.locals > 0) pricing.add(cost, "prepare/locals"_row, started, account.locals * started);
  for (const EcbAccount& ecb : account.ecbs) {
    pricing.run_natively(native_share(ecb));
    pricing.add(cost, "prepare/ecb"_row, ecb.firings);
  }
  pricing.run_natively(native_share(account.ecbs));
  pricing.add(cost, "prepare/actions"_row, firings_with(account, is_any));
  pricing.add_native(cost, "prepare/body"_row, further_bodies(account));
  pricing.add(cost, "key/once"_row, firings_with(account, [](const EcbAccount& ecb) { return ecb.keyed > 0; }));
  return cost;
}

vm::Cost price_counting(LedgerPricing& pricing, const Account& account) {
  vm::Cost cost;
  for (const EcbAccount& ecb : account.ecbs) {
    pricing.add(cost, "account/ecb"_row, ecb.firings);
    pricing.add(cost, "account/evaluation"_row, ecb.counts.opcodes[static_cast<size_t>(dif::Opcode::ret)].count);
  }
  for (const auto& [step, tally] : account.consumer) pricing.add(cost, "account/step"_row, tally.count);
  return cost;
}

void add_records(LedgerPricing& pricing, vm::Cost& cost, const EcbAccount& ecb, bool is_quiet) {
  const uint64_t head = ecb.records * sizeof(RecordHeader), numbers = ecb.recorded.integers * sizeof(uint64_t);
  pricing.add(cost, "consumer/copy"_row, ecb.records, head + numbers + ecb.recorded.bytes);
  pricing.add(cost, "consumer/record"_row, ecb.records, ecb.recorded.bytes);
  if (!is_quiet) pricing.add(cost, "consumer/heading"_row, ecb.records);
}

void add_values(LedgerPricing& pricing, vm::Cost& cost, const EcbAccount& ecb) {
  pricing.add(cost, "record/any"_row, ecb.records);
  pricing.add(cost, "record/integer"_row, ecb.recorded.integers);
  pricing.add(cost, "record/string"_row, ecb.recorded.strings, ecb.recorded.bytes);
  pricing.add(cost, "key/any"_row, ecb.keyed);
  pricing.add(cost, "key/integer"_row, ecb.keys.integers);
  pricing.add(cost, "key/string"_row, ecb.keys.strings, ecb.keys.bytes);
  for (size_t i = 0; i < ecb.found.size(); i++) pricing.add(cost, row_of(static_cast<vm::StringPlace>(i)), ecb.found[i]);
}

// Faults, and firings of ERROR, which are none of the account's. Its clauses are among those of the account.
vm::Cost price_errors(LedgerPricing& pricing, const Account& account) {
  vm::Cost cost;
  uint64_t fired = 0;
  for (const EcbAccount& ecb : account.ecbs) {
    pricing.run_natively(native_share(ecb));
    pricing.add(cost, "record/error"_row, ecb.faults);
    if (ecb.probe != nullptr && ecb.probe->provider == "dtrace" && ecb.probe->name == "ERROR")
      fired = std::max(fired, ecb.firings);
  }
  pricing.run_natively(0);
  pricing.add(cost, "prepare/machine"_row, fired);
  return cost;
}

vm::Cost price_consumer(LedgerPricing& pricing, const Account& account, bool is_quiet) {
  vm::Cost cost;
  const uint64_t switches = tally_of(account.stages, "snapshot_records").count;
  pricing.add(cost, "consumer/status_snapshot"_row, switches);
  pricing.add(cost, "consumer/buffer_snapshot"_row, switches);
  pricing.add(cost, "consumer/aggregation_snapshot"_row, tally_of(account.stages, "snapshot_aggregations").count);
  for (const EcbAccount& ecb : account.ecbs)
    if (ecb.records != 0) add_records(pricing, cost, ecb, is_quiet);
  for (const auto& [step, tally] : account.consumer) pricing.add_named(cost, "consumer/" + step, tally);
  return cost;
}

}  // namespace

vm::Cost Ledger::total() const {
  vm::Cost sum;
  for (const LedgerPart& part : parts) sum += part.cost;
  return sum;
}

Ledger price_account(const Account& account, const Replayed& replayed, const vm::Profile& profile) {
  LedgerPricing pricing(profile);
  vm::Cost dif, actions, kept;
  for (const EcbAccount& ecb : account.ecbs) {
    pricing.run_natively(native_share(ecb));
    pricing.add_dif(dif, ecb.counts);
    for (const auto& [name, tally] : ecb.actions) pricing.add_named(actions, action_name(name), {tally.count, 0, 0, 0});
    add_values(pricing, kept, ecb);
  }
  pricing.run_natively(native_share(account.ecbs));
  add_many_keys(pricing, kept, account);
  add_many_tuples(pricing, dif, account);
  const vm::Cost preparation = price_preparation(pricing, account);
  const vm::Cost errors = price_errors(pricing, account);
  pricing.run_natively(0);
  Ledger ledger;
  ledger.parts = {{"source", price_source(pricing, account, replayed)},
                  {"preparation", preparation},
                  {"DIF", dif},
                  {"actions", actions},
                  {"values kept", kept},
                  {"consumer", price_consumer(pricing, account, replayed.is_quiet)},
                  {"counting", price_counting(pricing, account)}};
  if (errors.clocks > 0) ledger.parts.insert(ledger.parts.begin() + 4, {"errors", errors});
  ledger.native_share = native_share(account.ecbs);
  ledger.missing = pricing.missing();
  return ledger;
}

}  // namespace dvm::runtime
