#include "runtime/instrument/agent/stack_finder.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>

#include "common/clock.h"
#include "common/file_bytes.h"
#include "runtime/agent/address_space.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kReadsEvery = 100'000'000;  // ns

bool can_read(pid_t pid, uint64_t address) {
  char byte = 0;
  const iovec local{&byte, 1}, remote{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == 1;
}

// The stack with the control block and the stack pointer; empty: it is none, or not known to be one.
inside::MemoryRange stack_of(pid_t pid, const std::vector<MemoryMapping>& mappings, uint64_t block, uint64_t pointer) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), [&](const MemoryMapping& one) {
    return one.range.begin <= pointer && pointer < block && block < one.range.end;
  });
  if (found == mappings.end() || found->is_constant || found->is_executable || block % sizeof(uint64_t) != 0) return {};
  if (can_read(pid, found->range.begin - 1) || !can_read(pid, found->range.begin)) return {};
  return {found->range.begin, block};
}

}  // namespace

bool StackFinder::wants_answer(uint32_t number) const {
  const inside::Lane& lane = lanes_[number];
  if (lane.owner == 0 || lane.asked_pointer == 0 || refused_[number] == Asked{lane.asked_thread, lane.asked_pointer})
    return false;
  const inside::MemoryRange& stack = lane.stack;
  return stack.end != lane.asked_thread || lane.asked_pointer < stack.begin || lane.asked_pointer >= stack.end;
}

// The end comes last: a thread believes in the range only with that.
bool StackFinder::publish(uint32_t number, const inside::MemoryRange& stack) const {
  const uint64_t at = sizeof(inside::DataHeader) + number * sizeof(inside::Lane) + offsetof(inside::Lane, stack);
  const auto write = [&](size_t field, uint64_t value) { return write_value(file_, at + field, value); };
  return write(offsetof(inside::MemoryRange, end), 0) && write(offsetof(inside::MemoryRange, begin), stack.begin) &&
         write(offsetof(inside::MemoryRange, end), stack.end);
}

void StackFinder::answer() {
  const uint64_t now = read_clock(CLOCK_MONOTONIC);
  if (now - looked_ < kReadsEvery || !read_at(file_, sizeof(inside::DataHeader), std::as_writable_bytes(std::span(lanes_))))
    return;
  looked_ = now;
  const pid_t pid = ids_.pid();
  std::vector<MemoryMapping> mappings;
  for (uint32_t number = 0; number < lanes_.size(); number++) {
    const inside::Lane& lane = lanes_[number];
    if (!wants_answer(number)) continue;
    if (mappings.empty())
      if (auto read = mappings_of(pid)) mappings = *std::move(read);
    const bool is_known = ids_.lives(lane.owner);
    const auto stack = is_known ? stack_of(pid, mappings, lane.asked_thread, lane.asked_pointer) : inside::MemoryRange();
    if (stack.end == 0 || !publish(number, stack)) refused_[number] = {lane.asked_thread, lane.asked_pointer};
  }
}

}  // namespace dvm::runtime
