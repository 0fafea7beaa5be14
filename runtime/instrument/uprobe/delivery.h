#pragma once
// Turns records into firings. Each record names its group, whose layout describes it. Probe context, with one exception:
// the unwinder allocates when it meets a process, and when it reads that process's map or a file (runtime/symbol/unwinder.h).

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/cpu_clock.h"
#include "runtime/instrument/uprobe/record.h"
#include "runtime/instrument/uprobe/site_plan.h"
#include "runtime/instrument/uprobe/tracer_frames.h"

namespace dvm::runtime {

// Probes with one program in one process.
struct RecordGroup {
  RecordLayout layout;
  int32_t pid = 0;
  std::vector<int32_t> unwound;  // processes whose stacks are worth the time; none: all
  vm::Firing firing;             // of the latest record: the next one of the group sets the same fields anew

  bool is_of(int32_t process, const std::vector<int32_t>& unwound_ones) const {
    return pid == process && unwound == unwound_ones;
  }
  bool unwinds(int32_t process) const {
    return unwound.empty() || std::find(unwound.begin(), unwound.end(), process) != unwound.end();
  }
};

class Delivery final : vm::StackWalk {
 public:
  // holds_threads: each thread that fires waits until the firing has been delivered.
  explicit Delivery(bool holds_threads = false) : holds_threads_(holds_threads) {}

  // The number of the new group, as cookies have it. Consumer context.
  size_t add(const RecordLayout& layout, int32_t pid, std::vector<int32_t> unwound = {}) {
    room_.fit(layout);
    groups_.push_back({layout, pid, std::move(unwound), {}});
    groups_.back().firing.pid = pid;
    groups_.back().firing.reads_in_time = holds_threads_;
    return groups_.size() - 1;
  }
  // Adds a group for each layout, with consecutive numbers. Returns the first number.
  size_t add(const RecordLayouts& layouts, int32_t pid, const std::vector<int32_t>& unwound = {}) {
    const size_t group = add(layouts.first, pid, unwound);
    if (layouts.larger) add(*layouts.larger, pid, unwound);
    return group;
  }
  // The number of a group as add() makes it, which sites of a process share if their records are alike. Consumer context.
  Result<uint16_t> share(const RecordLayouts& layouts, int32_t pid, const FiredAt& place);
  // Decides how stacks are found that begin in a process's own code. Consumer context.
  void choose_stack(CaptureNeeds& needs, int32_t pid, SiteKind kind) {
    if (needs.frames <= known_frames(kind)) needs.stack_bytes = 0;
    if (needs.stack_bytes == kWhereNeeded) needs.stack_bytes = unwinder_.keeps_frame_pointers(pid) ? 0 : kUsualStackBytes;
    if (needs.frames != 0) unwinder_.learn(pid);
  }
  // An error if there is no room for the groups of one more program.
  Status check_room() const;
  size_t groups() const { return groups_.size(); }
  const RecordGroup& group(size_t number) const { return groups_[number]; }

  // The number that a cookie holds for a probe at this place: the id of the probe, or the number of the place if its firings
  // need correction. Consumer context.
  uint32_t number(const FiredAt& place) {
    if (place.is_plain()) return place.probe_id;
    places_.push_back(place);
    return kIsPlace | static_cast<uint32_t>(places_.size() - 1);
  }

  // Difference between CLOCK_REALTIME and CLOCK_MONOTONIC, which records hold.
  void set_wall_offset(uint64_t offset) { wall_offset_ = offset; }
  // Correction to the CPU times that records hold.
  void set_cpu_offset(int64_t offset) { cpu_offset_ = offset; }

  // When it fired; 0: the record does not say.
  uint64_t time_of(std::span<const std::byte> record) const noexcept {
    uint64_t head, time;
    if (record.size() < sizeof head) return 0;
    std::memcpy(&head, record.data(), sizeof head);
    if (group_of(head) >= groups_.size()) return 0;
    const uint32_t at = groups_[group_of(head)].layout.time;
    if (at == 0 || record.size() < at + sizeof time) return 0;
    std::memcpy(&time, record.data() + at, sizeof time);
    return time;
  }

