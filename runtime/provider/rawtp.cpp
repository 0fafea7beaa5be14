// The rawtp provider: the kernel's tracepoints as they are, rawtp:::NAME, with the words that they hand on as arg0, arg1, ...;
// sdt has the same. Only who names the provider gets them: to find them takes longer than to start dvm. Covered by
// tests/unit/instrument/kernel_provider_test.cpp and tests/runtime/rawtp.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/similar.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/uprobe/kernel_types.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

// A pointer can be followed; so it is given as an address.
Probe make_probe(std::string_view provider, const KernelTracepoint& tracepoint) {
  KernelEvent event{tracepoint.name};
  const size_t words = std::min(tracepoint.is_pointer.size(), kArguments);
  for (size_t n = 0; n < words; n++)
    event.args[n] = {Operand::handed(static_cast<uint8_t>(n)), tracepoint.is_pointer[n] ? "&" : ""};
  return Probe{.provider = std::string(provider),
               .module = "vmlinux",
               .name = tracepoint.name,
               .site = TracepointSite{{std::move(event)}}};
}

struct AbsentSdt {
  std::string_view name, tracepoint;
};

constexpr AbsentSdt kAbsentSdt[] = {
#define DVM_ABSENT_SDT(name, tracepoint) {name, tracepoint},
#include "runtime/provider/absent_sdt.def"
#undef DVM_ABSENT_SDT
};

std::string absent_reason(std::string_view name) {
  for (const AbsentSdt& row : kAbsentSdt)
    if (row.name == name)
      return fmt::format("Linux has no sdt:::{}; sdt:::{} shows the same, with other arguments", name, row.tracepoint);
  return {};
}

class RawTracepoints : public Provider {
 public:
  explicit RawTracepoints(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }

  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    if (description.provider.empty() || !glob_match(description.provider, name_)) return {};
    const bool is_spelled = description.provider == name_;
    Discovery result;
    if (std::string reason = absent_reason(description.name); name_ == "sdt" && is_spelled && !reason.empty())
      return {std::move(reason), "D_PDESC_ZERO", {}};
    if (!glob_match(description.function, "")) return {};
    if (!load()) {
      if (is_spelled) result = {problem_, "D_PDESC_ZERO", {}};
      return result;
    }
    const size_t before = catalog.size();
    for (const KernelTracepoint& tracepoint : tracepoints_)
      if (glob_match(description.name, tracepoint.name)) catalog.add(make_probe(name_, tracepoint));
    if (is_spelled && catalog.size() == before) result.similar = near(description.name);
    return result;
  }

 private:
  bool load() {
    if (!tracepoints_.empty() || !problem_.empty()) return problem_.empty();
    auto types = KernelTypes::load();
    if (types)
      tracepoints_ = (*types)->tracepoints();
    else
      problem_ = types.error().message;
    return problem_.empty();
  }

  std::vector<std::string> near(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const KernelTracepoint& tracepoint : tracepoints_) names.push_back(tracepoint.name);
    return similar_names(name, names);
  }

  std::string_view name_;
  std::vector<KernelTracepoint> tracepoints_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<Provider> make_rawtp_provider() { return std::make_unique<RawTracepoints>("rawtp"); }
std::unique_ptr<Provider> make_sdt_provider() { return std::make_unique<RawTracepoints>("sdt"); }

}  // namespace dvm::runtime
