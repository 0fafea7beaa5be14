// The program at sched_process_exec, and what comes of it. Tested by tests/runtime/scenarios/test_late.py.

#include "runtime/instrument/uprobe/exec_bell.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/instrument/uprobe/kernel_emitter.h"
#include "runtime/instrument/uprobe/pid_namespace.h"
#include "runtime/symbol/linker.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

constexpr int32_t kBytes = 16;  // the root, then the process

// Registers: r7 the process.
class BellProgram : KernelEmitter {
 public:
  BellProgram() : KernelEmitter(own_pid_namespace()) {}

  std::vector<bpf_insn> make(int32_t root, int followed, int bell) {
    if (followed >= 0) only_followed(followed, root);
    this_thread();
    mov(r7, r0);
    shift_right(r7, 32);
    std::vector<Label> others;
    if (followed < 0) others.push_back(jump_if(BPF_JNE, r7, root));
    ring(root, bell);
    for (const Label other : others) land(other);
    mov(r0, 0);
    exit();
    leave_unwanted();
    return code();
  }

 private:
  void ring(int32_t root, int bell) {
    store(fp, -kBytes - 8, root);
    store(fp, -kBytes, r7);
    load_map(r1, bell);
    mov(r2, fp);
    plus(r2, -kBytes - 8);
    mov(r3, kBytes);
    mov(r4, BPF_RB_FORCE_WAKEUP);
    call(BPF_FUNC_ringbuf_output);
  }
};

}  // namespace

Result<std::unique_ptr<ExecBell>> ExecBell::make(int32_t root, int followed, int bell) {
  auto made = std::make_unique<ExecBell>();
  auto program = load_program({BPF_PROG_TYPE_RAW_TRACEPOINT, "dvm_exec_bell"}, BellProgram().make(root, followed, bell));
  if (!program) return program.error();
  made->program_ = std::move(*program);
  made->link_ = FileDescriptor(bpf_raw_tracepoint_open("sched_process_exec", made->program_.get()));
  if (!made->link_) return kernel_error("cannot notice programs that processes execute", errno);
  return made;
}

Status UnreportedExecs::watch(const LinkerSite& linker, int followed, int bell) {
  const bool has_linker = !linker.path.empty();
  if (has_linker) know(linker.path);
  auto made = ExecBell::make(linker.pid, followed, bell);
  if (!made) return has_linker ? Status() : made.error();
  bells_.push_back(std::move(*made));
  return {};
}

void UnreportedExecs::know(const std::string& linker) {
  if (const auto key = FileKey::of(linker)) linkers_.push_back(*key);
}

void UnreportedExecs::note(std::span<const std::byte> record) {
  uint64_t words[kBytes / sizeof(uint64_t)] = {};
  if (record.size() != sizeof words) return;
  std::memcpy(words, record.data(), sizeof words);
  noted_.push_back({static_cast<int32_t>(words[0]), static_cast<int32_t>(words[1])});
}

UnreportedExecs::Kind UnreportedExecs::kind_of(pid_t pid) {
  const auto objects = mapped_objects(pid);
  if (!objects || objects->empty()) return Kind::has_ended;
  const auto linker = find_linker(pid, *objects, files_);
  if (!linker) return Kind::is_silent;
  const auto key = FileKey::of(linker->path);
  return key && std::find(linkers_.begin(), linkers_.end(), *key) != linkers_.end() ? Kind::reports : Kind::is_silent;
}

void UnreportedExecs::miss(pid_t pid) {
  if (missed_++ == 0) first_missed_ = pid;
}

// If one process has executed several programs, only the last one still runs. It did not wait in the others.
void UnreportedExecs::take(std::vector<LoadedIn>& loads, std::vector<std::string>& notes) {
  const std::vector<LoadedIn> noted = std::exchange(noted_, {});
  for (size_t i = 0; i < noted.size(); i++) {
    const LoadedIn& one = noted[i];
    const auto is_its = [&](const LoadedIn& load) { return load.pid == one.pid; };
    const bool is_left = std::any_of(noted.begin() + static_cast<ptrdiff_t>(i) + 1, noted.end(), is_its);
    if (!is_left && std::any_of(loads.begin(), loads.end(), is_its)) continue;
    const Kind kind = is_left ? Kind::has_ended : kind_of(one.pid);
    if (kind == Kind::is_silent) loads.push_back(one);
    if (kind == Kind::is_silent && !std::exchange(was_late_, true))
      notes.push_back(
          fmt::format("process {} has executed a program that its dynamic linker does not report, perhaps since it is "
                      "linked statically; probes of such programs are enabled some milliseconds after they begin, and "
                      "earlier firings are lost",
                      one.pid));
    if (kind == Kind::has_ended) miss(one.pid);
  }
}

void UnreportedExecs::take_notes(std::vector<std::string>& notes) {
  const uint64_t missed = std::exchange(missed_, 0);
  if (missed == 1)
    notes.push_back(
        fmt::format("process {} has executed a program and ended before its probes were enabled; the firings of the program are "
                    "lost",
                    first_missed_));
  else if (missed > 1)
    notes.push_back(
        fmt::format("{} programs, the first of them in process {}, have ended before their probes were enabled; their firings "
                    "are lost",
                    missed, first_missed_));
}

}  // namespace dvm::runtime