  // False: the sink asks for the poll to end.
  bool deliver(std::span<const std::byte> record, EventSink& sink) noexcept {
    uint64_t head;
    if (record.size() < sizeof head) return true;
    std::memcpy(&head, record.data(), sizeof head);
    if (group_of(head) == kChangesGroup) return change(record, sink);
    if (group_of(head) >= groups_.size()) return true;
    RecordGroup& group = groups_[group_of(head)];
    if (record.size() < group.layout.least) return true;
    vm::Firing& firing = group.firing;
    decode(group.layout, record, room_, firing);
    if (group.layout.stack_bytes)
      firing.walk = this, waiting_ = {&group, record}, walked_.reset();
    else if (group.layout.stack)
      firing.stack =
          firing.stack.first(unwinder_.count_executable(firing.pid, firing.stack, known_frames(group.layout.shape.kind)));
    if (group.layout.kernel_stack && is_in_kernel(group.layout.shape.kind))
      firing.kernel_stack = tracer_frames_.without(firing.kernel_stack);
    if ((firing.probe_id & kIsPlace) != 0 && !put_right(firing)) return true;
    if (group.layout.vtime)
      firing.vtimestamp = thread_times_.advance(firing.tid, firing.vtimestamp + static_cast<uint64_t>(cpu_offset_));
    if (group.layout.time) firing.walltimestamp = firing.timestamp + wall_offset_;
    return sink.fire(firing);
  }

  Unwinder& unwinder() { return unwinder_; }
  // Adds a line on stacks that have ended with their captured part since the last call, if there are any.
  // more: a size above the default. Consumer context.
  void note_cut_stacks(std::vector<std::string>& notes, std::string_view more = "16k");
  TracerFrames& tracer_frames() { return tracer_frames_; }

 private:
  static constexpr uint32_t kIsPlace = 1u << 31;

  // The unwinder needs the map of a process while its firings are delivered.
  bool change(std::span<const std::byte> record, EventSink& sink) noexcept {
    std::array<uint64_t, 3> words{};
    if (record.size() < sizeof words) return true;
    std::memcpy(words.data(), record.data(), sizeof words);
    const ProcessChange change{static_cast<ProcessChange::What>(probe_of(words[0])), static_cast<int32_t>(words[1]),
                               static_cast<int32_t>(words[2])};
    if (change.what == ProcessChange::What::execed)
      unwinder_.forget(change.pid);
    else if (change.what == ProcessChange::What::forked && change.child != 0)
      unwinder_.inherit(change.child, change.pid);
    return sink.change(change);
  }

  // The first program counter is that of the instruction which the probe means.
  bool put_right(vm::Firing& firing) noexcept {
    const uint32_t number = firing.probe_id & ~kIsPlace;
    if (number >= places_.size()) return false;
    const FiredAt& place = places_[number];
    firing.probe_id = place.probe_id;
    if (place.exit) firing.args[0] = *place.exit;
    if (!firing.stack.empty()) room_.stack[0] -= place.moved;
    waiting_.moved = place.moved;
    return true;
  }

  // A walk costs several microseconds, and a predicate may be false.
  std::span<const uint64_t> frames() noexcept override {
    if (!walked_) walked_ = waiting_.group->unwinds(waiting_.group->firing.pid) ? unwind() : std::span<const uint64_t>();
    return *walked_;
  }

  std::span<const uint64_t> unwind() noexcept {
    const RecordLayout& layout = waiting_.group->layout;
    const StackCopy copy = stack_copy(layout, waiting_.record);
    const std::span<uint64_t> room = std::span(room_.stack).first(layout.frames);
    const size_t first = copy.function != 0;
    if (first) room[0] = copy.function;
    const size_t count = first + unwinder_.walk(waiting_.group->firing.pid, copy.stack, room.subspan(first));
    if (count != 0) room[0] -= waiting_.moved;
    return room.first(count);
  }

  // The firing that is being delivered, where its stack has been copied.
  struct Waiting {
    const RecordGroup* group = nullptr;
    std::span<const std::byte> record;
    uint64_t moved = 0;  // from the instruction that the probe means to that which fired
  };

  // The key of sites that may share a group. It has the process, bytes of a record and of a larger one, its arguments, how far
  // the stack has moved, and whether their firings tell an exit. The exit stays in RecordGroup::firing.
  using SharedKey = std::tuple<int32_t, uint32_t, uint32_t, uint32_t, int32_t, bool>;

  bool holds_threads_;
  std::vector<RecordGroup> groups_;
  std::map<SharedKey, std::vector<uint16_t>> shared_;
  std::vector<FiredAt> places_;
  FiringRoom room_;
  Unwinder unwinder_;
  TracerFrames tracer_frames_;
  ThreadTimes thread_times_;
  Waiting waiting_;
  std::optional<std::span<const uint64_t>> walked_;
  uint64_t wall_offset_ = 0;
  int64_t cpu_offset_ = 0;
};

}  // namespace dvm::runtime
