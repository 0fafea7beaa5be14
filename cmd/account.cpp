// Prints the ledger as a table or as JSON. Covered by tests/runtime/account.

#include "cmd/account.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "cmd/account_threads.h"
#include "cmd/profiles.h"
#include "common/printable.h"
#include "runtime/catalog/probe.h"

namespace dvm::cmd {
namespace {

struct Tallied {
  std::string_view kind;
  std::string name;
  vm::Tally tally;

  double each() const { return tally.timed == 0 ? 0 : static_cast<double>(tally.ticks) / static_cast<double>(tally.timed); }
  double cycles() const { return each() * static_cast<double>(tally.count); }
};

void add_row(std::vector<Tallied>& rows, std::string_view kind, std::string_view name, const vm::Tally& tally) {
  if (tally.count != 0) rows.push_back({kind, std::string(name), tally});
}

std::vector<Tallied> rows_of(const runtime::EcbAccount& ecb) {
  std::vector<Tallied> rows;
  for (const dif::OpcodeInfo& op : dif::kOpcodes)
    add_row(rows, "opcode", op.mnemonic, ecb.counts.opcodes[static_cast<size_t>(op.opcode)]);
  for (size_t i = 0; i < dif::kBuiltIns.size(); i++) add_row(rows, "variable", dif::kBuiltIns[i].name, ecb.counts.variables[i]);
  for (const dif::SubroutineInfo& subr : dif::kSubroutines)
    add_row(rows, "subroutine", subr.name, ecb.counts.subroutines[static_cast<size_t>(subr.id)]);
  for (const auto& [name, tally] : ecb.actions) add_row(rows, "action", name, tally);
  return rows;
}

std::vector<Tallied> rows_of(const runtime::Account& account) {
  std::vector<Tallied> rows;
  for (const auto& [name, tally] : account.stages) add_row(rows, "stage", name, tally);
  for (const auto& [name, tally] : account.consumer) add_row(rows, "consumer", name, tally);
  return rows;
}

double sum_cycles(const std::vector<Tallied>& rows) {
  double sum = 0;
  for (const Tallied& row : rows) sum += row.cycles();
  return sum;
}

std::string name_of(const runtime::Probe& probe) {
  return fmt::format("{}:{}:{}:{}", probe.provider, probe.module, probe.function, probe.name);
}

// The clause of a text from the command line has no file that could be named.
std::string clause_name(const dif::SourcePosition& position) {
  bool is_text = position.file.find_first_of(" {\n") != std::string::npos;
  return fmt::format("{}:{}", is_text ? "-n" : position.file, position.line);
}

// Names the firings of a clause before it became machine code.
std::string after(uint64_t interpreted) {
  return interpreted == 0 ? std::string() : fmt::format(" after {} firings on interp", interpreted);
}

void print_rows(std::FILE* out, const std::vector<Tallied>& rows) {
  double total = sum_cycles(rows);
  fmt::print(out, "    {:<11}{:<22}{:>14}{:>12}{:>10}{:>18}{:>7}\n", "KIND", "NAME", "COUNT", "TIMED", "CYC/EACH", "CYCLES", "%");
  for (const Tallied& row : rows) {
    fmt::print(out, "    {:<11}{:<22}{:>14}{:>12}", row.kind, row.name, row.tally.count, row.tally.timed);
    if (row.tally.timed == 0)
      fmt::print(out, "{:>10}{:>18}{:>7}\n", "-", "-", "-");
    else
      fmt::print(out, "{:>10.1f}{:>18.0f}{:>7.1f}\n", row.each(), row.cycles(), total > 0 ? 100 * row.cycles() / total : 0);
  }
}

void print_table(std::FILE* out, const runtime::Account& account) {
  fmt::print(out, "\nACCOUNT  {} firings, {} late reads; cycles are TSC cycles at {:.3f} GHz, extrapolated from the timed ones\n",
             account.events, account.late_reads, account.ticks_per_second / 1e9);
  for (const runtime::EcbAccount& ecb : account.ecbs) {
    fmt::print(out, "\n  epid {} {} ({})\n", ecb.epid, printable(name_of(*ecb.probe)), clause_name(ecb.clause));
    fmt::print(out, "    firings {}  predicate hits {}  faults {}  engine {}{}\n", ecb.firings, ecb.predicate_hits, ecb.faults,
               ecb.engine, after(ecb.interpreted));
    if (ecb.engine == "llvm") fmt::print(out, "    opcodes, variables and subroutines are timed on interp, actions one by one\n");
    if (std::vector<Tallied> rows = rows_of(ecb); !rows.empty()) print_rows(out, rows);
  }
  fmt::print(out, "\n  stages, whole run\n");
  print_rows(out, rows_of(account));
}

nlohmann::ordered_json json_of(const std::vector<Tallied>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Tallied& row : rows) {
    nlohmann::ordered_json entry = {{"kind", row.kind},
                                    {"name", row.name},
                                    {"count", row.tally.count},
                                    {"timed", row.tally.timed},
                                    {"bytes", row.tally.units}};
    entry["cycles_each"] = row.tally.timed == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(row.each());
    entry["cycles"] = row.tally.timed == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(row.cycles());
    list.push_back(std::move(entry));
  }
  return list;
}

void print_json(std::FILE* out, const runtime::Account& account, const ThreadAccount& threads) {
  nlohmann::ordered_json root = {
      {"firings", account.events}, {"late_reads", account.late_reads}, {"ticks_per_second", account.ticks_per_second}};
  root["ecbs"] = nlohmann::ordered_json::array();
  for (const runtime::EcbAccount& ecb : account.ecbs) {
    nlohmann::ordered_json entry = {
        {"epid", ecb.epid},        {"probe", name_of(*ecb.probe)}, {"file", ecb.clause.file},
        {"line", ecb.clause.line}, {"firings", ecb.firings},       {"predicate_hits", ecb.predicate_hits},
        {"faults", ecb.faults},    {"engine", ecb.engine},         {"interpreted", ecb.interpreted}};
    entry["rows"] = json_of(rows_of(ecb));
    root["ecbs"].push_back(std::move(entry));
  }
  root["stages"] = json_of(rows_of(account));
  if (!threads.parts.empty()) root["threads"] = json_of(threads);
  fmt::print(out, "{}\n", root.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

constexpr double kWhollyQuiet = 95;  // per cent of the polls

void print_difference(std::FILE* out, std::string_view name, double accounted, double measured, std::string_view remark) {
  fmt::print(out, "  {:<14}{:>+18.0f}{:>+8.1f}  {}\n", name, accounted - measured, percent(accounted - measured, measured),
             remark);
}

void print_engine(std::FILE* out, double native_share, const vm::Profile& profile) {
  if (native_share == 0) return fmt::print(out, "  engine interp\n\n");
  const bool has_prices = prices_engine(profile, runtime::EngineId::llvm);
  fmt::print(out, "  engine llvm: {:.4g} % of the runs of clauses were machine code{}\n\n", 100 * native_share,
             has_prices ? "" : "; priced as those of the interpreter, since this profile has no prices of engine llvm");
}

}  // namespace

void print_ledger(std::FILE* out, const runtime::Account& account, const LedgerContext& context) {
  const vm::Profile& profile = context.profile;
  const runtime::Ledger ledger = runtime::price_account(account, context.replayed, profile);
  const vm::Cost total = ledger.total();
  const auto clocks = [&](double ns) { return ns * profile.clock_hz / 1e9 * context.polls.speed(); };
  const double reading = clocks(static_cast<double>(account.reading_ns)),
               writing = clocks(static_cast<double>(account.writing_ns));
  const double measured = clocks(context.measured_ns) - reading - writing;
  fmt::print(out, "\nLEDGER  {} firings of {} recorded events, by profile {} ({}), {:.3f} GHz\n", account.events,
             context.replayed.events, profile.name, profile.machine, profile.clock_hz / 1e9);
  print_engine(out, ledger.native_share, profile);
  fmt::print(out, "  {:<14}{:>18}{:>8}{:>18}\n", "PART", "CLOCKS", "%", "UNCERTAINTY");
  for (const runtime::LedgerPart& part : ledger.parts)
    fmt::print(out, "  {:<14}{:>18.0f}{:>8.1f}{:>18.0f}\n", part.name, part.cost.clocks, percent(part.cost.clocks, total.clocks),
               part.cost.spread);
  fmt::print(out, "  {:<14}{:>18.0f}{:>8.1f}{:>18.0f}\n", "accounted", total.clocks, 100.0, total.spread);
  fmt::print(out, "  {:<14}{:>18.0f}{:>8}  excluding reading the recording ({:.0f}) and writing the output ({:.0f})\n",
             "measured", measured, "", reading, writing);
  if (profile.core_speed > 0)
    fmt::print(out, "  {:<14}{:>18.3f}{:>8}  relative to the profile; the measured time is scaled by it\n", "core speed",
               context.polls.speed(), "");
  print_difference(out, "difference", total.clocks, measured, "of the measured clocks");
  const double quiet = 100 * context.polls.quiet_share(), taken = context.polls.taken_ns();
  if (quiet < kWhollyQuiet && taken > 0)
    print_difference(out, "quiet core", total.clocks, measured * context.polls.ns() / taken,
                     fmt::format("the core was undisturbed for {:.0f} % of the time; with the disturbance subtracted", quiet));
  if (!ledger.missing.empty())
    fmt::print(out, "\n  not priced by this profile, counted as 0:\n    {}\n", fmt::join(ledger.missing, ", "));
  std::fflush(out);
}

void print_account(std::FILE* out, runtime::Handle& handle, std::span<const dif::Program* const> programs, AccountForm form) {
  const runtime::Account account = handle.account();
  const ThreadAccount threads = account_threads(handle, programs, account);
  if (form == AccountForm::json)
    print_json(out, account, threads);
  else
    print_table(out, account), print_threads(out, threads);
  std::fflush(out);
}

}  // namespace dvm::cmd
