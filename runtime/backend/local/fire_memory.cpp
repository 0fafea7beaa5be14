// Sizes by options, and what becomes of them where memory is short. Tested by tests/unit/runtime/handle_test.cpp.

#include "runtime/backend/local/fire_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "runtime/process/cpu_topology.h"

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

Status check_sizes(const Enabling& enabling, size_t for_end, size_t bufsize, size_t aggsize) {
  if (for_end > bufsize) return Error{"END enablings exceed size of principal buffer"};
  const bool fit = enabling.largest_record() <= bufsize && enabling.largest_entry() <= aggsize;
  return fit ? Status() : Error{"Enabling exceeds size of buffer"};
}

void FireMemory::take_up(const EcbCode& code) { share_strings(code, *context_.variables); }

size_t FireMemory::size_of(dif::Option option) const { return static_cast<size_t>(std::max<int64_t>(options_[option], 0)); }

// Makes what an option gives the size of. Where there is no memory and option bufresize does not forbid it, half of the size must
// do, or half of that.
Status FireMemory::fit(dif::Option option, std::string_view what, const Notice& notice, const std::function<bool(size_t)>& make) {
  const size_t wanted = size_of(option);
  const bool is_manual = options_[dif::Option::bufresize] == 1;
  size_t size = wanted;
  while (!make(size)) {
    if (is_manual || size < 16)
      return Error{fmt::format("Cannot allocate memory: {} is {}", dif::info(option).name, size_text(wanted))};
    size /= 2;
  }
  if (size == wanted) return {};
  if (options_[dif::Option::quietresize] == 0) notice(fmt::format("{} lowered to {}", what, size_text(size)));
  return options_.set(dif::info(option).name, fmt::format("{}", size));
}

Status FireMemory::allocate(vm::Host& host, const Notice& notice) {
  if (Status status = allocate_buffers(notice); !status) return status;
  if (Status status = allocate_speculations(notice); !status) return status;
  for (const int cpu : online_cpus()) context_.meet(cpu);  // numbers may have gaps
  return allocate_state(host, notice);
}

Status FireMemory::allocate_buffers(const Notice& notice) {
  BufferPlan plan;
  plan.policy = static_cast<BufferPolicy>(options_[dif::Option::bufpolicy]);
  plan.set_apart = plan.policy == BufferPolicy::fill ? enabling_.record_bytes("END") : 0;
  if (Status status = fit(dif::Option::bufsize, "buffer size", notice,
                          [&](size_t size) {
                            plan.bytes = size;
                            return context_.cpus.allocate(plan, cpus_here());
                          });
      !status)
    return status;
  if (Status fits = check_sizes(enabling_, plan.set_apart, plan.bytes, size_of(dif::Option::aggsize)); !fits) return fits;
  if (options_[dif::Option::aggpercpu] > 0) context_.aggregations.part_by_cpu();
  return fit(dif::Option::aggsize, "aggregation size", notice,
             [this](size_t size) { return context_.aggregations.allocate(size); });
}

Status FireMemory::make_room() {
  if (Status fits = check_sizes(enabling_, 0, size_of(dif::Option::bufsize), size_of(dif::Option::aggsize)); !fits) return fits;
  for (FireLevel* each : {&*context_.level, &*context_.error_level}) each->make_key_room(enabling_.largest_key());
  make_tallies();
  return {};
}

Status FireMemory::allocate_speculations(const Notice& notice) {
  const auto count = static_cast<uint32_t>(size_of(dif::Option::nspec));
  return fit(dif::Option::specsize, "speculation size", notice,
             [&](size_t size) { return context_.speculations.allocate(count, size, cpus_here()); });
}

Status FireMemory::allocate_state(vm::Host& host, const Notice& notice) {
  vm::StateLimits limits;
  limits.strsize = size_of(dif::Option::strsize);
  limits.scratch = std::max(limits.scratch, 16 * limits.strsize);
  if (options_[dif::Option::scratchsize] >= 0) {
    limits.requested = dif::scratch_size(options_);
    limits.scratch += limits.requested;
  }
  const auto make_variables = [&](size_t size) {
    limits.dynvarsize = size;
    try {
      context_.variables.emplace(enabling_.variables(), limits);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  };
  if (Status status = fit(dif::Option::dynvarsize, "dynamic variable size", notice, make_variables); !status) return status;
  for (const EcbCode& code : enabling_.codes()) share_strings(code, *context_.variables);
  context_.keyless.resize(enabling_.aggregations().size());
  context_.start(limits, host, enabling_.largest_key());
  make_tallies();
  return {};
}

// Of the ECBs that have none yet.
void FireMemory::make_tallies() {
  context_.runs.resize(enabling_.ecbs().size());
  if (!is_accounted_) return;
  for (size_t i = context_.tallies.size(); i < enabling_.ecbs().size(); i++)
    context_.tallies.emplace_back(*enabling_.ecbs()[i].code);
}

}  // namespace dvm::runtime
