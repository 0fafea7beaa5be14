// System calls under ptrace, which needs no privilege. Breakpoints: tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/instrument/breakpoint/breakpoint.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/piped_child.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kLongest = 20'000'000'000;  // ns

// Has room only if it is told so.
class NarrowSink final : public EventSink {
 public:
  bool has_room = true;
  unsigned asked = 0, fired = 0;

  bool fire(vm::Firing&) noexcept override { return fired++, true; }
  bool admits(uint64_t) noexcept override { return asked++, has_room; }
};

// For each order, executes getpgrp(2) once, after system calls that have no probe.
class CallingChild {
 public:
  CallingChild()
      : child_(*AnsweringChild<char, char>::start([](char) {
          for (int i = 0; i < kOthers; i++) syscall(SYS_getuid);
          return static_cast<char>(syscall(SYS_getpgrp) > 0);
        })) {}

  static constexpr int kOthers = 10;
  pid_t pid() const { return child_.pid(); }
  void call() { EXPECT_TRUE(child_.tell(1)); }
  bool has_called() const { return child_.is_done(); }

 private:
  AnsweringChild<char, char> child_;
};

class SystemCallStops : public testing::Test {
 protected:
  SystemCallStops() {
    KernelEvent begin{.tracepoint = "sys_enter"};
    begin.calls = {SYS_getpgrp};
    probe_.id = 4, probe_.provider = "syscall", probe_.site = TracepointSite{{begin}};
  }

  void enable() {
    EnabledProbe enabled;
    enabled.probe = &probe_;
    enabled.wanted.pids = {child_.pid()};
    std::vector<Refused> refused;
    const Status status = instrument_->enable(std::span(&enabled, 1), refused);
    ASSERT_TRUE(status) << status.error().message;
    ASSERT_TRUE(refused.empty());
  }

  // Polls until that holds, or for long.
  template <class Condition>
  bool poll_until(const Condition& holds) {
    const uint64_t end = read_clock(CLOCK_MONOTONIC) + kLongest;
    while (!holds() && read_clock(CLOCK_MONOTONIC) < end) {
      pollfd ready{.fd = instrument_->pacing().descriptor, .events = POLLIN, .revents = 0};
      poll(&ready, 1, 1);
      EXPECT_TRUE(instrument_->poll(sink_));
    }
    return holds();
  }

  Probe probe_;
  CallingChild child_;
  NarrowSink sink_;
  std::unique_ptr<Instrument> instrument_ = make_breakpoint_instrument();
};

TEST_F(SystemCallStops, AskForRoomOnlyForThoseWithAProbe) {
  enable();
  child_.call();
  EXPECT_TRUE(poll_until([&] { return child_.has_called(); }));
  EXPECT_EQ(sink_.fired, 1U);
  EXPECT_EQ(sink_.asked, 1U);
}

TEST_F(SystemCallStops, KeepTheThreadUntilThereIsRoom) {
  sink_.has_room = false;
  enable();
  child_.call();
  EXPECT_TRUE(poll_until([&] { return sink_.asked >= 20; }));
  EXPECT_EQ(sink_.fired, 0U);
  EXPECT_FALSE(child_.has_called());
  EXPECT_TRUE(status_field(child_.pid(), "State:").starts_with('t'));
  sink_.has_room = true;
  EXPECT_TRUE(poll_until([&] { return child_.has_called(); }));
  EXPECT_EQ(sink_.fired, 1U);
  EXPECT_EQ(instrument_->drops(), 0U);
}

TEST_F(SystemCallStops, LetTheThreadGoWhenTracingEndsWithoutRoom) {
  sink_.has_room = false;
  enable();
  child_.call();
  EXPECT_TRUE(poll_until([&] { return sink_.asked > 0; }));
  instrument_->disable();
  const uint64_t end = read_clock(CLOCK_MONOTONIC) + kLongest;
  while (!child_.has_called() && read_clock(CLOCK_MONOTONIC) < end) usleep(1000);
  EXPECT_TRUE(child_.has_called());
  EXPECT_EQ(status_field(child_.pid(), "TracerPid:"), "0");
  EXPECT_EQ(sink_.fired, 0U);
}

}  // namespace
}  // namespace dvm::runtime
