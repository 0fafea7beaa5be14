// Covered by tests/unit/runtime/cost_model_test.cpp and speculated_test.cpp.

#include "runtime/cost/assumptions.h"

#include <fmt/format.h>

#include <cctype>
#include <limits>

#include "dvm/dif/subroutine.h"
#include "runtime/instrument/capture.h"

namespace dvm::runtime {

const MeasuredClause* PredictOptions::measured_of(const dif::EcbDesc& clause) const {
  const auto found = measured.find(position_of(clause.position));
  return found == measured.end() ? nullptr : &found->second;
}

void take_options(PredictOptions& how, const dif::Options& run) {
  how.sizes.most = static_cast<double>(run[dif::Option::strsize]) + 1;
  how.ring = static_cast<double>(run[dif::Option::ringsize]);
  if (const auto period = static_cast<double>(run[dif::Option::switchrate]); period > 0) how.wake_ups = 1e9 / period;
  if (const int64_t bytes = run[dif::Option::ustackunwind]; bytes >= 0) how.stack_bytes = static_cast<uint32_t>(bytes);
  how.is_quiet = run[dif::Option::quiet] > 0;
}

std::vector<const dif::EcbDesc*> clauses_of(std::span<const dif::Program* const> programs) {
  std::vector<const dif::EcbDesc*> clauses;
  for (const dif::Program* program : programs)
    for (const dif::EcbDesc& clause : program->clauses) clauses.push_back(&clause);
  return clauses;
}

std::vector<const dif::ProbeDesc*> descriptions_of(std::span<const dif::Program* const> programs) {
  std::vector<const dif::ProbeDesc*> descriptions;
  for (const dif::EcbDesc* clause : clauses_of(programs))
    for (const dif::ProbeDesc& description : clause->probes) descriptions.push_back(&description);
  return descriptions;
}

std::string text_of(const dif::ProbeDesc& description) {
  return fmt::format("{}:{}:{}:{}", description.provider, description.module, description.function, description.name);
}

double rate_of(const dif::EcbDesc& clause, const PredictOptions& options) {
  double rate = 0;
  for (const dif::ProbeDesc& description : clause.probes)
    if (const auto found = options.rates.find(text_of(description)); found != options.rates.end()) rate += found->second;
  return rate;
}

double probability_of(const dif::EcbDesc& clause, const PredictOptions& options) {
  if (!clause.predicate) return 1;
  const MeasuredClause* measured = options.measured_of(clause);
  return measured ? measured->probability() : options.probability;
}

double faults_of(const dif::EcbDesc& clause, const PredictOptions& options) {
  if (const MeasuredClause* one = options.measured_of(clause)) return one->hits > 0 ? std::min(one->faults / one->hits, 1.0) : 0;
  return needs_of(clause, 1).memory.empty() ? 0 : options.faults;
}

bool is_own_probe(const dif::ProbeDesc& description) {
  return description.provider == "dtrace" || description.name == "BEGIN" || description.name == "END" ||
         description.name == "ERROR";
}

std::string source_of(const dif::ProbeDesc& description) {
  std::string name = description.provider;
  if (const size_t target = name.find('$'); target != std::string::npos) name.resize(target);
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.pop_back();
  static const std::map<std::string_view, const char*> same = {
      {"pid", "pid"}, {"proc", "sched"}, {"rawtp", "sdt"}, {"lx-syscall", "syscall"}};
  if (name.empty() || name == "profile") {
    if (description.name.starts_with("tick-")) return "tick";
    if (description.name.starts_with("profile-")) return "profile";
  }
  if (const auto found = same.find(name); found != same.end()) return found->second;
  return name != description.provider ? "usdt" : name;
}

namespace {

bool is_end(dif::Action kind) { return kind == dif::Action::commit || kind == dif::Action::discard; }

bool calls_speculation(const dif::Difo& difo) {
  return std::ranges::any_of(difo.text, [](const dif::Instruction in) {
    return has_format(in, dif::Format::call) && in.index() == static_cast<unsigned>(dif::Subroutine::speculation);
  });
}

bool begins(const dif::EcbDesc& clause) {
  return std::ranges::any_of(clause.actions, [](const dif::ActDesc& action) {
    return std::ranges::any_of(action.args, calls_speculation, &dif::RecDesc::difo);
  });
}

bool ends(const dif::EcbDesc& clause) { return std::ranges::any_of(clause.actions, is_end, &dif::ActDesc::kind); }

bool knows_rates(const std::vector<const dif::EcbDesc*>& clauses, const PredictOptions& options) {
  for (const dif::EcbDesc* clause : clauses)
    for (const dif::ProbeDesc& description : clause->probes)
      if ((begins(*clause) || ends(*clause)) && !is_own_probe(description) && !options.rates.contains(text_of(description)))
        return false;
  return true;
}

}  // namespace

bool speculates(const dif::EcbDesc& clause) {
  return std::ranges::find(clause.actions, dif::Action::speculate, &dif::ActDesc::kind) != clause.actions.end();
}

double committed_share(std::span<const dif::Program* const> programs, const PredictOptions& options) {
  const std::vector<const dif::EcbDesc*> clauses = clauses_of(programs);
  const bool knows = knows_rates(clauses, options);
  // Runs a second or, without rates, of each other. Those of BEGIN and END are none a second.
  const auto weight_of = [&](const dif::EcbDesc& clause) {
    double rate = 0;
    for (const dif::ProbeDesc& description : clause.probes)
      if (!is_own_probe(description)) rate += knows ? options.rates.at(text_of(description)) : 1;
    return rate * probability_of(clause, options);
  };
  double begun = 0, ended = 0, committed = 0;
  bool commits = false;
  for (const dif::EcbDesc* clause : clauses)
    if (begins(*clause)) begun += weight_of(*clause);
  double left = begun > 0 ? begun : std::numeric_limits<double>::infinity();
  for (const dif::EcbDesc* clause : clauses)
    for (const dif::ActDesc& action : clause->actions) {
      const double taken = is_end(action.kind) ? std::min(weight_of(*clause), left) : 0;
      left -= taken, ended += taken;
      if (action.kind == dif::Action::commit) committed += taken, commits = true;
    }
  const double all = begun > 0 ? begun : ended;
  return all > 0 ? committed / all : commits ? 1 : 0;  // 1: END alone commits, and all is printed then
}

double committed_share(const dif::EcbDesc& clause, double of_all) {
  const auto speculate = std::ranges::find(clause.actions, dif::Action::speculate, &dif::ActDesc::kind);
  return std::ranges::any_of(speculate, clause.actions.end(), is_end, &dif::ActDesc::kind) ? 0 : of_all;
}

}  // namespace dvm::runtime
