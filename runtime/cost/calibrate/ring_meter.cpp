// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/ring_meter.h"

#include <fmt/format.h>

#include "dvm/runtime/handle.h"
#include "runtime/cost/calibrate/looping_child.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {
namespace {

constexpr const char* kRow = "ring/shared";
using Children = std::vector<std::unique_ptr<LoopingChild>>;

class RingRun {
 public:
  static Result<std::unique_ptr<RingRun>> start(const dif::Program& program, const Children& children) {
    std::unique_ptr<RingRun> run(new RingRun);
    if (!run->nowhere_) return Error{"failed to open /dev/null"};
    HandleConfig config;
    config.out = config.err = run->nowhere_.get();
    if (Status set = set_options(config.options, {{"quiet", ""}, {"switchrate", "2ms"}, {"aggrate", "1h"}}); !set)
      return set.error();
    run->handle_ = std::make_unique<Handle>(config);
    run->handle_->add_instrument(make_uprobe_instrument());
    const Result<uint64_t> offset = offset_of(Stub::emulated);
    if (!offset) return offset.error();
    for (const auto& child : children)
      run->handle_->catalog().add({.provider = "calibrated",
                                   .function = fmt::format("f{}", child->pid()),
                                   .name = "firing",
                                   .site = UprobeSite{fmt::format("/proc/{}/exe", child->pid()), *offset, false, child->pid()}});
    if (Status enabled = run->handle_->enable(program); !enabled) return enabled.error();
    std::vector<Refused> refused;
    if (Status went = run->handle_->go(refused); !went) return went.error();
    if (!refused.empty()) return Error{refused.front().reason};
    return run;
  }

  // Ns of a call in the first child's CPU time, while so many of them call.
  Result<double> sample(const Children& children, size_t count, uint64_t calls) {
    for (size_t i = 0; i < count; i++)
      if (Status called = children[i]->call({Stub::emulated, calls}); !called) return called.error();
    while (!children.front()->is_done() && handle_->work()) {
    }
    Result<double> first = children.front()->finish();
    for (size_t i = 1; i < count; i++)
      if (Result<double> other = children[i]->finish(); !other) return other;
    handle_->work();  // what is left in the ring
    return first;
  }

 private:
  RingRun() = default;

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere_{std::fopen("/dev/null", "we"), std::fclose};
  std::unique_ptr<Handle> handle_;
};

}  // namespace

std::vector<std::string> ring_rows() { return {kRow}; }

Status measure_ring(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  const Result<dif::Program> program = compile("calibrated:::firing { @ = count(); }");
  if (!program) return program.error();
  Children children;
  for (int i = 0; i < 2; i++) {
    auto child = LoopingChild::start();
    if (!child) return child.error();
    children.push_back(std::move(*child));
  }
  auto run = RingRun::start(*program, children);
  if (!run) return run.error();
  std::vector<double> alone, both;
  for (unsigned i = 0; i < options.samples; i++)
    for (const auto& [count, samples] : {std::pair(size_t{1}, &alone), {size_t{2}, &both}}) {
      Result<double> sample = (*run)->sample(children, count, options.firings);
      if (!sample) return sample.error();
      samples->push_back(*sample);
    }
  profile.set(kRow, times(difference(quiet_middle(both), quiet_middle(alone)), profile.clock_hz / 1e9));
  return {};
}

}  // namespace dvm::runtime
