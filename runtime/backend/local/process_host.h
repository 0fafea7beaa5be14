#pragma once
// Implements vm::Host for the process of the current firing.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "dvm/runtime/handle.h"
#include "runtime/buffer/speculations.h"
#include "runtime/process/captured_command_line.h"
#include "runtime/process/captured_numbers.h"
#include "runtime/process/captured_unreadable.h"
#include "runtime/process/cpu_topology.h"
#include "runtime/process/late_reads.h"
#include "runtime/process/open_files.h"
#include "runtime/process/proc_state.h"
#include "runtime/process/process_start.h"
#include "runtime/process/scheduling.h"
#include "runtime/process/target_memory.h"
#include "runtime/process/target_signals.h"

namespace dvm::runtime {

class ProcessHost final : public vm::Host {
 public:
  explicit ProcessHost(const HandleConfig& config)
      : is_replay_(config.is_replay), target_(config.target), kept_(config.late_reads) {
    if (is_replay_) memory_.use_recorded(config.recorded_processes);
  }

  // Stores the data of a process that clauses may need after it has ended. may_act: opens the process, so that it can be
  // signalled. Consumer context, before the process is traced.
  void learn(int32_t pid, bool may_act) {
    memory_.ids(pid);
    for (const auto which : {ProcessText::command_line, ProcessText::working_directory, ProcessText::root_directory})
      memory_.text(pid, which);
    if (may_act) signals_.learn(pid);
  }
  // Stores the parent of a process, which /proc does not show after one of them has ended.
  void add_child(int32_t child, int32_t parent) noexcept { parents_[place(child)] = {child, parent, true}; }
  void speculate_in(Speculations& speculations) { speculations_ = &speculations; }
  void serve(const vm::Firing& firing) noexcept {
    pid_ = firing.pid, tid_ = firing.tid, cpu_ = firing.cpu;
    uid_ = firing.uid, gid_ = firing.gid, ppid_ = firing.ppid;
    if (is_replay_) take_recorded_ids(firing.memory);
    if (Child& known = parents_[place(pid_)]; ppid_ >= 0 && !known.was_forked) known = {pid_, ppid_, false};
    memory_of_ = pid_ == own_pid_ && target_ != 0 ? target_ : pid_;
    is_late_ = !firing.reads_in_time;
    fired_at_ = firing.timestamp;
    waits_ = firing.reads_in_time;
    recorded_.begin(firing.late);
    files_.serve(firing, !is_replay_);
    captured_ = firing.memory;
  }
  // Memory at this address cannot be read, though it may be readable by now. 0: all can.
  void refuse(uint64_t address) noexcept { refused_ = address; }
  uint64_t late_reads() const { return late_reads_; }
  // The number of values that late reads got after the process had continued. In a replay, those of the recorded script count.
  uint64_t late_values() const { return late_values_; }
  uint64_t unknown_files() const { return files_.unknown(); }

  bool read(uint64_t address, std::span<std::byte> to) noexcept override {
    if (is_refused(address) || was_unreadable(address, to.size())) return false;
    late_reads_ += !is_replay_;
    if (!(is_replay_ ? recorded_.read(address, to) : memory_.read(memory_of_, address, to))) return false;
    late_values_ += is_late_;
    if (kept_) kept_->add(address, to, false);
    return true;
  }
  std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept override {
    if (is_refused(address) || was_unreadable(address, 1) || (is_late_ && ends_unreadable(captured_, address, to.size())))
      return -1;
    late_reads_ += !is_replay_;
    const std::ptrdiff_t size = is_replay_ ? recorded_.read_string(address, to) : memory_.read_string(memory_of_, address, to);
    if (size >= 0 && was_unreadable(address, std::min(static_cast<size_t>(size) + 1, to.size()))) return -1;
    late_values_ += is_late_ && size >= 0;
    if (kept_ && size >= 0)
      kept_->add(address, std::as_bytes(to.first(std::min(static_cast<size_t>(size) + 1, to.size()))), true);
    return size;
  }
  bool write(uint64_t address, std::span<const std::byte> from) noexcept override {
    is_late_ = false;  // later reads see what the script has written
    return memory_.write(memory_of_, address, from);
  }
  bool signal(int64_t number) noexcept override { return !is_replay_ && signals_.send(pid_, number); }
  bool descends_from(int64_t ancestor) noexcept override {
    constexpr int kMostGenerations = 1000;  // reused process ids could form a cycle
    int32_t pid = pid_;
    if (is_captured_ancestor(captured_, ancestor)) return true;
    for (int i = 0; i < kMostGenerations && pid >= 0; i++, pid = parent_of(pid))
      if (pid == ancestor) return true;
    return false;
  }
  int32_t ppid() noexcept override {
    if (ppid_ >= 0) return ppid_;
    const int32_t parent = ids_of(pid_).ppid;
    return parent >= 0 ? parent : known_parent(pid_);
  }
  int64_t uid() noexcept override { return uid_ >= 0 ? uid_ : ids_of(pid_).uid; }
  int64_t gid() noexcept override { return gid_ >= 0 ? gid_ : ids_of(pid_).gid; }
  int64_t process_number(uint64_t number) noexcept override {
    if (const auto captured = captured_number(captured_, number)) return *captured;
    const ProcessIds ids = ids_of(pid_);
    const int64_t numbers[] = {
#define DVM_PROCESS_ID(name, type, field, further) ids.name,
#include "runtime/process/process_ids.def"
    };
    if (number < std::size(numbers)) return numbers[number];
    if (is_replay_) return -1;
    constexpr uint64_t kClock = std::size(numbers) + 3;  // after the numbers of scheduling()
    constexpr uint64_t kBound = kClock + 1, kStart = kClock + 2;
    if (number >= kStart) return process_start(pid_, number - kStart);
    if (number == kBound) return bound_cpu(tid_);
    return number == kClock ? cpus_.clock_of(cpu_) : scheduling(tid_, number - std::size(numbers));
  }
  std::string_view command_line() noexcept override {
    command_.find(captured_);
    if (command_.is_whole()) return command_.text();
    const std::string_view now = memory_.text(pid_, ProcessText::command_line);
    return now.starts_with(command_.text()) ? now : command_.text();
  }
  std::string_view working_directory() noexcept override {
    const std::string_view captured = files_.working_directory();
    return captured.empty() ? memory_.text(pid_, ProcessText::working_directory) : captured;
  }
  std::string_view root_directory() noexcept override { return memory_.text(pid_, ProcessText::root_directory); }
  int64_t file_number(uint64_t number) noexcept override { return files_.number(number); }
  std::string_view file_text(uint64_t number) noexcept override { return files_.text(number); }
  int64_t proc_number(uint64_t index) noexcept override {
    const int64_t number = is_replay_ ? kNoNumber : runtime::proc_number(index, fired_at_);
    late_values_ += is_late_ && number != kNoNumber && is_of_process(index);
    return number;
  }
  std::string_view proc_text(uint64_t index) noexcept override {
    if (index == kParentNameIndex) return parent_name_.find(captured_);
    const std::string_view text = is_replay_ ? std::string_view() : proc_texts_.find(index, fired_at_);
    late_values_ += is_late_ && text.data() != nullptr && is_of_process(index);
    return text;
  }
  int32_t chip_of(int32_t cpu) noexcept override { return is_replay_ ? -1 : cpus_.chip_of(cpu); }
  int32_t node_of(int32_t cpu) noexcept override { return is_replay_ ? -1 : cpus_.node_of(cpu); }
  uint32_t speculation() noexcept override { return speculations_->open(); }

