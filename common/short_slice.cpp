// Tested by tests/unit/common/short_slice_test.cpp.

#include "common/short_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace dvm {
namespace {

// struct sched_attr of the kernel, which not every C library has.
struct ScheduleAttributes {
  uint32_t size = sizeof(ScheduleAttributes), policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0, deadline = 0, period = 0;  // runtime: the slice in ns
};
static_assert(sizeof(ScheduleAttributes) == 48);

constexpr uint64_t kShortest = 100'000;  // the kernel makes it no shorter
constexpr uint64_t kResetOnFork = 1;

}  // namespace

bool ask_for_short_slice() noexcept {
  ScheduleAttributes its;
  if (syscall(SYS_sched_getattr, 0, &its, sizeof its, 0) != 0) return false;
  if (its.policy != SCHED_OTHER && its.policy != SCHED_BATCH) return false;
  its.size = sizeof its;
  its.runtime = kShortest;
  if (its.nice >= 0) its.flags |= kResetOnFork;
  return syscall(SYS_sched_setattr, 0, &its, 0) == 0;
}

}  // namespace dvm
