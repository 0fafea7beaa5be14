// The syscall provider: entry and return of every system call, by its name. The module is empty, as in illumos' DTrace, or
// vmlinux, as in Linux', for those who ask for it. Covered by tests/unit/instrument/kernel_provider_test.cpp and
// tests/runtime/syscall.
//
//   entry    arg0 to arg5: the arguments
//   return   arg0 and arg1: what it returned, -1 if it failed; errno says why

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/similar.h"
#include "runtime/catalog/catalog.h"
#include "runtime/provider/kernel_rows.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

struct SystemCall {
  uint16_t number;
  std::string_view name;
};

constexpr SystemCall kSystemCalls[] = {
#define DVM_SYSCALL(number, name) {number, #name},
#include "runtime/provider/syscalls.def"
};

struct Alias {
  std::string_view name, calls;  // parted by blanks
  std::string_view arguments;    // where they lie, beside what the name promises
};

constexpr Alias kAliases[] = {
#define DVM_SYSCALL_ALIAS(name, calls, arguments) {name, calls, arguments},
#include "runtime/provider/syscall_aliases.def"
};

const SystemCall* find_call(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kSystemCalls), std::end(kSystemCalls), [&](const auto& c) { return c.name == name; });
  return found == std::end(kSystemCalls) ? nullptr : found;
}

// Calls whose arguments a probe has as they are, and those of which it leaves out the first one.
struct Meant {
  std::vector<uint16_t> whole, without_first;
};

// "open openat+1"
Meant numbers_of(std::string_view names) {
  constexpr std::string_view kWithoutFirst = "+1";
  Meant meant;
  while (!names.empty()) {
    std::string_view name = names.substr(0, names.find(' '));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const bool is_whole = !name.ends_with(kWithoutFirst);
    if (!is_whole) name.remove_suffix(kWithoutFirst.size());
    if (const SystemCall* call = find_call(name)) (is_whole ? meant.whole : meant.without_first).push_back(call->number);
  }
  return meant;
}

KernelEvent make_event(std::vector<uint16_t> calls, bool is_return, size_t left_out = 0) {
  KernelEvent event{is_return ? "sys_exit" : "sys_enter", std::move(calls)};
  if (is_return) {
    event.args[0] = event.args[1] = {Operand::of_kind(Operand::Kind::result)};
  } else {
    for (size_t n = left_out; n < kSyscallRegisters.size(); n++)
      event.args[n - left_out] = {Operand::of_register(kSyscallRegisters[n])};
  }
  return event;
}

class SyscallProvider : public Provider {
 public:
  SyscallProvider(std::string_view name, bool is_alias) : name_(name), is_alias_(is_alias) {}
  std::string_view name() const override { return name_; }

  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    const bool is_spelled = description.provider == name_;
    if (!(is_spelled || (!is_alias_ && glob_match(description.provider, name_)))) return {};
    const std::optional<std::string_view> module = kernel_module_meant(description.module);
    if (!module) return {};
    const std::vector<std::string_view> names = names_meant(description.name);
    const bool found =
        !names.empty() && (add_calls(description, names, *module, catalog) || add_alias(description, names, *module, catalog));
    return found || !is_spelled ? Discovery{} : nothing_found(description);
  }

 private:
  static std::vector<std::string_view> names_meant(std::string_view pattern) {
    std::vector<std::string_view> names;
    for (const char* name : {"entry", "return"})
      if (glob_match(pattern, name)) names.emplace_back(name);
    return names;
  }

  bool add_calls(const dif::ProbeDesc& description, const std::vector<std::string_view>& names, std::string_view module,
                 Catalog& catalog) const {
    bool found = false;
    for (const SystemCall& call : kSystemCalls) {
      if (!glob_match(description.function, call.name)) continue;
      for (const std::string_view name : names) catalog.add(make_probe(module, call.name, name, {{call.number}, {}}));
      found = true;
    }
    return found;
  }

  bool add_alias(const dif::ProbeDesc& description, const std::vector<std::string_view>& names, std::string_view module,
                 Catalog& catalog) const {
    const auto* alias =
        std::find_if(std::begin(kAliases), std::end(kAliases), [&](const Alias& a) { return a.name == description.function; });
    if (alias == std::end(kAliases)) return false;
    for (const std::string_view name : names) {
      Probe probe = make_probe(module, alias->name, name, numbers_of(alias->calls));
      probe.spell_function = true;
      probe.remark = fmt::format("{}; arguments: {}", alias->calls, alias->arguments);
      catalog.add(std::move(probe));
    }
    return true;
  }

  Probe make_probe(std::string_view module, std::string_view function, std::string_view name, Meant meant) const {
    Probe probe{.provider = std::string(name_),
                .module = std::string(module),
                .function = std::string(function),
                .name = std::string(name)};
    TracepointSite site;
    if (!meant.whole.empty()) site.events.push_back(make_event(std::move(meant.whole), name == "return"));
    if (!meant.without_first.empty()) site.events.push_back(make_event(std::move(meant.without_first), name == "return", 1));
    probe.site = std::move(site);
    probe.spell_provider = is_alias_;
    return probe;
  }

  Discovery nothing_found(const dif::ProbeDesc& description) const {
    Discovery result;
    result.tag = "D_PDESC_ZERO";
    if (!glob_match(description.name, "entry") && !glob_match(description.name, "return")) {
      result.reason = fmt::format("'{}' is not a probe of a system call: these are entry and return", description.name);
    } else if (!is_glob(description.function)) {
      result.reason = fmt::format("'{}' is not a system call of Linux on x86-64", description.function);
      std::vector<std::string_view> names;
      for (const SystemCall& call : kSystemCalls) names.push_back(call.name);
      result.similar = similar_names(description.function, names);
    }
    return result;
  }

  std::string_view name_;
  bool is_alias_;
};

}  // namespace

std::unique_ptr<Provider> make_syscall_provider() { return std::make_unique<SyscallProvider>("syscall", false); }
std::unique_ptr<Provider> make_lx_syscall_provider() { return std::make_unique<SyscallProvider>("lx-syscall", true); }

}  // namespace dvm::runtime
