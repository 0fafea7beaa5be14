// The memory of a session: buffers, dynamic variables, machine states. Tested by tests/unit/runtime/handle_test.cpp.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "runtime/session/impl.h"

namespace dvm::runtime {
namespace {

// "128m", with the largest suffix that leaves no rest.
std::string size_text(size_t bytes) {
  unsigned steps = 0;
  for (; steps < 4 && bytes >= 1024 && bytes % 1024 == 0; steps++) bytes /= 1024;
  return steps == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{}{}", bytes, " kmgt"[steps]);
}

// Recordings may have other CPUs; theirs are made when they fire.
unsigned cpus_here() { return static_cast<unsigned>(std::clamp(sysconf(_SC_NPROCESSORS_CONF), 1L, long{CpuBuffers::kMostCpus})); }

void share_strings(const EcbCode& code, vm::VariableState& variables) {
  for (const auto* difos : {&code.difos, &code.timed})
    for (const auto& difo : *difos) variables.share_strings(difo->strings());
}

}  // namespace

size_t Handle::Impl::size_of(dif::Option option) const {
  return static_cast<size_t>(std::max<int64_t>(config.options[option], 0));
}

// Makes what an option gives the size of. Where there is no memory and option bufresize does not forbid it, half of the size must
// do, or half of that.
Status Handle::Impl::fit(dif::Option option, std::string_view what, const std::function<bool(size_t)>& make) {
  const size_t wanted = size_of(option);
  const bool is_manual = config.options[dif::Option::bufresize] == 1;
  size_t size = wanted;
  while (!make(size)) {
    if (is_manual || size < 16)
      return Error{fmt::format("Cannot allocate memory: {} is {}", dif::info(option).name, size_text(wanted))};
    size /= 2;
  }
  if (size == wanted) return {};
  consumer.notice(fmt::format("{} lowered to {}", what, size_text(size)));
  return config.options.set(dif::info(option).name, fmt::format("{}", size));
}

Status Handle::Impl::allocate_buffers() {
  BufferPlan plan;
  plan.policy = static_cast<BufferPolicy>(config.options[dif::Option::bufpolicy]);
  plan.set_apart = plan.policy == BufferPolicy::fill ? enabling.record_bytes("END") : 0;
  if (Status status = fit(dif::Option::bufsize, "buffer size",
                          [&](size_t size) {
                            plan.bytes = size;
                            return context.cpus.allocate(plan, cpus_here());
                          });
      !status)
    return status;
  if (plan.set_apart > plan.bytes) return Error{"END enablings exceed size of principal buffer"};
  if (enabling.largest_record() > plan.bytes) return Error{"Enabling exceeds size of buffer"};
  if (enabling.largest_key() > size_of(dif::Option::aggsize)) return Error{"Enabling exceeds size of buffer"};
  return fit(dif::Option::aggsize, "aggregation size", [this](size_t size) { return context.aggregations.allocate(size); });
}

// For ECBs that were made while the session runs.
Status Handle::Impl::make_room() {
  if (enabling.largest_record() > size_of(dif::Option::bufsize) || enabling.largest_key() > size_of(dif::Option::aggsize))
    return Error{"Enabling exceeds size of buffer"};
  for (FireLevel* each : {&*context.level, &*context.error_level})
    each->key.resize(std::max(each->key.size(), enabling.largest_key()));
  make_tallies();
  return {};
}

Status Handle::Impl::allocate_speculations() {
  const auto count = static_cast<uint32_t>(size_of(dif::Option::nspec));
  host.speculate_in(context.speculations);
  return fit(dif::Option::specsize, "speculation size",
             [&](size_t size) { return context.speculations.allocate(count, size, cpus_here()); });
}

Status Handle::Impl::allocate_state() {
  vm::StateLimits limits;
  limits.strsize = size_of(dif::Option::strsize);
  limits.scratch = std::max(limits.scratch, 16 * limits.strsize);
  const auto make_variables = [&](size_t size) {
    limits.dynvarsize = size;
    try {
      context.variables.emplace(enabling.variables(), limits);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  };
  if (Status status = fit(dif::Option::dynvarsize, "dynamic variable size", make_variables); !status) return status;
  for (const EcbCode& code : enabling.codes()) share_strings(code, *context.variables);
  context.keyless.resize(enabling.aggregations().size());
  context.start(limits, host, enabling.largest_key());
  make_tallies();
  return {};
}

// Of the ECBs that have none yet.
void Handle::Impl::make_tallies() {
  if (!accounts()) return;
  for (size_t i = context.tallies.size(); i < enabling.ecbs().size(); i++) context.tallies.emplace_back(*enabling.ecbs()[i].code);
}

}  // namespace dvm::runtime