 private:
  // They are those at the firing if the process waits, and otherwise at most a tenth of a second old.
  ProcessIds ids_of(int32_t pid) noexcept {
    ProcessIds ids = memory_.ids(pid);
    if (waits_ && !is_replay_) read_process_ids(pid, ids);
    return ids;
  }
  // Those that have changed since the process first fired.
  void take_recorded_ids(std::span<const vm::CapturedMemory> memory) noexcept {
    uid_ = captured_number(memory, process_number::uid).value_or(-1);
    gid_ = captured_number(memory, process_number::gid).value_or(-1);
    ppid_ = static_cast<int32_t>(captured_number(memory, process_number::ppid).value_or(-1));
  }
  struct Child {
    int32_t pid = 0, parent = 0;
    bool was_forked = false;  // by a process that is followed; otherwise the parent was that of its latest firing
  };
  static constexpr size_t kChildren = 4096;  // places; a place holds the latest of the children that share it

  bool is_refused(uint64_t address) const noexcept { return refused_ != 0 && address == refused_; }
  // At the firing; if the process waits, or the script has written to it, what can be read now counts.
  bool was_unreadable(uint64_t address, uint64_t size) const noexcept {
    return is_late_ && has_unreadable(captured_, address, size);
  }
  static size_t place(int32_t pid) { return static_cast<uint32_t>(pid) % kChildren; }
  // -1: not known.
  int32_t known_parent(int32_t pid) const noexcept {
    const Child& known = parents_[place(pid)];
    return known.pid == pid && known.parent != 0 ? known.parent : -1;
  }
  // The process that fired may have ended, and so may its parent: what the firing says counts first.
  int32_t parent_of(int32_t pid) noexcept {
    if (parents_[place(pid)].was_forked && known_parent(pid) >= 0) return known_parent(pid);
    if (pid == pid_ && ppid_ >= 0) return ppid_;
    const int32_t parent = ids_of(pid).ppid;
    return parent >= 0 ? parent : known_parent(pid);
  }

  Speculations* speculations_ = nullptr;
  bool is_replay_;
  int32_t own_pid_ = getpid(), target_;
  int32_t pid_ = 0, tid_ = 0, cpu_ = 0;  // of the firing
  int64_t uid_ = -1, gid_ = -1;          // of the firing; -1: not captured
  int32_t ppid_ = -1;                    // likewise
  int32_t memory_of_ = 0;                // the process to read; $target for BEGIN, END and tick-N, which fire in dvm
  bool is_late_ = false;                 // the process has continued since the firing
  uint64_t fired_at_ = 0;                // of CLOCK_MONOTONIC; 0: not captured
  bool waits_ = false;                   // it has not, and its threads wait
  uint64_t late_reads_ = 0, late_values_ = 0;
  uint64_t refused_ = 0;
  TargetMemory memory_;
  LateReads* kept_;  // null: nothing is recorded
  RecordedReads recorded_;
  CpuTopology cpus_;
  OpenFiles files_;
  ProcTexts proc_texts_;
  CapturedParentName parent_name_;
  CapturedCommandLine command_;
  std::span<const vm::CapturedMemory> captured_;  // at the firing
  TargetSignals signals_;
  std::array<Child, kChildren> parents_{};
};

}  // namespace dvm::runtime
