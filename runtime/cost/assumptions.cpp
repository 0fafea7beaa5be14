// Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/assumptions.h"

#include <fmt/format.h>

#include <cctype>

namespace dvm::runtime {

const MeasuredClause* PredictOptions::measured_of(const dif::EcbDesc& clause) const {
  const auto found = measured.find(position_of(clause.position));
  return found == measured.end() ? nullptr : &found->second;
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
  return measured ? measured->probability : options.probability;
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

}  // namespace dvm::runtime
