// Stands in for the uprobe instrument in a build without BPF: it takes the same sites, and says why they cannot be enabled.
#include <cerrno>

#include "runtime/instrument/breakpoint/breakpoint.h"
#include "runtime/instrument/uprobe/bpf_support.h"
#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {
namespace {

class WithoutBpf final : public CountingInstrument {
 public:
  explicit WithoutBpf(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  std::string_view refusal(const Probe& probe) const override { return uprobe_refusal(probe); }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>&) override {
    if (probes.empty()) return {};
    return Error{"this dvm was built without BPF (DVM_BPF=OFF), so it cannot trace live processes; it can replay recordings"};
  }
  Result<uint64_t> poll(EventSink&) override { return uint64_t{0}; }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  uint64_t count_of(const Probe&) const override { return 0; }
  void disable() override {}

 private:
  std::string_view name_;
};

}  // namespace

Result<std::shared_ptr<const KernelTypes>> KernelTypes::load() {
  return Error{"this dvm was built without BPF (DVM_BPF=OFF), so it does not know the kernel's tracepoints"};
}

std::vector<std::string> KernelTypes::modules() { return {}; }
Result<std::shared_ptr<const KernelTypes>> KernelTypes::load_module(const std::string&, std::shared_ptr<const KernelTypes>) {
  return load();
}

int try_bpf_program() { return ENOSYS; }
int try_uprobe_multi() { return ENOSYS; }
int try_tracepoint(const char*) { return ENOSYS; }

bool may_use_bpf() { return true; }  // what the stand-in says of its lack is what there is to say

std::unique_ptr<Instrument> make_uprobe_instrument(UprobeOptions) { return std::make_unique<WithoutBpf>("uprobe"); }
std::unique_ptr<CountingInstrument> make_counting_instrument() { return std::make_unique<WithoutBpf>("uprobe"); }
std::unique_ptr<Instrument> make_breakpoint_instrument() { return std::make_unique<WithoutBpf>("breakpoint"); }

}  // namespace dvm::runtime
