// Covered by tests/runtime/scenarios/test_agent_account.py.

#include "cmd/account_threads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "cmd/profiles.h"
#include "common/printable.h"
#include "runtime/catalog/probe.h"

namespace dvm::cmd {
namespace {

double cycles_of(const runtime::ThreadStage& stage) { return stage.each.clocks * static_cast<double>(stage.count); }

std::string name_of(const runtime::Probe& probe) {
  return fmt::format("{}:{}:{}:{}", probe.provider, probe.module, probe.function, probe.name);
}

void print_stages(std::FILE* out, std::string_view title, std::span<const runtime::ThreadStage> stages) {
  fmt::print(out, "    {:<45}{:>14}{:>10}{:>18}\n", title, "COUNT", "CYC/EACH", "CYCLES");
  double sum = 0;
  for (const runtime::ThreadStage& stage : stages) {
    sum += cycles_of(stage);
    fmt::print(out, "    {:<45}{:>14}{:>10.1f}{:>18.0f}\n", stage.name, stage.count, stage.each.clocks, cycles_of(stage));
  }
  fmt::print(out, "    {:<45}{:>42.0f}\n", "sum", sum);
}

nlohmann::ordered_json json_of(std::span<const runtime::ThreadStage> stages) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const runtime::ThreadStage& stage : stages)
    list.push_back(
        {{"name", stage.name}, {"count", stage.count}, {"cycles_each", stage.each.clocks}, {"cycles", cycles_of(stage)}});
  return list;
}

}  // namespace

ThreadAccount account_threads(runtime::Handle& handle, std::span<const dif::Program* const> programs,
                              const runtime::Account& account) {
  const std::vector<runtime::AgentFirings> firings = runtime::find_agent_firings(handle, programs, account);
  ThreadAccount threads;
  if (firings.empty()) return threads;
  const Result<vm::Profile> profile = read_profile("");
  const bool has_prices = profile && has_folder(*profile, "agent");
  const vm::Profile none;
  const vm::Profile& prices = has_prices ? *profile : none;
  if (has_prices) threads.profile = prices.name, threads.clock_hz = prices.clock_hz;
  runtime::Prices agent(prices, {}, runtime::kInAgent), dvm(prices);
  for (const runtime::AgentFirings& one : firings) threads.parts.push_back(runtime::price_thread(one, agent, dvm));
  threads.missing = agent.missing();
  return threads;
}

void print_threads(std::FILE* out, const ThreadAccount& threads) {
  if (threads.parts.empty()) return;
  if (threads.profile.empty())
    return fmt::print(out, "\n  traced threads: not priced; 'dvm cost calibrate' measures the prices of this machine\n");
  fmt::print(out, "\n  traced threads, by the agent; prices of profile {} at {:.3f} GHz\n", threads.profile,
             threads.clock_hz / 1e9);
  for (const runtime::ThreadPart& part : threads.parts) {
    fmt::print(out, "\n  {}\n", printable(name_of(*part.probe)));
    print_stages(out, "STAGE", part.paid);
    if (!part.otherwise.empty()) print_stages(out, "WITHOUT --account, ALL IN THE THREAD", part.otherwise);
  }
  if (!threads.missing.empty()) fmt::print(out, "    without a price, counted as 0: {}\n", fmt::join(threads.missing, ", "));
}

nlohmann::ordered_json json_of(const ThreadAccount& threads) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const runtime::ThreadPart& part : threads.parts) {
    nlohmann::ordered_json entry = {
        {"probe", name_of(*part.probe)}, {"profile", threads.profile}, {"stages", json_of(part.paid)}};
    if (!part.otherwise.empty()) entry["without_account"] = json_of(part.otherwise);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace dvm::cmd
