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

void share_strings(const Value& value, vm::VariableState& variables) {
  for (const auto* difo : {&value.difo, &value.timed})
    if (*difo) variables.share_strings((*difo)->strings());
}

void share_strings(const Ecb& ecb, vm::VariableState& variables) {
  if (ecb.predicate) share_strings(*ecb.predicate, variables);
  for (const Action& action : ecb.actions)
    for (const Value& value : action.values) share_strings(value, variables);
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
                            return session.cpus.allocate(plan, cpus_here());
                          });
      !status)
    return status;
  if (plan.set_apart > plan.bytes) return Error{"END enablings exceed size of principal buffer"};
  if (enabling.largest_record() > plan.bytes) return Error{"Enabling exceeds size of buffer"};
  if (enabling.largest_key() > size_of(dif::Option::aggsize)) return Error{"Enabling exceeds size of buffer"};
  return fit(dif::Option::aggsize, "aggregation size", [this](size_t size) { return session.aggregations.allocate(size); });
}

// For ECBs that were made while the session runs, from this one on.
Status Handle::Impl::make_room(size_t first) {
  if (enabling.largest_record() > size_of(dif::Option::bufsize) || enabling.largest_key() > size_of(dif::Option::aggsize))
    return Error{"Enabling exceeds size of buffer"};
  for (size_t i = first; i < enabling.ecbs().size(); i++) share_strings(enabling.ecbs()[i], *variables);
  for (FireContext* each : {&*context, &*error_context}) each->key.resize(std::max(each->key.size(), enabling.largest_key()));
  return {};
}

Status Handle::Impl::allocate_speculations() {
  const auto count = static_cast<uint32_t>(size_of(dif::Option::nspec));
  host.speculate_in(session.speculations);
  return fit(dif::Option::specsize, "speculation size",
             [&](size_t size) { return session.speculations.allocate(count, size, cpus_here()); });
}

Status Handle::Impl::allocate_state() {
  vm::StateLimits limits;
  limits.strsize = size_of(dif::Option::strsize);
  limits.scratch = std::max(limits.scratch, 16 * limits.strsize);
  const auto make_variables = [&](size_t size) {
    limits.dynvarsize = size;
    try {
      variables.emplace(enabling.variables(), limits);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  };
  if (Status status = fit(dif::Option::dynvarsize, "dynamic variable size", make_variables); !status) return status;
  for (const Ecb& ecb : enabling.ecbs()) share_strings(ecb, *variables);
  machine.emplace(*variables, limits);
  error_machine.emplace(*variables, limits);
  context.emplace(session, *machine, host, enabling.largest_key());
  error_context.emplace(session, *error_machine, host, enabling.largest_key());
  context->error = &*error_context;
  return {};
}

}  // namespace dvm::runtime
