// Covered by tests/unit/instrument/memory_callers_test.cpp.

#include "runtime/instrument/agent/memory_callers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "runtime/instrument/agent/changed_code.h"

namespace dvm::runtime {
namespace {

struct NumberedEffect {
  uint32_t number;
  MemoryEffect effect;
};

constexpr NumberedEffect kEffects[] = {
#define DVM_MEMORY_CALL(name, number, effect) {number, MemoryEffect::effect},
#include "runtime/agent/inside/memory_calls.def"
};

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Code of the kernel that every process has. It makes no system call that takes memory.
bool is_of_kernel(const std::string& path) {
  return path == "[vdso]" || path == "[vsyscall]" || path == "[uprobes]" || path == "[uprobes-trampoline]";
}

// Why the code of a mapping may change, or cannot be read.
std::string why_unfit(const MemoryMapping& one) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (one.path.empty() || one.path[0] != '/' || one.path.starts_with("/memfd:"))
    return "it executes code that is not mapped from a file";
  const std::string_view name = base_name(one.path);
  if (one.path.ends_with(kDeleted)) return fmt::format("{} has been deleted", name.substr(0, name.size() - kDeleted.size()));
  if (one.is_shared) return fmt::format("the code of {} is mapped as shared", name);
  return one.is_constant ? "" : fmt::format("the code of {} can be changed", name);
}

// The C library and the dynamic linker of glibc. Those of their calls whose numbers are not known are harmless: in 2.36, two set
// users and groups in all threads, one starts a thread (clone3), and one of the linker waits for a lock (futex). Only syscall()
// makes any call.
struct GlibcPart {
  bool is_one = false;
  std::optional<FunctionExtent> any_call{};  // syscall()

  GlibcPart(const MappedObject& object, const ModuleCode& code) {
    const auto is_unknown = [](const SystemCallSite& one) { return !one.number; };
    if (std::ranges::none_of(code.system_calls(), is_unknown)) return;
    const bool is_library = object.name == "libc.so.6" && code.function_named("gnu_get_libc_version");
    is_one = is_library || (object.name == "ld-linux-x86-64.so.2" && code.function_named("_dl_mcount"));
    if (is_library) any_call = code.function_named("syscall");
  }
  bool makes_any(const SystemCallSite& call) const {
    return any_call && call.offset >= any_call->offset && call.offset - any_call->offset < any_call->size;
  }
};

class CallerFinder {
 public:
  CallerFinder(pid_t pid, ModuleCodes& files) : pid_(pid), files_(files) {}

  MemoryCallers take() { return std::move(found_); }
  void refuse(std::string reason) {
    if (found_.unproven.empty()) found_.unproven = std::move(reason);
  }
  void add(const MemoryMapping& mapping, const MappedObject* object) {
    if (std::string reason = why_unfit(mapping); !reason.empty()) return refuse(std::move(reason));
    const auto code = object == nullptr ? nullptr : files_.open(object->open_path);
    if (code == nullptr) return refuse(fmt::format("{} cannot be read", base_name(mapping.path)));
    if (!code->has_code_in_pages(mapping.offset, mapping.range.end - mapping.range.begin))
      return refuse(fmt::format("{} is mapped as code where it has none", object->name));
    const auto is_changed = has_new_system_calls(pid_, mapping, *code);
    if (!is_changed) return refuse(fmt::format("the code of {} cannot be checked: {}", object->name, is_changed.error().message));
    if (*is_changed) return refuse(fmt::format("the code of {} has new system call instructions", object->name));
    if (std::ranges::find(seen_, code) != seen_.end()) return;
    seen_.push_back(code);
    if (!code->system_calls().empty()) add_calls(*object, *code);
  }

 private:
  void add_calls(const MappedObject& object, const ModuleCode& code) {
    const GlibcPart glibc(object, code);
    for (const SystemCallSite& call : code.system_calls()) {
      if (call.is_of_32_bits) {
        refuse(fmt::format("{} makes 32-bit system calls", object.name));
      } else if (call.number) {
        add_known(object, call);
      } else if (glibc.makes_any(call)) {
        found_.all.push_back({object.open_path, glibc.any_call->offset, call.behind});
      } else if (!glibc.is_one) {
        refuse(fmt::format("{} makes system calls whose numbers are not known", object.name));
      }
    }
  }

  void add_known(const MappedObject& object, const SystemCallSite& call) {
    constexpr uint64_t kMoveBytes = 5;
    switch (memory_effect(*call.number)) {
      case MemoryEffect::none:
        return;
      case MemoryEffect::takes_any:
        return refuse(fmt::format("{} may let others unmap memory (system call {})", object.name, *call.number));
      case MemoryEffect::takes:
      case MemoryEffect::starts:
        if (!call.is_beside)
          return refuse(fmt::format("{} makes system call {} by instructions that cannot be watched", object.name, *call.number));
        found_.all.push_back({object.open_path, call.offset - kMoveBytes, call.behind, call.number});
    }
  }

  pid_t pid_;
  ModuleCodes& files_;
  std::vector<std::shared_ptr<const ModuleCode>> seen_;
  MemoryCallers found_;
};

}  // namespace

MemoryEffect memory_effect(uint32_t number) {
  for (const NumberedEffect& one : kEffects)
    if (one.number == inside::plain_number(number)) return one.effect;
  return MemoryEffect::none;
}

MemoryCallers find_memory_callers(pid_t pid, const std::vector<MemoryMapping>& mappings, ModuleCodes& files,
                                  std::span<const AddressRange> own) {
  const auto objects = mapped_objects(pid);
  if (!objects) return {{}, objects.error().message};
  CallerFinder finder(pid, files);
  for (const MemoryMapping& one : mappings) {
    const auto is_there = [&](const AddressRange& range) { return one.range.begin >= range.begin && one.range.end <= range.end; };
    if (!one.is_executable || is_of_kernel(one.path) || std::ranges::any_of(own, is_there)) continue;
    const auto object = std::ranges::find(*objects, one.path, &MappedObject::path);
    const bool is_only = std::ranges::count(*objects, one.path, &MappedObject::path) == 1;  // a mount may hide another file
    finder.add(one, is_only ? &*object : nullptr);
  }
  for (const MemoryMapping& one : mappings) {
    const auto is_same = [&](const MemoryMapping& other) {  // as in a second namespace of the linker (dlmopen)
      return other.is_executable && !other.path.empty() && other.path == one.path && other.offset == one.offset;
    };
    if (one.is_executable && std::ranges::count_if(mappings, is_same) > 1)
      finder.refuse(fmt::format("{} is mapped twice", base_name(one.path)));
  }
  return finder.take();
}

}  // namespace dvm::runtime
