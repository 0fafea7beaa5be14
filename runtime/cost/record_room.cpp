// Covered by tests/runtime/scenarios/test_simulate.py.

#include "runtime/cost/record_room.h"

#include <algorithm>
#include <deque>

#include "runtime/buffer/principal_buffer.h"
#include "runtime/cost/speculated.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {
namespace {

// A probe for each description, whatever it matches.
class MadeUpProbes {
 public:
  const Probe* of(const dif::ProbeDesc& description) {
    Probe probe{.id = static_cast<uint32_t>(probes_.size() + 1)};
    probe.provider = description.provider, probe.module = description.module;
    probe.function = description.function, probe.name = description.name;
    return &probes_.emplace_back(std::move(probe));
  }

 private:
  std::deque<Probe> probes_;  // addresses stay
};

double rate_of(const Probe& probe, const PredictOptions& options) {
  const auto rate = options.rates.find(text_of(dif::ProbeDesc{probe.provider, probe.module, probe.function, probe.name}));
  return rate == options.rates.end() ? 0 : rate->second;
}

// As a session refuses it (runtime/backend/local/fire_memory.cpp).
Status check_sizes(const Enabling& enabling, const dif::Options& run) {
  const auto size = [&](dif::Option option) { return static_cast<size_t>(std::max<int64_t>(run[option], 0)); };
  const bool is_fill = run[dif::Option::bufpolicy] == static_cast<int64_t>(BufferPolicy::fill);
  if (is_fill && enabling.record_bytes("END") > size(dif::Option::bufsize))
    return Error{"END enablings exceed size of principal buffer"};
  if (enabling.largest_record() > size(dif::Option::bufsize) || enabling.largest_key() > size(dif::Option::aggsize))
    return Error{"Enabling exceeds size of buffer"};
  return {};
}

}  // namespace

Result<RecordRoom> record_room(std::span<const dif::Program* const> programs, const PredictOptions& options,
                               const dif::Options& run) {
  MadeUpProbes probes;
  Enabling enabling;
  const auto one = [&](const dif::ProbeDesc& description) { return std::vector{probes.of(description)}; };
  for (const dif::Program* program : programs)
    if (Status added = enabling.add(*program, one, run, vm::CostPolicy::none); !added) return added.error();
  if (Status fits = check_sizes(enabling, run); !fits) return fits.error();
  const double committed = committed_share(programs, options);
  RecordRoom room;
  for (const Ecb& ecb : enabling.ecbs()) {
    const double kept = ecb.plan->speculates ? committed_share(ecb.plan->desc, committed) : 1;
    room.firing += rate_of(*ecb.probe, options) * probability_of(ecb.plan->desc, options) * kept * ecb.plan->record_size;
  }
  room.end = static_cast<double>(enabling.record_bytes("END"));
  return room;
}

}  // namespace dvm::runtime
